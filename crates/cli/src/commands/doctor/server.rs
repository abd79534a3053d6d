//! Looks at one server: whether it could start, and whether it would get what it needs.

use wharf_config::secret::mask_url;
use wharf_config::{Credentials, Endpoint, Env, Level, Problem, Server, State, Transport};

use super::check::Check;
use super::{pass_env, secrets};
use crate::commands::status::{Launch, look};
use crate::ui::phrase;

/// Codes of warnings because of which a server will probably not work.
const BREAKING: [&str; 4] = ["unset-variable", "needs-input", "unreadable", "out-of-reach"];

/// Checks a server, as far as its state allows.
pub(super) fn check(server: &Server, credentials: &Credentials, env: &Env) -> Vec<Check> {
    let name = server.definition.name.as_str();
    match server.state {
        State::Enabled => check_enabled(server, credentials, env),
        State::Invalid => problems(server, env),
        State::Untrusted => {
            let message = "came with this project and is not trusted, so nothing in it was checked";
            let check =
                Check::note(name, message).hint(format!("wharf trust {}", phrase::word(name)));
            std::iter::once(check).chain(problems(server, env)).collect()
        }
        State::Disabled => {
            let reason = server.reason.as_deref().unwrap_or_default();
            vec![Check::note(name, format!("is off: it is {reason}"))]
        }
        State::Duplicate => {
            let other = server.duplicate_of.as_ref().map_or("", |name| name.as_str());
            vec![
                Check::note(name, format!("is the same server as \"{other}\", which is used"))
                    .hint("to have both: wharf config set discovery.duplicates keep"),
            ]
        }
        State::Native => vec![Check::note(name, "is handled by the session itself")],
        State::Shadowed => vec![
            Check::note(name, "is not used: every definition of it is hidden")
                .hint(format!("wharf explain {}", phrase::word(name))),
        ],
    }
}

fn check_enabled(server: &Server, credentials: &Credentials, env: &Env) -> Vec<Check> {
    let mut checks = vec![start(server, env)];
    checks.extend(cwd(server, env));
    checks.extend(problems(server, env));
    checks.extend(plain_http(server));
    checks.extend(stored_credential(server, credentials));
    checks.extend(secrets::check(server, env));
    checks.extend(pass_env::check(server, env));
    checks
}

/// Looks for the program.
fn start(server: &Server, env: &Env) -> Check {
    let name = server.definition.name.as_str();
    match look(server, env) {
        Launch::Ready => {
            let command = server.definition.fields.command.as_ref();
            let command = command.map_or("", |command| command.text.as_str());
            Check::fine(name, format!("`{command}` is there"))
        }
        Launch::UrlConfigured => {
            let url = server.definition.fields.url.as_ref();
            let url = url.map_or_else(String::new, |url| mask_url(&url.text));
            Check::fine(name, format!("has the address {url}"))
        }
        Launch::NotFound(command) if server.definition.source.level == Level::Builtin => {
            Check::note(name, format!("`{command}` not found, so this default is not available"))
                .hint(format!("install `{command}`, or add servers of your own: wharf add"))
        }
        Launch::NotFound(command) => Check::wrong(name, format!("`{command}` not found"))
            .hint(format!("install `{command}`, or give its full path in \"command\"")),
    }
}

fn cwd(server: &Server, env: &Env) -> Option<Check> {
    let Transport::Stdio(launch) = &server.spec.as_ref()?.transport else { return None };
    let folder = env.path_from(launch.cwd.as_ref()?.expose(), &server.definition.folder);
    // As written: what was expanded may be secret.
    let written = &server.definition.fields.cwd.as_ref()?.text;
    (!folder.is_dir()).then(|| {
        Check::wrong(
            server.definition.name.as_str(),
            format!("the folder in \"cwd\" does not exist: {written}"),
        )
        .hint("create it, or correct \"cwd\"")
    })
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
        let check = if breaks { Check::wrong(name, message) } else { Check::note(name, message) };
        Check { hint: problem.hint.clone(), ..check }
    };
    server.problems.iter().map(to_check).collect()
}

/// Complains about secrets on an open line.
fn plain_http(server: &Server) -> Option<Check> {
    let spec = server.spec.as_ref()?;
    let (Transport::Http(endpoint) | Transport::Sse(endpoint)) = &spec.transport else {
        return None;
    };
    let sends_secrets = !endpoint.headers.is_empty() || spec.auth.is_some();
    (sends_secrets && is_plain_and_far(endpoint)).then(|| {
        Check::wrong(
            server.definition.name.as_str(),
            "sends headers or a credential over plain http, where others can read them",
        )
        .hint("use an https:// address")
    })
}

fn is_plain_and_far(endpoint: &Endpoint) -> bool {
    let url = endpoint.url.expose().trim();
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    if !scheme.eq_ignore_ascii_case("http") {
        return false;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_near = match host.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    };
    !is_near
}

fn stored_credential(server: &Server, credentials: &Credentials) -> Option<Check> {
    let name = server.definition.name.as_str();
    let id = server.definition.fields.auth.as_ref()?.credential_id.as_deref()?;
    match credentials.get(id) {
        Some(_) => None,
        None => Some(
            Check::wrong(name, "the stored credential that its entry refers to is missing").hint(
                format!(
                    "store it again: wharf add {} --url URL --token - --force",
                    phrase::word(name)
                ),
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use wharf_config::Secret;

    use super::*;

    #[test]
    fn only_plain_http_to_another_machine_is_far() {
        let far =
            |url: &str| is_plain_and_far(&Endpoint { url: Secret::new(url), headers: Vec::new() });
        for url in ["http://example.com/mcp", "HTTP://10.0.0.2:80", "http://a@b.example?x"] {
            assert!(far(url), "{url}");
        }
        let near = [
            "https://example.com",
            "http://localhost:3000/mcp",
            "http://127.1.2.3",
            "http://[::1]:8080/",
            "http://app.localhost./",
            "unix:///run/x.sock",
        ];
        for url in near {
            assert!(!far(url), "{url}");
        }
    }
}
