//! Fuzz target for placeholders: the pieces join to the text, and replaced text is not expanded.

use std::path::Path;

use crate::env::{Env, Platform};
use crate::expand::{self, ExpandContext, Piece, Placeholder, Syntax};
use crate::named_files::NamedFiles;
use crate::server::WrittenText;
use crate::source::Level;

use super::FOLDER;
use super::canary::{self, CANARY};

/// Splits a text and replaces its placeholders, in every syntax.
pub(super) fn expand(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if canary::is_in(&text) {
        return;
    }
    let env = Env::new(Platform::Linux, FOLDER)
        .with_home("/nowhere/home")
        .with_variable("SECRET", CANARY)
        .with_variable("EMPTY", "")
        .with_variable(
            "NESTED",
            "${SECRET}$SECRET%SECRET%{env:SECRET}$env:SECRET${{secrets.SECRET}}",
        )
        .with_variable("HALF", "${SEC")
        .with_variable("COMMAND", "!$(date)");
    let folder = Path::new(FOLDER);
    let files = NamedFiles::default();
    let context = ExpandContext {
        env: &env,
        folder,
        file_folder: folder,
        plugin: Some(folder),
        files: &files,
        level: Level::User,
    };
    let each = Syntax::all().iter();
    for syntax in each.chain([Syntax::empty(), Syntax::all()]) {
        check(&WrittenText { text: text.clone().into_owned(), syntax }, context);
    }
}

fn check(written: &WrittenText, context: ExpandContext<'_>) {
    let mut whole = String::new();
    let (mut placeholders, mut asks_for_the_secret, mut was_text) = (0, false, false);
    for piece in expand::pieces(written, context) {
        let is_text = matches!(piece, Piece::Text(_));
        let part = match piece {
            Piece::Text(text) => text,
            Piece::Placeholder(text, placeholder) => {
                placeholders += 1;
                asks_for_the_secret |=
                    matches!(placeholder, Placeholder::Variable { name: "SECRET", .. });
                text
            }
        };
        assert!(!part.is_empty(), "a piece is empty");
        assert!(!(is_text && was_text), "adjacent literals are not one piece");
        was_text = is_text;
        whole.push_str(part);
    }
    assert_eq!(whole, written.text, "the pieces do not join to the text");
    assert_eq!(expand::has_placeholder(written, context), placeholders > 0);
    let expanded = expand::expand(written, context);
    assert_eq!(expanded.uses.len(), placeholders, "not every placeholder is reported");
    assert!(placeholders > 0 || expanded.text == written.text, "plain text was changed");
    // Other variables only contain its placeholder, so the value must come from `SECRET` itself.
    let has_the_secret = expanded.text.contains(CANARY);
    assert!(asks_for_the_secret || !has_the_secret, "a replaced value was expanded again");
}
