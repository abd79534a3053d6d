//! Shared by the verbs that add, change or remove a server: the scope, and the report of the
//! result.

use clap::ValueEnum;
use serde::Serialize;
use wharf_config::edit::JsonValue;
use wharf_config::manage::{self, AddRequest, ChangeSummary, ConfigScope, ManageError};
use wharf_config::secret::names_a_secret;
use wharf_config::text::clean;
use wharf_config::{DefinitionState, Env};

use super::credentials;
use super::probe::{self, ProbeArgs, ProbeResult};
use super::report::ErrorReport;
use super::{Exit, Failure, Invocation};
use crate::ui::{phrase, print_json};

/// Which of Wharf's own files to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// The project's file
    Project,
    /// Your own file
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

/// Returns the scope that was typed, else the default.
pub(crate) fn scope_or_default(word: Option<ScopeArg>, invocation: &Invocation) -> ConfigScope {
    word.map_or_else(|| manage::default_scope(&invocation.env), ScopeArg::scope)
}

/// Adds a server, reports it and its literal secrets, and then probes it.
pub(crate) fn add(
    request: AddRequest,
    args: ProbeArgs,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let name = request.name.clone();
    let literals = literal_secrets(&request.entry, &invocation.env);
    let store = credentials::store_of_settings(invocation);
    let places = store.places();
    let mut result = manage::add(&invocation.env, request);
    if result.is_ok() {
        store.settle(&places).map_err(Failure::CredentialStore)?;
    }
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

/// Reports what was added, probes it, and reports the result of the probe.
fn added(done: ChangeSummary, args: ProbeArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let ui = &invocation.ui;
    if !ui.json {
        // Print this first, because the probe may take seconds.
        ui.sentences(&format!("{}\n", clean(&done.message)))?;
    }
    let probe = probe::run(&done, args, invocation);
    if ui.json {
        let path = done.path.map(|path| path.to_string_lossy().into_owned());
        let (name, message, error) = (done.name.as_str(), done.message, None);
        print_json(&ServerChangeJson { ok: true, name, path, message, probe, error })?;
        return Ok(Exit::Success);
    }
    if let Some(found) = probe.as_ref().and_then(ProbeResult::found) {
        ui.sentences(&format!("{found}\n"))?;
    }
    if let Some(probe) = probe {
        probe.warn(invocation);
    }
    Ok(Exit::Success)
}

/// Tells whether a server that was just added is disabled, such as by `disabledServers`.
fn is_off(name: &str, invocation: &Invocation) -> bool {
    let catalog = invocation.load_quietly();
    catalog.is_ok_and(|catalog| {
        catalog.winner(name).is_some_and(|server| server.state == DefinitionState::Disabled)
    })
}

/// Returns the names of the values that look like a literal secret.
fn literal_secrets(entry: &JsonValue, env: &Env) -> Vec<String> {
    let groups = ["env", "headers"].into_iter().filter_map(|group| entry.get(group)?.as_object());
    let is_literal = |value: &JsonValue| {
        value.as_str().is_some_and(|text| {
            !text.contains("${") && !text.starts_with('!') && env.nonempty_variable(text).is_none()
        })
    };
    let found = groups.flatten().filter(|(name, value)| names_a_secret(name) && is_literal(value));
    found.map(|(name, _)| name.clone()).collect()
}

/// Suggests a variable name for a value: `X_API_KEY` for `X-Api-Key`.
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
    probe: Option<ProbeResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorReport>,
}

/// Reports what was changed, or why nothing was.
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
