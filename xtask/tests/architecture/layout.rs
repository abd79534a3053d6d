//! Rules about files: header, length and name.

use crate::rule::{Rule, Violation};
use crate::tree::{SourceFile, Tree};

/// The maximum number of lines of a source file.
const MOST_LINES: usize = 600;

/// Names of files that say nothing about the content.
const MEANINGLESS_NAMES: [&str; 5] = ["utils", "util", "helpers", "helper", "common"];

pub(crate) const HEADERS: Rule = Rule {
    says: "every source file starts with `//!`: what it owns and the rule it keeps",
    fix: "write a header of two to eight lines at the start of the file",
    find: |tree| {
        tree.sources()
            .filter(|file| !file.text.starts_with("//!"))
            .map(|file| violation(file, 1, "no `//!` header"))
            .collect()
    },
};

pub(crate) const LENGTH: Rule = Rule {
    says: "a source file has at most 600 lines",
    fix: "split it: one idea per file, and long tests go to `tests.rs` beside it",
    find: |tree| {
        tree.sources()
            .map(|file| (file, file.text.lines().count()))
            .filter(|(_, lines)| *lines > MOST_LINES)
            .map(|(file, lines)| violation(file, MOST_LINES + 1, &format!("{lines} lines")))
            .collect()
    },
};

pub(crate) const NAMES: Rule = Rule {
    says: "a file is named after its content, never `utils`, `helpers` or `common`",
    fix: "name what the functions have in common; if that is nothing, move each to its user",
    find: badly_named,
};

fn badly_named(tree: &Tree) -> Vec<Violation> {
    let name = |file: &SourceFile| {
        let path = file.path.strip_suffix("/mod.rs").unwrap_or(&file.path).to_owned();
        path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned()
    };
    tree.rust()
        .filter(|file| MEANINGLESS_NAMES.contains(&name(file).as_str()))
        .map(|file| violation(file, 1, &format!("`{}` says nothing", name(file))))
        .collect()
}

fn violation(file: &SourceFile, line: usize, what: &str) -> Violation {
    Violation { path: file.path.clone(), line, what: what.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_without_a_header_is_found() {
        HEADERS.check(
            &[
                ("crates/config/src/a.rs", "//! Reads.\nfn a() {}\n"),
                ("crates/config/src/b.rs", "use std::fs;\n//! Late.\n"),
                ("crates/config/tests/c.rs", "fn c() {}\n"),
                ("xtask/src/d.rs", ""),
            ],
            &["crates/config/src/b.rs:1: no `//!` header", "xtask/src/d.rs:1: no `//!` header"],
        );
    }

    #[test]
    fn a_long_source_is_found() {
        let just_fits = "x\n".repeat(600);
        let too_long = "x\n".repeat(601);
        LENGTH.check(
            &[
                ("crates/a/src/a.rs", &just_fits),
                ("crates/a/src/b.rs", &too_long),
                ("crates/a/tests/c.rs", &too_long),
            ],
            &["crates/a/src/b.rs:601: 601 lines"],
        );
    }

    #[test]
    fn a_meaningless_name_is_found() {
        NAMES.check(
            &[
                ("crates/a/src/utils.rs", ""),
                ("crates/a/src/helpers/mod.rs", ""),
                ("crates/a/tests/common/mod.rs", ""),
                ("crates/a/src/commonmark.rs", ""),
                ("crates/a/src/mod.rs", ""),
                ("docs/common.md", ""),
            ],
            &[
                "crates/a/src/utils.rs:1: `utils` says nothing",
                "crates/a/src/helpers/mod.rs:1: `helpers` says nothing",
                "crates/a/tests/common/mod.rs:1: `common` says nothing",
            ],
        );
    }
}
