//! Hints about errors: what to do, and what to type next.
//!
//! The hints of the libraries are about files, URLs and programs. The hints here name verbs and
//! flags.

use std::io;

use wharf::FailureKind;
use wharf::arguments::PairError;
use wharf::call::{CallError, CallErrorReason};
use wharf_config::manage::{ManageError, SkipReason};
use wharf_config::settings::{SettingError, SettingsFileError};
use wharf_config::{CredentialError, DiscoveryError};

use super::{Failure, UntrustedReason, sign_in};
use crate::commands::connect::one_off;
use crate::ui::phrase;

/// What to do if there is no folder for the files of Wharf.
pub(crate) const SET_HOME: &str = "set HOME, or WHARF_HOME to a folder of yours";

impl Failure {
    /// Returns what to do about the failure.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Discovery(error) => Some(discovery_hint(error).to_owned()),
            Self::NotFound { nearest, .. } => nearest.as_deref().map(did_you_mean),
            Self::NoServerForToken { nearest: Some(nearest), .. } => Some(did_you_mean(nearest)),
            Self::NoServerForToken { .. } => {
                Some("give the server's address with --url".to_owned())
            }
            Self::Untrusted { name, why: UntrustedReason::Changed } => {
                let word = phrase::word(name);
                Some(format!(
                    "`wharf explain {word}` shows what changed; `wharf trust {word}` accepts it"
                ))
            }
            Self::Untrusted { name, .. } => Some(format!("`wharf trust {}`", phrase::word(name))),
            Self::Usage { hint, .. } => Some((*hint).to_owned()),
            Self::NoHome => Some(SET_HOME.to_owned()),
            Self::NotAProject => Some("go to a project, or name one with --project".to_owned()),
            Self::NotUsed { hint, .. }
            | Self::Invalid { hint, .. }
            | Self::Ambiguous { hint, .. } => Some(hint.clone()),
            Self::NotConnected { name, failure } => tip(name, failure),
            Self::SignIn { name, error } => sign_in::hint(name, error),
            Self::CredentialStore(_) => {
                Some("`wharf doctor` checks the credential store".to_owned())
            }
            Self::ItemNotFound { hint, .. } | Self::BadArguments { hint, .. } => hint.clone(),
            Self::Request(error) => error.hint.clone(),
            Self::TimedOut { .. } | Self::NotConnectedInTime { .. } => {
                Some("raise --timeout".to_owned())
            }
            Self::Manage(error) => change_hint(error),
            Self::Store(error) => Some(error.hint()),
            Self::Approvals(error) => Some(error.hint()),
            Self::Setting(error) => setting_hint(error),
            Self::File { source, .. } | Self::Output(source) | Self::Serve(source) => {
                io_hint(source).map(str::to_owned)
            }
            Self::Disabled { .. }
            | Self::DefinedElsewhere { .. }
            | Self::Cancelled
            | Self::Prepare(_) => None,
        }
    }
}

/// Returns what to do about an error of the operating system, where the fix is known.
fn io_hint(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::PermissionDenied => Some("check the permissions of the file and its folder"),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some("make room on the disk"),
        io::ErrorKind::ReadOnlyFilesystem => Some("the disk is read-only; use another folder"),
        _ => None,
    }
}

fn did_you_mean(nearest: &str) -> String {
    format!("did you mean {}?", phrase::quoted(nearest))
}

/// Returns what to do about a server that is not connected, and what to type next.
pub(crate) fn tip(name: &str, failure: &wharf::ServerFailure) -> Option<String> {
    if name == one_off::SERVER_NAME {
        return one_off_tip(failure);
    }
    let word = phrase::word(name);
    let otherwise = match failure.kind {
        FailureKind::Start => Some("check \"command\" in its entry"),
        FailureKind::TimedOut => Some("raise `timeout` in its entry if it needs longer"),
        _ => None,
    };
    // The failure already shows the server's stderr.
    let own = failure.hint.as_deref().filter(|_| !failure.points_to_stderr());
    let advice = own.or(otherwise);
    let has_written = !failure.stderr.trim().is_empty();
    let next = match (failure.kind, failure.http_status) {
        (FailureKind::Config | FailureKind::Start, _) => return advice.map(str::to_owned),
        (FailureKind::NeedsAuth, Some(403)) => format!("`wharf get {word}`"),
        (FailureKind::NeedsAuth, _) => return Some(sign_in_tip(name)),
        (FailureKind::Stopped, _) => {
            return Some(format!(
                "see why with `wharf logs {word}`, then `wharf reconnect {word}`"
            ));
        }
        _ if has_written && advice.is_none() => {
            return Some(format!("`wharf logs {word}` shows all of its output"));
        }
        _ if has_written => format!("`wharf logs {word}`"),
        (_, Some(408 | 429 | 500..)) => format!("`wharf test {word}`"),
        _ => format!("`wharf get {word}`"),
    };
    Some(advice.map_or_else(|| next.clone(), |advice| format!("{advice} ({next})")))
}

/// Returns what to do about a server from the command line, which has no entry.
fn one_off_tip(failure: &wharf::ServerFailure) -> Option<String> {
    match failure.kind {
        FailureKind::NeedsAuth => Some(GIVE_A_TOKEN.to_owned()),
        FailureKind::TimedOut => None,
        _ if failure.points_to_stderr() => None,
        _ => failure.hint.clone(),
    }
}

