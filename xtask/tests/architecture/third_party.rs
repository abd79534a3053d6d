//! Rules about types of other crates in the public signatures of the libraries.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::{find_words, imports, line_of};
use crate::rule::{Rule, Violation};
use crate::tree::{SourceFile, Tree};

const LIBRARIES: [&str; 3] = ["crates/config/src/", "crates/protocol/src/", "crates/runtime/src/"];

/// The modules that export crates.
const EXPORTS: [&str; 2] =
    ["crates/protocol/src/third_party.rs", "crates/runtime/src/third_party.rs"];

pub(crate) const EXPORTED: Rule = Rule {
    says: "a crate whose types are in public signatures is in a module `third_party`",
    fix: "hide the type behind one of ours, or add the crate to `third_party.rs`",
    find: |tree: &Tree| {
        let exported: BTreeSet<String> = tree
            .sources()
            .filter(|file| EXPORTS.contains(&file.path.as_str()))
            .flat_map(|file| imports(&file.product_code()))
            .map(|(_, path)| path)
            .collect();
        let dependencies = dependencies(tree);
        let used = tree.sources().flat_map(|file| used_crates(file, &dependencies));
        used.filter(|found| !exported.contains(&found.what))
            .map(|found| Violation { what: format!("`{}` is not exported", found.what), ..found })
            .collect()
    },
};

/// Returns the names of all crates that the workspace depends on, as they are written in code.
fn dependencies(tree: &Tree) -> BTreeSet<String> {
    let manifest = tree.files.iter().find(|file| file.path == "Cargo.toml");
    let lines = manifest.map(|file| file.text.lines()).into_iter().flatten();
    let names = lines.filter_map(|line| line.split_once('=')).map(|(name, _)| name.trim());
    names.filter(|name| !name.starts_with("wharf")).map(|name| name.replace('-', "_")).collect()
}

/// Returns the crates in the public signatures of a library's file, each once.
fn used_crates(file: &SourceFile, dependencies: &BTreeSet<String>) -> Vec<Violation> {
    if !LIBRARIES.iter().any(|folder| file.path.starts_with(folder)) {
        return Vec::new();
    }
    let code = file.product_code();
    let crate_of = |path: &str| path.split("::").next().unwrap_or_default().to_owned();
    let mut crates: BTreeMap<String, String> = BTreeMap::new();
    for (_, path) in imports(&code) {
        let (krate, name) = (crate_of(&path), path.rsplit("::").next().unwrap_or_default());
        // A trait that is imported as `_` can have the name of a type of this file.
        let is_own = ["struct", "enum"]
            .iter()
            .any(|kind| !find_words(&code, &format!("{kind} {name}")).is_empty());
        if dependencies.contains(&krate) && path != krate && !is_own {
            crates.insert(name.to_owned(), krate);
        }
    }
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for (at, signature) in signatures(&code) {
        for word in signature.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if let Some(krate) = crates.get(word) {
                found.entry(krate.clone()).or_insert_with(|| line_of(&code, at));
            }
        }
    }
    let violation = |(what, line)| Violation { path: file.path.clone(), line, what };
    found.into_iter().map(violation).collect()
}

/// Returns what others see of each public item: a function up to its body, a whole enum, a field, a
/// type with its bounds.
fn signatures(code: &str) -> Vec<(usize, &str)> {
    // `pub(crate)` is not public.
    let starts = find_words(code, "pub ").into_iter();
    let all = starts.map(|at| {
        let item = &code[at..];
        let is = |kind: &str| item.starts_with(&format!("pub {kind} "));
        let ends: &[char] = if is("use") || is("mod") {
            return (at, "");
        } else if is("enum") {
            let end = item.find("\n}").unwrap_or(item.len());
            return (at, &item[..end]);
        } else if is("fn") || is("async fn") || is("const fn") || is("trait") || is("type") {
            &['{', ';']
        } else if is("struct") {
            &['{', '(', ';']
        } else {
            &[',', ')', ';', '{', '}', '=']
        };
        (at, &item[..item.find(ends).unwrap_or(item.len())])
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_that_is_not_exported_is_found() {
        EXPORTED.check(
            &[
                (
                    "Cargo.toml",
                    "[workspace.dependencies]\nbytes = \"1\"\nhttp = \"1\"\nhyper = \"1\"\nurl = \"1\"\n",
                ),
                (
                    "crates/protocol/src/third_party.rs",
                    "pub use bytes;\n#[cfg(feature = \"http\")]\npub use http;\n",
                ),
                (
                    "crates/protocol/src/a.rs",
                    "use http::HeaderMap;\nuse hyper::Error;\nuse url::Url;\n\
                     pub enum Own {\n    Sent(HeaderMap),\n    Lost { source: Error },\n}\n\
                     pub struct Link(Url);\nfn own(url: Url) {}\npub(crate) fn more(url: Url) {}\n",
                ),
                ("crates/runtime/src/b.rs", "use url::{Host, Url};\npub fn one(url: &Url) {}\n"),
                (
                    "crates/runtime/src/c.rs",
                    "use url::Url;\npub struct A {\n    pub url: Url,\n}\n",
                ),
                ("crates/cli/src/d.rs", "use url::Url;\npub fn one(url: &Url) {}\n"),
                ("crates/config/src/e.rs", "use url::Url as _;\npub struct Url;\npub fn one(url: Url) {}\n"),
            ],
            &[
                "crates/protocol/src/a.rs:4: `hyper` is not exported",
                "crates/runtime/src/b.rs:2: `url` is not exported",
                "crates/runtime/src/c.rs:3: `url` is not exported",
            ],
        );
    }
}
