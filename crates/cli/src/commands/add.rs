//! `wharf add`: adds a server from the words of a command line.

use std::io::Read;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use wharf_config::Secret;
use wharf_config::manage::{self, AddRequest};
use wharf_config::secret::names_a_secret;

use super::changed::{ScopeWord, report, scope_or_default};
use super::{Exit, Failure, Invocation};
use crate::ui::phrase;

/// How much of a token is read; no token is longer.
const LONGEST_TOKEN: u64 = 64 * 1024;

/// Add a server to one of Wharf's own files
///
/// A local server is given as a command after `--`, a remote one with --url. Without --scope it
/// goes into the project's file, or into yours in the home folder. A token is kept in the
/// credential store, never in the file; with `--token -` it is read from the standard input.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf add docs -- npx -y @modelcontextprotocol/server-filesystem ~/docs
  wharf add search --scope user --env KEY='${SEARCH_KEY}' -- uvx search-server
  wharf add tickets --url https://tickets.example/mcp --token -
  wharf add old --url https://old.example/sse --transport sse --force")]
pub(crate) struct AddArgs {
    /// The server's name: letters, numbers, dash, underscore and dot
    name: String,
    /// Whose file it goes into [default: the project's]
    #[arg(long, value_name = "SCOPE")]
    scope: Option<ScopeWord>,
    /// The address of a remote server
    #[arg(long, value_name = "URL", value_hint = clap::ValueHint::Url)]
    url: Option<String>,
    /// How a remote server is spoken to [default: http]
    #[arg(long, value_name = "KIND")]
    transport: Option<RemoteKind>,
    /// A token for a remote server; `-` reads it from the standard input
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// A header to send to a remote server; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    header: Vec<String>,
    /// A variable for a local server; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Replace an entry of this name
    #[arg(long)]
    force: bool,
    /// Do not try to reach the server
    #[arg(long)]
    no_probe: bool,
    /// The command of a local server and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// How a remote server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RemoteKind {
    /// Streamable HTTP
    Http,
    /// HTTP with server-sent events
    Sse,
}

/// Adds a server.
pub(crate) fn run(args: &AddArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let (entry, bearer) = match (&args.url, args.command.split_first()) {
        (Some(_), Some(_)) => {
            return Err(usage(
                "Use either --url or -- <command...>, not both.",
                "keep one of them",
            ));
        }
        (None, _) if args.token.is_some() => {
            return Err(usage(
                "--token requires --url (HTTP/SSE transport).",
                "pass a token to a local server with --env",
            ));
        }
        (Some(url), None) => remote(url, args)?,
        (None, Some((command, rest))) => (local(command, rest, args)?, None),
        (None, None) => {
            return Err(usage(
                "what to add is missing",
                "give --url URL for a remote server, or -- COMMAND… for a local one",
            ));
        }
    };
    warn_of_literals(&entry, invocation);
    let token = match args.token.as_deref() {
        Some("-") => Some(token_from_stdin()?),
        Some(token) => Some(Secret::new(token)),
        None => bearer,
    };
    let request = AddRequest {
        name: args.name.clone(),
        entry,
        token,
        scope: scope_or_default(args.scope, invocation),
        replace: args.force,
    };
    report(&args.name, manage::add(&invocation.env, request), invocation)
}

fn local(command: &str, rest: &[String], args: &AddArgs) -> Result<Value, Failure> {
    if !args.header.is_empty() || args.transport.is_some() {
        return Err(usage(
            "--header and --transport require --url",
            "use --env for a local server",
        ));
    }
    let mut entry = Map::new();
    entry.insert("command".to_owned(), command.into());
    if !rest.is_empty() {
        entry.insert("args".to_owned(), json!(rest));
    }
    let env = pairs(&args.env, "--env takes NAME=VALUE")?;
    if !env.is_empty() {
        entry.insert("env".to_owned(), env.into());
    }
    Ok(Value::Object(entry))
}

/// Returns the entry of a remote server, and the token if it was given as a header.
fn remote(url: &str, args: &AddArgs) -> Result<(Value, Option<Secret>), Failure> {
    if !args.env.is_empty() {
        return Err(usage("--env requires -- <command...>", "use --header for a remote server"));
    }
    let kind = match args.transport {
        None | Some(RemoteKind::Http) => "http",
        Some(RemoteKind::Sse) => "sse",
    };
    let mut entry = json!({ "type": kind, "url": url });
    let mut headers = pairs(&args.header, "--header takes NAME=VALUE")?;
    let bearer = take_literal_bearer(&mut headers);
    if !headers.is_empty() {
        entry["headers"] = headers.into();
    }
    Ok((entry, bearer))
}

/// A token that is typed as a header is still a token, and does not go into a file.
fn take_literal_bearer(headers: &mut Map<String, Value>) -> Option<Secret> {
    let name = headers.keys().find(|name| name.eq_ignore_ascii_case("authorization"))?.clone();
    let token = headers.get(&name)?.as_str()?.strip_prefix("Bearer ")?;
    let token = (!token.contains("${")).then(|| Secret::new(token))?;
    headers.remove(&name);
    Some(token)
}

fn pairs(words: &[String], message: &'static str) -> Result<Map<String, Value>, Failure> {
    let split = |word: &String| {
        let (name, value) = word.split_once('=').or_else(|| word.split_once(": "))?;
        let name = name.trim();
        (!name.is_empty()).then(|| (name.to_owned(), Value::from(value)))
    };
    let pairs: Option<Map<String, Value>> = words.iter().map(split).collect();
    pairs.ok_or_else(|| usage(message, "write the name, an equals sign and the value"))
}

/// What looks like a secret and is no placeholder will stand in the file for all to read.
fn warn_of_literals(entry: &Value, invocation: &Invocation) {
    for group in ["env", "headers"] {
        for (name, value) in entry.get(group).and_then(Value::as_object).into_iter().flatten() {
            let text = value.as_str().unwrap_or_default();
            let is_literal = !text.contains("${")
                && !text.starts_with('!')
                && invocation.env.filled_variable(text).is_none();
            if names_a_secret(name) && is_literal {
                let name = phrase::name(name);
                invocation.ui.hint(&format!(
                    "the value of {name} stands in the file as it is; \
                     '${{{name}}}' would take it from the environment"
                ));
            }
        }
    }
}

fn token_from_stdin() -> Result<Secret, Failure> {
    let mut text = String::new();
    let mut stdin = std::io::stdin().lock().take(LONGEST_TOKEN);
    let read = stdin.read_to_string(&mut text);
    let token = text.trim();
    if read.is_err() || token.is_empty() || token.contains(char::is_whitespace) {
        return Err(usage(
            "there is no token on the standard input",
            "for example: printf %s \"$TOKEN\" | wharf add NAME --url URL --token -",
        ));
    }
    Ok(Secret::new(token))
}

fn usage(message: &'static str, hint: &'static str) -> Failure {
    Failure::Usage { message, hint }
}
