//! Rules about all text files: no package registries and no home folders of real people.
//!
//! Tests and samples are ignored; they may contain such paths.

use crate::rule::{Rule, Violation};
use crate::tree::Tree;

/// The only registry that `Cargo.lock` may name.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Hosts of package registries, and products that mirror them.
const REGISTRIES: [&str; 12] = [
    "index.crates.io",
    "static.crates.io",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "npm.pkg.github.com",
    "pypi.org",
    "files.pythonhosted.org",
    "rubygems.org",
    "proxy.golang.org",
    "repo1.maven.org",
    "jfrog.io",
    "artifactory",
];

/// User names that may be used in examples.
const SAMPLE_PEOPLE: [&str; 5] = ["ana", "me", "user", "username", "you"];

pub(crate) const NO_REGISTRY: Rule = Rule {
    says: "no text names the host of a package registry, and all crates come from crates.io",
    fix: "configure mirrors in `~/.cargo/config.toml`, outside of the repository",
    find: registries,
};

pub(crate) const NO_HOME: Rule = Rule {
    says: "no text names somebody's home folder",
    fix: "write `~`, or a path from the root of the repository",
    find: |tree| {
        lines(tree, |_, line| homes(line).next().map(|home| format!("the home folder `{home}`")))
    },
};

fn registries(tree: &Tree) -> Vec<Violation> {
    lines(tree, |path, line| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let names = |host: &&str| {
            line.match_indices(*host).any(|(at, _)| {
                !line[..at].ends_with(is_word) && !line[at + host.len()..].starts_with(is_word)
            })
        };
        if let Some(host) = REGISTRIES.into_iter().find(|host| names(host)) {
            return Some(format!("the registry `{host}`"));
        }
        let table = line.trim_start();
        let redirects =
            ["[source", "[registries", "[registry"].iter().any(|s| table.starts_with(s));
        if path == ".cargo/config.toml" && redirects {
            return Some("a registry other than crates.io".to_owned());
        }
        let source = line.strip_prefix("source = ").filter(|_| path.ends_with("Cargo.lock"))?;
        (source.trim_matches('"') != CRATES_IO).then(|| format!("the source {source}"))
    })
}

/// Searches every line that is not test code.
fn lines(tree: &Tree, find: fn(&str, &str) -> Option<String>) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in &tree.files {
        for (index, line) in file.product_text().lines().enumerate() {
            if let Some(what) = find(&file.path, line) {
                found.push(Violation { path: file.path.clone(), line: index + 1, what });
            }
        }
    }
    found
}

/// Returns the home folders in a line that are not examples.
fn homes(line: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    ["/root/", "/home/", "/Users/", "\\Users\\"].into_iter().flat_map(move |parent| {
        line.match_indices(parent).filter_map(move |(at, _)| {
            let rest = &line[at + parent.len()..];
            let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
            let home = &line[at..at + parent.len() + name.len()];
            // `a/root/b` and `{folder}/home/b` are not at the root of a disk.
            let is_absolute = parent.starts_with('\\')
                || !line[..at].ends_with(|c| is_name(c) || "~}>)$".contains(c));
            let is_root = parent == "/root/";
            let is_person = !name.is_empty() && !SAMPLE_PEOPLE.contains(&name);
            (is_absolute && (is_root || is_person)).then_some(home)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_is_found() {
        NO_REGISTRY.check(
            &[
                ("docs/a.md", "crates.io is fine\nget it from https://registry.npmjs.org/x\n"),
                ("crates/a/src/b.rs", "//! x\nlet host = \"static.crates.io\";\n"),
                ("crates/a/tests/c.json", "registry.npmjs.org"),
                ("docs/d.md", "mypypi.org and pypi.organic are other words"),
            ],
            &[
                "docs/a.md:2: the registry `registry.npmjs.org`",
                "crates/a/src/b.rs:2: the registry `static.crates.io`",
            ],
        );
    }

    #[test]
    fn a_mirror_is_found() {
        NO_REGISTRY.check(
            &[
                (".cargo/config.toml", "[alias]\n[source.crates-io]\nreplace-with = \"mirror\"\n"),
                (
                    "Cargo.lock",
                    "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n\
                     source = \"sparse+https://mirror.example/\"\n",
                ),
            ],
            &[
                ".cargo/config.toml:2: a registry other than crates.io",
                "Cargo.lock:2: the source \"sparse+https://mirror.example/\"",
            ],
        );
    }

    #[test]
    fn a_home_folder_is_found() {
        NO_HOME.check(
            &[
                ("docs/a.md", "in /root/wharf\nin `/home/peter/x`\nfile:///Users/mary\n"),
                ("docs/b.md", "C:\\Users\\mary\\AppData"),
            ],
            &[
                "docs/a.md:1: the home folder `/root/wharf`",
                "docs/a.md:2: the home folder `/home/peter`",
                "docs/a.md:3: the home folder `/Users/mary`",
                "docs/b.md:1: the home folder `\\Users\\mary`",
            ],
        );
    }

    #[test]
    fn made_up_homes_tests_and_other_paths_are_fine() {
        NO_HOME.check(
            &[
                (
                    "docs/a.md",
                    "/home/ana/x, /home/<name>, /home/$USER, ~/root/x, repo/root/x, /home/",
                ),
                ("docs/b.md", "the {folder}/root/x, C:\\Users\\ana\\x, %HOME%, /Users/you"),
                ("crates/a/src/c.rs", "#[cfg(test)]\nmod tests {\n    // /home/peter/x\n}\n"),
                ("crates/a/src/tests.rs", "/home/peter/x"),
                ("crates/a/tests/golden/d.json", "/home/peter/x"),
            ],
            &[],
        );
    }
}