const GIVE_A_TOKEN: &str = "give a token with --token -, or check --header";

/// Returns how to sign in to a server.
fn sign_in_tip(name: &str) -> String {
    let word = phrase::word(name);
    format!(
        "`wharf login {word}`, or store a token with `wharf add {word} --token -`, or check its \
         headers (`wharf get {word}`)"
    )
}

/// Replaces the library's hint about a withheld tool by one that names the verb.
pub(crate) fn use_cli_hint(server: &str, error: &mut CallError) {
    if error.reason == CallErrorReason::Withheld {
        let word = phrase::word(server);
        error.hint = Some(format!("review the change with `wharf trust {word} --tools`"));
    }
}

/// Returns what to type next after a call failed; the error's own hint is printed as well.
pub(crate) fn next_step(server: &str, error: &CallError) -> Option<String> {
    let word = phrase::word(server);
    match error.reason {
        _ if server.is_empty() => None,
        CallErrorReason::NeedsAuth if server == one_off::SERVER_NAME => {
            Some(GIVE_A_TOKEN.to_owned())
        }
        _ if server == one_off::SERVER_NAME => None,
        CallErrorReason::NeedsAuth => Some(sign_in_tip(server)),
        CallErrorReason::Untrusted => Some(format!("`wharf trust {word}`")),
        CallErrorReason::Disabled => Some(format!("`wharf enable {word}`")),
        CallErrorReason::Connect | CallErrorReason::Lost | CallErrorReason::TimedOut
            if error.stderr.is_some() =>
        {
            Some(format!("`wharf logs {word}` shows all of its output"))
        }
        CallErrorReason::Connect | CallErrorReason::Lost => Some(format!("`wharf test {word}`")),
        _ => None,
    }
}

fn setting_hint(error: &SettingsFileError) -> Option<String> {
    match error {
        SettingsFileError::Setting(SettingError::Unknown { nearest: None, .. }) => {
            Some("`wharf config get` lists all settings".to_owned())
        }
        SettingsFileError::Setting(error) => error.hint(),
        SettingsFileError::NoHome => Some(SET_HOME.to_owned()),
        SettingsFileError::Store(error) => Some(error.hint()),
        _ => None,
    }
}

fn discovery_hint(error: &DiscoveryError) -> &'static str {
    match error {
        DiscoveryError::NoFolder { .. } => "give a folder that exists with --project",
        error => error.hint(),
    }
}

fn change_hint(error: &ManageError) -> Option<String> {
    match error {
        ManageError::Invalid { hint, .. } => hint.clone(),
        ManageError::AlreadyExists { .. } => Some("use --force to replace it".to_owned()),
        ManageError::NotFound { nearest, .. } => nearest.as_deref().map(did_you_mean),
        ManageError::OtherScope { scope, .. } => {
            Some(format!("it is in the {scope} file: use --scope {scope}"))
        }
        ManageError::UnknownProgram { nearest: Some(nearest), .. } => Some(did_you_mean(nearest)),
        ManageError::UnknownProgram { known, .. } => Some(format!("one of: {}", known.join(", "))),
        ManageError::NoSuchFile { scope, .. } => {
            let other = if *scope == "project" { "user" } else { "project" };
            Some(format!("use --scope {other}"))
        }
        ManageError::OutsideProject { .. } => {
            Some("remove the link, or use --scope user".to_owned())
        }
        ManageError::NoProject => {
            Some("use --scope user, or go to the project's folder".to_owned())
        }
        ManageError::Problem(problem) => problem.hint.clone(),
        ManageError::Discovery(error) => Some(discovery_hint(error).to_owned()),
        ManageError::Store(error) => Some(error.hint()),
        ManageError::Credentials(error) => Some(credential_hint(error)),
        ManageError::NoHome => Some(SET_HOME.to_owned()),
        ManageError::Edit { source, .. } => Some(source.hint()),
        ManageError::OtherProgramToken { name, provider_id, .. } => Some(format!(
            "copy it into Wharf's own file first: `wharf import {provider_id} {}`",
            phrase::word(name)
        )),
        ManageError::Untrusted { name } => Some(format!("`wharf trust {}`", phrase::word(name))),
        ManageError::ProjectProgram { .. } => {
            Some("define the server in your own file, or name a variable in \"env\"".to_owned())
        }
        _ => None,
    }
}

/// Returns what to do about arguments that do not parse.
pub(crate) fn pair_hint(error: &PairError) -> Option<String> {
    match error {
        PairError::NotAPair { .. } => {
            Some("write key=value, key:=JSON, or use --args with a JSON object".to_owned())
        }
        error => error.hint(),
    }
}

/// Returns why a server was not copied, and what to type to copy it.
pub(crate) fn skip_text(name: &str, why: &SkipReason) -> String {
    match why {
        SkipReason::Untrusted => format!("{why}; run `wharf trust {}`", phrase::word(name)),
        SkipReason::Exists => format!("{why}; use --force to replace it"),
        why => why.to_string(),
    }
}

/// Returns what to do about credentials that cannot be read.
pub(crate) fn credential_hint(error: &CredentialError) -> String {
    match error {
        CredentialError::Store(error) => error.hint(),
        CredentialError::Malformed { .. } => {
            "correct the file, or delete it and add the tokens again".to_owned()
        }
        _ => SET_HOME.to_owned(),
    }
}
