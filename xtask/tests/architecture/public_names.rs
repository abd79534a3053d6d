//! Rules about the names of public types in the libraries: each name stands for one type, and says
//! which thing of its kind the type is.

use std::collections::BTreeMap;

use crate::code::{find_words, line_of};
use crate::rule::{Rule, Violation};
use crate::tree::{SourceFile, Tree};

/// The crates whose types a program that embeds Wharf sees side by side.
const LIBRARIES: [&str; 3] = ["crates/config/src/", "crates/protocol/src/", "crates/runtime/src/"];

/// Names that do not say which entry, state or answer they are.
const BARE_NAMES: [&str; 10] =
    ["Entry", "State", "Place", "Answer", "Found", "Origin", "Phase", "Listing", "Launch", "Ended"];

/// Pairs of files that are never compiled together.
const ALTERNATIVES: [[&str; 2]; 2] =
    [["/process/unix/", "/process/windows"], ["/server_url/parse.rs", "/server_url/opaque.rs"]];

pub(crate) const ONE_TYPE_EACH: Rule = Rule {
    says: "no two public types of the libraries have the same name",
    fix: "name each type after what it is at its stage, such as `ServerSpec` and `ResolvedServer`",
    find: |tree| {
        let mut types: BTreeMap<String, Vec<Violation>> = BTreeMap::new();
        for found in tree.sources().flat_map(public_types) {
            types.entry(found.what.clone()).or_default().push(found);
        }
        let mut twice = Vec::new();
        for same_name in types.values() {
            for (index, found) in same_name.iter().enumerate().skip(1) {
                let before = &same_name[index - 1];
                if !are_alternatives(&before.path, &found.path) {
                    let what = format!("`{}` is also in {}", found.what, before.path);
                    twice.push(Violation { what, ..found.clone() });
                }
            }
        }
        twice
    },
};

pub(crate) const TELLING: Rule = Rule {
    says: "the name of a public type says which thing of its kind it is",
    fix: "put the thing before it: `CacheEntry`, `CallPhase`, `ElicitationAnswer`",
    find: |tree: &Tree| {
        let all = tree.sources().flat_map(public_types);
        all.filter(|found| BARE_NAMES.contains(&found.what.as_str()))
            .map(|found| Violation { what: format!("`{}` is bare", found.what), ..found })
            .collect()
    },
};

/// Returns the public types of a library's file, each with its name.
fn public_types(file: &SourceFile) -> Vec<Violation> {
    if !LIBRARIES.iter().any(|folder| file.path.starts_with(folder)) {
        return Vec::new();
    }
    let code = file.product_code();
    // `pub(crate)` is not public.
    let starts = find_words(&code, "pub ");
    let named = starts.into_iter().filter_map(|start| {
        let mut words = code[start..].split_whitespace().skip(1);
        let is_type = ["struct", "enum", "trait", "type", "union"].contains(&words.next()?);
        let name = words.next().filter(|_| is_type)?;
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
        let (path, line) = (file.path.clone(), line_of(&code, start));
        // A macro names its types `$name`.
        (end > 0).then(|| Violation { path, line, what: name[..end].to_owned() })
    });
    named.collect()
}

fn are_alternatives(one: &str, other: &str) -> bool {
    let are_pair = |[first, second]: [&str; 2]| {
        one.contains(first) && other.contains(second)
            || one.contains(second) && other.contains(first)
    };
    // A file with both has them in modules for one system each.
    one == other || ALTERNATIVES.into_iter().any(are_pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_two_public_types_is_found() {
        ONE_TYPE_EACH.check(
            &[
                (
                    "crates/config/src/a.rs",
                    "pub struct Server;\nstruct Own;\npub(crate) enum In {}",
                ),
                ("crates/protocol/src/process/unix/b.rs", "pub struct Pipe<T>(T);"),
                ("crates/protocol/src/process/windows.rs", "pub struct Pipe;"),
                ("crates/runtime/src/c.rs", "//! x\npub enum Server {}\npub enum Own {}\n"),
                ("crates/runtime/src/d.rs", "pub enum In {}\n#[cfg(test)]\npub struct Own;\n"),
                ("crates/cli/src/e.rs", "pub struct Server;"),
            ],
            &["crates/runtime/src/c.rs:2: `Server` is also in crates/config/src/a.rs"],
        );
    }

    #[test]
    fn a_bare_name_is_found() {
        TELLING.check(
            &[
                ("crates/config/src/a.rs", "pub struct CacheEntry;\npub struct Entry<T>(T);"),
                ("crates/runtime/src/b.rs", "enum State {}\npub(crate) struct Entry;"),
                ("crates/cli/src/c.rs", "pub struct Entry;"),
            ],
            &["crates/config/src/a.rs:2: `Entry` is bare"],
        );
    }
}
