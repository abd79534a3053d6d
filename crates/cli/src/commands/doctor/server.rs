//! Checks one server: whether it could start, and whether its variables and credentials exist.

use std::time::SystemTime;

use wharf_config::trust::Trust;
use wharf_config::{DefinitionState, Env, Level, Problem, Server, Transport};

use super::check::Check;
use super::{pass_env, secrets, windows_commands};
use crate::commands::server_credential::{ServerCredentials, describe, is_expired};
use crate::commands::start_check::{StartCheck, StartChecker};
use crate::ui::phrase;

/// Codes of warnings that probably prevent a server from working.
const BREAKING: [&str; 4] = ["unset-variable", "needs-input", "unreadable", "unsupported"];

/// Checks a server, as far as its state allows. `credentials` is `None` if the store is unreadable,
/// which another check reports.
pub(super) fn check(
    server: &Server,
    credentials: Option<&ServerCredentials>,
    starts: &StartChecker<'_>,
    env: &Env,
) -> Vec<Check> {
    let name = server.definition.name.as_str();
    match server.state {
        DefinitionState::Enabled => check_enabled(server, credentials, starts, env),
        DefinitionState::Invalid => problems(server, env),
        DefinitionState::Untrusted => {
            std::iter::once(untrusted(server)).chain(problems(server, env)).collect()
        }
        DefinitionState::Disabled => {
            let reason = server.reason.as_deref().unwrap_or_default();
            let word = phrase::word(name);
            let hint = if server.trust.allows_use() {
                format!("`wharf enable {word}`")
            } else {
                format!("`wharf enable {word}`, then `wharf trust {word}`")
            };
            vec![Check::note(name, format!("is disabled: it is {reason}")).hint(hint)]
        }
        DefinitionState::Duplicate => {
            let other = server.duplicate_of.as_ref().map_or("", |name| name.as_str());
            vec![
                Check::note(name, format!("is the same server as \"{other}\", which is used"))
                    .hint("to use both: `wharf config set discovery.duplicates keep`"),
            ]
        }
        DefinitionState::Native => {
            vec![Check::note(name, "is not connected: native web search is enabled")]
        }
        DefinitionState::Shadowed => vec![
            Check::note(name, "is not used: all of its definitions are shadowed")
                .hint(format!("`wharf explain {}`", phrase::word(name))),
        ],
    }
}

/// Reports why an untrusted server is not connected.
fn untrusted(server: &Server) -> Check {
    let name = server.definition.name.as_str();
    let word = phrase::word(name);
    let (message, hint) = match &server.trust {
        Trust::Changed(_) => (
            "has changed since you trusted it, so it is not connected",
            format!("`wharf explain {word}` shows what changed; `wharf trust {word}` accepts it"),
        ),
        Trust::Refused => {
            ("is not connected: you refused it", format!("`wharf trust {word}` asks again"))
        }
        _ => (
            "came with this project and is not trusted, so it is not connected",
            format!("`wharf trust {word}`"),
        ),
    };
    Check::note(name, message).hint(hint)
}

fn check_enabled(
    server: &Server,
    credentials: Option<&ServerCredentials>,
    starts: &StartChecker<'_>,
    env: &Env,
) -> Vec<Check> {
    let mut checks = vec![start(server, starts, env)];
    checks.extend(windows_commands::execution_policy(server, env));
    checks.extend(folder(server, starts));
    checks.extend(problems(server, env));
    checks.extend(plain_http(server));
    checks.extend(stored_credential(server, credentials));
    checks.extend(secrets::check(server, env));
    checks.extend(pass_env::check(server, env));
    checks
}

/// Checks whether the program exists.
fn start(server: &Server, starts: &StartChecker<'_>, env: &Env) -> Check {
    let name = server.definition.name.as_str();
    match starts.check(server) {
        StartCheck::Ready | StartCheck::FolderNotFound(_) => {
            let command = server.definition.fields.command.as_ref();
            let command = command.map_or("", |command| command.text.as_str());
            Check::passed(name, format!("found `{command}`"))
        }
        StartCheck::UrlConfigured => {
            let url = server.definition.fields.render_url().unwrap_or_default();
            Check::passed(name, format!("has the address {url}"))
        }
        StartCheck::ProgramNotFound(command)
            if server.definition.source.level == Level::Builtin =>
        {
            Check::note(name, format!("`{command}` not found, so this default is not available"))
                .hint(format!("install `{command}`, or add servers of your own: `wharf add`"))
        }
        StartCheck::ProgramNotFound(command) => {
            let usual = || format!("install `{command}`, or give its full path in \"command\"");
            let hint = windows_commands::missing_program_hint(&command, env);
            Check::failed(name, format!("`{command}` not found")).hint(hint.unwrap_or_else(usual))
        }
    }
}

/// Checks whether the working folder exists.
fn folder(server: &Server, starts: &StartChecker<'_>) -> Option<Check> {
    let name = server.definition.name.as_str();
    let missing = starts.missing_folder(server)?;
    let check = Check::failed(name, format!("the folder in \"cwd\" does not exist: {missing}"));
    Some(check.hint("create it, or correct \"cwd\""))
}

fn problems(server: &Server, env: &Env) -> Vec<Check> {
    let to_check = |problem: &Problem| {
        let name = server.definition.name.as_str();
        let place = phrase::place(&server.definition.source, problem.line.unwrap_or(0), env);
        let message = match problem.line {
            Some(_) => format!("{} ({place})", problem.message),
            None => problem.message.clone(),
        };
        let breaks = problem.is_error() || BREAKING.contains(&problem.code);
        let check = if breaks { Check::failed(name, message) } else { Check::note(name, message) };
        Check { hint: problem.hint.clone(), ..check }
    };
    server.problems.iter().map(to_check).collect()
}

/// Reports secrets that are sent without encryption.
fn plain_http(server: &Server) -> Option<Check> {
    let spec = server.spec.as_ref()?;
    let (Transport::Http(endpoint) | Transport::Sse(endpoint)) = &spec.transport else {
        return None;
    };
    let sends_secrets = !endpoint.headers.is_empty() || spec.auth.is_some();
    (sends_secrets && endpoint.url.is_unencrypted_remote()).then(|| {
        Check::failed(
            server.definition.name.as_str(),
            "sends headers or a credential over plain http, where others can read them",
        )
        .hint("use an https:// address")
    })
}

/// Checks whether the credential that an entry refers to exists, and whether a stored one is still
/// valid.
fn stored_credential(server: &Server, credentials: Option<&ServerCredentials>) -> Option<Check> {
    let name = server.definition.name.as_str();
    let word = phrase::word(name);
    match credentials?.find(server) {
        None if credential_id(server).is_some() => Some(
            Check::failed(name, "the stored credential that its entry refers to is missing")
                .hint(format!("store it again: `wharf add {word} --token -`")),
        ),
        None => None,
        Some(found) if is_expired(found, SystemTime::now()) => Some(
            Check::failed(name, "its sign-in has expired").hint(format!("`wharf login {word}`")),
        ),
        Some(found) => found
            .is_oauth
            .then(|| Check::passed(name, format!("is {}", describe(found, SystemTime::now())))),
    }
}

/// Returns the id of the stored credential that an entry refers to.
pub(super) fn credential_id(server: &Server) -> Option<&str> {
    server.definition.fields.auth.as_ref()?.credential_id.as_deref()
}
