//! What the verbs that change a server have in common: the scope, and how they tell about it.

use clap::ValueEnum;
use serde::Serialize;
use wharf_config::manage::{self, Done, ManageError, Scope};
use wharf_config::text::clean;

use super::{Exit, Failure, Invocation};
use crate::ui::print_json;

/// Which of Wharf's own files is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeWord {
    /// The project's
    Project,
    /// Yours
    User,
}

impl ScopeWord {
    /// Returns the scope.
    pub(crate) fn scope(self) -> Scope {
        match self {
            Self::Project => Scope::Project,
            Self::User => Scope::User,
        }
    }
}

/// Returns the scope that was typed, else the usual one.
pub(crate) fn scope_or_default(word: Option<ScopeWord>, invocation: &Invocation) -> Scope {
    word.map_or_else(|| manage::default_scope(&invocation.env), ScopeWord::scope)
}

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    message: String,
}

/// Tells what was changed, or why not.
pub(crate) fn report(
    name: &str,
    result: Result<Done, ManageError>,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let json = invocation.ui.json;
    match result {
        Ok(done) if json => {
            let path = done.path.map(|path| path.to_string_lossy().into_owned());
            print_json(&Report { ok: true, name: &done.name, path, message: done.message })?;
            Ok(Exit::Fine)
        }
        Ok(done) => {
            invocation.ui.data(&format!("{}\n", clean(&done.message)))?;
            Ok(Exit::Fine)
        }
        Err(error) => {
            if json {
                let message = error.to_string();
                print_json(&Report { ok: false, name, path: None, message })?;
            }
            Err(error.into())
        }
    }
}
