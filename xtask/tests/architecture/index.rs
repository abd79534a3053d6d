//! Rules about the index in `ARCHITECTURE.md`: its paths exist, and its terms occur in their headers.
//!
//! A row of the index is `| term | paths |`. The term must occur in the `//!` header of every path,
//! so that a search for the term finds all of them. A folder stands for its `mod.rs`.

use crate::rule::{Rule, Violation};
use crate::tree::{SourceFile, Tree};

const DOCUMENT: &str = "ARCHITECTURE.md";

/// The heading of the index.
const INDEX: &str = "## Where to find it";

pub(crate) const PATHS: Rule = Rule {
    says: "every path in `ARCHITECTURE.md` exists",
    fix: "correct the path; a path starts at the root of the repository",
    find: |tree| {
        let missing = |(_, path): &(usize, String)| !exists(tree, path);
        let all = lines(tree).flat_map(|(line, text)| {
            quoted(text).filter(|path| is_path(path)).map(move |path| (line, path.to_owned()))
        });
        all.filter(missing)
            .map(|(line, path)| violation(line, format!("no file `{path}`")))
            .collect()
    },
};

pub(crate) const TERMS: Rule = Rule {
    says: "every term of the index occurs in the header of each file that it leads to",
    fix: "use the term in the `//!` header of that file, or correct the row",
    find: |tree| index(tree).flat_map(|(line, row)| check_row(tree, line, row)).collect(),
};

fn check_row(tree: &Tree, line: usize, row: &str) -> Vec<Violation> {
    let mut cells = row.trim_matches('|').split('|').map(str::trim);
    let (Some(term), Some(paths)) = (cells.next(), cells.next()) else {
        return vec![violation(line, "no row of two cells".to_owned())];
    };
    let term = term.replace('`', "").to_lowercase();
    let is_missing = |path: &&str| {
        file(tree, path)
            .is_none_or(|file| !header(file).replace('`', "").to_lowercase().contains(&term))
    };
    let missing = quoted(paths).filter(is_missing);
    let what = |path| format!("\"{term}\" is not in the header of `{path}`");
    missing.map(|path| violation(line, what(path))).collect()
}

/// Returns the rows of the index with their line numbers, without the head of the table.
fn index(tree: &Tree) -> impl Iterator<Item = (usize, &str)> {
    let section = lines(tree).skip_while(|(_, line)| *line != INDEX).skip(1);
    let rows = section.take_while(|(_, line)| !line.starts_with("## "));
    rows.filter(|(_, line)| line.starts_with('|')).skip(2)
}

fn lines(tree: &Tree) -> impl Iterator<Item = (usize, &str)> {
    let document = tree.files.iter().filter(|file| file.path == DOCUMENT);
    document.flat_map(|file| file.text.lines().enumerate().map(|(index, line)| (index + 1, line)))
}

/// Returns the texts between backticks.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn is_path(text: &str) -> bool {
    ["crates/", "docs/", "fuzz/", "xtask/"].iter().any(|folder| text.starts_with(folder))
}

fn exists(tree: &Tree, path: &str) -> bool {
    let folder = format!("{}/", path.trim_end_matches('/'));
    tree.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
}

/// Returns the file of a path, or the `mod.rs` of a folder.
fn file<'a>(tree: &'a Tree, path: &str) -> Option<&'a SourceFile> {
    let module = format!("{}/mod.rs", path.trim_end_matches('/'));
    tree.files.iter().find(|file| file.path == path || file.path == module)
}

/// Returns the text of a `//!` header on one line, without the marks.
fn header(file: &SourceFile) -> String {
    let lines = file.text.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

fn violation(line: usize, what: String) -> Violation {
    Violation { path: DOCUMENT.to_owned(), line, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_does_not_exist_is_found() {
        PATHS.check(
            &[
                (
                    DOCUMENT,
                    "See `crates/a/src/gone.rs`,\n`crates/a/src/there.rs` and `crates/a`.\n",
                ),
                ("crates/a/src/there.rs", "//! There."),
            ],
            &["ARCHITECTURE.md:1: no file `crates/a/src/gone.rs`"],
        );
    }

    #[test]
    fn a_term_that_is_not_in_the_header_is_found() {
        let table = "## Where to find it\n\n| term | path |\n|---|---|\n\
                     | process group | `crates/a/src/process_group.rs` |\n\
                     | `!command` | `crates/a/src/shell` |\n| sampling | `crates/a/src/shell` |\n\
                     | Process group | `crates/a/src/process_group.rs`, `crates/a/src/shell` |\n";
        TERMS.check(
            &[
                (DOCUMENT, table),
                ("crates/a/src/process_group.rs", "//! A Process\n//! group and more.\n"),
                ("crates/a/src/shell/mod.rs", "//! Runs one `!command`.\nuse sampling;\n"),
            ],
            &[
                "ARCHITECTURE.md:7: \"sampling\" is not in the header of `crates/a/src/shell`",
                "ARCHITECTURE.md:8: \"process group\" is not in the header of `crates/a/src/shell`",
            ],
        );
    }
}
