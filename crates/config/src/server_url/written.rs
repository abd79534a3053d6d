//! Addresses before expansion: literal text and placeholders.

use super::ServerUrl;
use super::error::{ServerUrlError, check_characters};
use crate::env::{Env, Platform};
use crate::expand::{ExpandContext, Piece, Placeholder, Syntax, pieces};
use crate::named_files::NamedFiles;
use crate::secret::REDACTED;
use crate::server::WrittenText;
use crate::source::Level;

/// The placeholder syntax of texts of unknown programs: forms that secrets do not have.
pub(super) const BRACES: Syntax = Syntax::BRACED
    .union(Syntax::ENV_COLON)
    .union(Syntax::CURLY)
    .union(Syntax::SECRETS)
    .union(Syntax::INPUT);

/// Checks the `url` of an entry, as far as possible before expansion.
pub(crate) fn check_written(written: &WrittenText) -> Result<(), ServerUrlError> {
    with_pieces(written, |pieces| match pieces {
        [Piece::Text(text)] => text.parse::<ServerUrl>().map(|_| ()),
        pieces => {
            let last = pieces.len().saturating_sub(1);
            pieces.iter().enumerate().try_for_each(|(index, piece)| match piece {
                Piece::Text(text) if index == 0 => check_characters(text.trim_start()),
                Piece::Text(text) if index == last => check_characters(text.trim_end()),
                Piece::Text(text) => check_characters(text),
                Piece::Placeholder(_, Placeholder::Variable { default: Some(default), .. }) => {
                    check_characters(default)
                }
                Piece::Placeholder(..) => Ok(()),
            })
        }
    })
}

/// Renders a placeholder in a secret part: its default may be a secret, unless it could be a host.
pub(super) fn redact_default(whole: &str, placeholder: &Placeholder<'_>) -> String {
    match placeholder {
        Placeholder::Variable { default: Some(default), .. }
            if !default.is_empty() && !default.contains(['/', '@', '?', '#']) =>
        {
            whole.replacen(default, REDACTED, 1)
        }
        // `$` may begin a password; names of variables are in capitals.
        Placeholder::Variable { name, .. }
            if !whole.contains('{') && name.chars().any(|c| c.is_ascii_lowercase()) =>
        {
            REDACTED.to_owned()
        }
        _ => whole.to_owned(),
    }
}

/// Splits a text into literal text and placeholders, with an empty environment.
pub(super) fn with_pieces<T>(written: &WrittenText, then: impl FnOnce(&[Piece<'_>]) -> T) -> T {
    let nowhere = std::path::Path::new("");
    let env = Env::new(Platform::HOST, nowhere);
    let files = NamedFiles::default();
    let context = ExpandContext {
        env: &env,
        folder: nowhere,
        file_folder: nowhere,
        plugin: Some(nowhere),
        files: &files,
        level: Level::User,
    };
    let all: Vec<Piece<'_>> = pieces(written, context).collect();
    then(&all)
}
