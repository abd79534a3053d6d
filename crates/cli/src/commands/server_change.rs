//! What the verbs that change a server have in common: the scope, and how they tell about it.

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;
use wharf_config::manage::{self, AddRequest, ChangeSummary, ConfigScope, ManageError};
use wharf_config::secret::names_a_secret;
use wharf_config::text::clean;
use wharf_config::{DefinitionState, Env};

use super::probe::{self, Probe, ProbeArgs};
use super::report::ErrorReport;
use super::{Exit, Failure, Invocation};
use crate::ui::{phrase, print_json};

/// Which of Wharf's own files is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// The project's
    Project,
    /// Yours
    User,
}

impl ScopeArg {
    /// Returns the scope.
    pub(crate) fn scope(self) -> ConfigScope {
        match self {
            Self::Project => ConfigScope::Project,
            Self::User => ConfigScope::User,
        }
    }
}

/// Returns the scope that was typed, else the usual one.
pub(crate) fn scope_or_default(word: Option<ScopeArg>, invocation: &Invocation) -> ConfigScope {
    word.map_or_else(|| manage::default_scope(&invocation.env), ScopeArg::scope)
}

/// Adds a server and tells about it, also of secrets that stand in the file now; then tries it.
pub(crate) fn add(
    request: AddRequest,
    args: ProbeArgs,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let name = request.name.clone();
    let literals = literal_secrets(&request.entry, &invocation.env);
    let mut result = manage::add(&invocation.env, request);
    if let Ok(done) = &mut result {
        if is_off(&name, invocation) {
            let word = phrase::word(&name);
            done.message = format!("{}; it stays off until `wharf enable {word}`", done.message);
        }
        for literal in literals {
            invocation.ui.hint(&format!(
                "{} is stored in plain text; write '${{{}}}' to read it from the environment",
                phrase::quoted(&literal),
                variable_for(&literal)
            ));
        }
    }
    match result {
        Ok(done) => added(done, args, invocation),
        Err(error) => report_change(&name, Err(error), invocation),
    }
}

/// Tells what was added, tries it, and tells what was found.
fn added(done: ChangeSummary, args: ProbeArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let ui = &invocation.ui;
    if !ui.json {
        // Trying it may take seconds.
        ui.sentences(&format!("{}\n", clean(&done.message)))?;
    }
    let probe = probe::run(&done, args, invocation);
    if ui.json {
        let path = done.path.map(|path| path.to_string_lossy().into_owned());
        let (name, message, error) = (done.name.as_str(), done.message, None);
        print_json(&ServerChangeJson { ok: true, name, path, message, probe, error })?;
        return Ok(Exit::Success);
    }
    if let Some(found) = probe.as_ref().and_then(Probe::found) {
        ui.sentences(&format!("{found}\n"))?;
    }
    if let Some(probe) = probe {
        probe.warn(invocation);
    }
    Ok(Exit::Success)
}

/// Tells whether a server that was just added is switched off, such as by an older list.
fn is_off(name: &str, invocation: &Invocation) -> bool {
    let catalog = invocation.load_quietly();
    catalog.is_ok_and(|catalog| {
        catalog.winner(name).is_some_and(|server| server.state == DefinitionState::Disabled)
    })
}

/// Names the values that look like a secret and are taken as written.
fn literal_secrets(entry: &Value, env: &Env) -> Vec<String> {
    let groups = ["env", "headers"].into_iter().filter_map(|group| entry.get(group)?.as_object());
    let is_literal = |value: &Value| {
        value.as_str().is_some_and(|text| {
            !text.contains("${") && !text.starts_with('!') && env.nonempty_variable(text).is_none()
        })
    };
    let found = groups.flatten().filter(|(name, value)| names_a_secret(name) && is_literal(value));
    found.map(|(name, _)| name.clone()).collect()
}

/// Returns the variable that a value could come from: `X_API_KEY` for `X-Api-Key`.
fn variable_for(name: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    phrase::name(&name.chars().map(word).collect::<String>())
}

#[derive(Serialize)]
struct ServerChangeJson<'a> {
    ok: bool,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    probe: Option<Probe>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorReport>,
}

/// Tells what was changed, or why not.
pub(crate) fn report_change(
    name: &str,
    result: Result<ChangeSummary, ManageError>,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let json = invocation.ui.json;
    match result {
        Ok(done) if json => {
            let path = done.path.map(|path| path.to_string_lossy().into_owned());
            print_json(&ServerChangeJson {
                ok: true,
                name: &done.name,
                path,
                message: done.message,
                probe: None,
                error: None,
            })?;
            Ok(Exit::Success)
        }
        Ok(done) => {
            invocation.ui.sentences(&format!("{}\n", clean(&done.message)))?;
            Ok(Exit::Success)
        }
        Err(error) => {
            let failure = Failure::from(error);
            if json {
                let (message, error) = (failure.to_string(), Some(ErrorReport::of(&failure)));
                print_json(&ServerChangeJson {
                    ok: false,
                    name,
                    path: None,
                    message,
                    probe: None,
                    error,
                })?;
            }
            Err(failure)
        }
    }
}
