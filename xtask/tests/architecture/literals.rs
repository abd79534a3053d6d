//! Rules about string literals: the texts of a library name no verb and no flag.
//!
//! Comments and tests are ignored.

use crate::code::{line_of, strings};
use crate::rule::{Rule, Violation};

/// The crates that other front ends use too.
const LIBRARIES: [&str; 3] = ["crates/config/src/", "crates/protocol/src/", "crates/runtime/src/"];

pub(crate) const NO_COMMAND_LINE: Rule = Rule {
    says: "no text of a library names a verb or a flag of the command line",
    fix: "return a typed reason; `crates/cli/src/commands/failure` words the advice",
    find: |tree| {
        let files =
            tree.rust().filter(|file| LIBRARIES.iter().any(|folder| file.path.starts_with(folder)));
        let mut found = Vec::new();
        for file in files {
            let text = file.product_text();
            for (offset, literal) in strings(&text) {
                let (path, line) = (file.path.clone(), line_of(&text, offset));
                let words = commands(literal).into_iter();
                found.extend(words.map(|what| Violation { path: path.clone(), line, what }));
            }
        }
        found
    },
};

/// Returns the verbs and flags in a text: `wharf verb` and `--flag`.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for start in ["wharf ", "--"] {
        for (at, _) in text.match_indices(start) {
            let name = text[at + start.len()..].split(|c: char| !c.is_ascii_lowercase()).next();
            let name = name.unwrap_or_default();
            let begins = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
            if begins && !name.is_empty() {
                found.push(format!("`{start}{name}`"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_or_a_flag_in_a_text_of_a_library_is_found() {
        NO_COMMAND_LINE.check(
            &[
                ("crates/config/src/a.rs", "//! wharf list\n\nlet a = \"run wharf trust x\";\n"),
                ("crates/runtime/src/b.rs", "let a = r#\"use --force\"#; // --json\n"),
                ("crates/protocol/src/c.rs", "#[error(\n\"`wharf add` it\")]\n"),
            ],
            &[
                "crates/config/src/a.rs:3: `wharf trust`",
                "crates/runtime/src/b.rs:1: `--force`",
                "crates/protocol/src/c.rs:2: `wharf add`",
            ],
        );
    }

    #[test]
    fn other_texts_and_other_crates_are_fine() {
        NO_COMMAND_LINE.check(
            &[
                ("crates/config/src/a.rs", "let a = \"Wharf reads it\"; let b = \"a -- b\";"),
                ("crates/config/src/b.rs", "#[cfg(test)]\nmod tests { const A: &str = \"--a\"; }"),
                ("crates/cli/src/c.rs", "let a = \"wharf trust x\";"),
            ],
            &[],
        );
    }
}
