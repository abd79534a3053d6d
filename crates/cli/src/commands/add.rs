//! `wharf add`: adds a server from the words of a command line.

use std::io::Read;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use wharf_config::Secret;
use wharf_config::manage::AddRequest;

use super::changed::{self, ScopeWord, scope_or_default};
use super::{Exit, Failure, Invocation};
use crate::ui::{Ui, phrase};

/// How much of a token is read; no token is longer.
const LONGEST_TOKEN: u64 = 64 * 1024;

/// Add a server to one of Wharf's own files
///
/// A local server is given as a command after `--`, a remote one with --url. Without --scope it
/// goes into the project's file, or into yours in the home folder. A token is kept in the
/// credential store, never in the file; with `--token -` it is asked for, or read from the
/// standard input where that is no terminal.
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
    /// A token for a remote server; `-` asks for it, or reads it from a pipe
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
    if args.token.is_some() && bearer.is_some() {
        return Err(usage(
            "--token and an Authorization header with a token cannot be used together",
            "give one of them",
        ));
    }
    let token = match args.token.as_deref() {
        Some("-") if invocation.ui.is_typed => Some(token_from_terminal(&args.name)?),
        Some("-") => Some(token_from_stdin()?),
        Some(token) => Some(token_from_argument(token)?),
        None => bearer,
    };
    let request = AddRequest {
        name: args.name.clone(),
        entry,
        token,
        scope: scope_or_default(args.scope, invocation),
        replace: args.force,
    };
    changed::add(request, invocation)
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
    let env = pairs(&args.env, |word| word.split_once('='), "--env takes NAME=VALUE")?;
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
    let mut headers = pairs(&args.header, split_header, "--header takes NAME=VALUE")?;
    let bearer = take_literal_bearer(&mut headers);
    if !headers.is_empty() {
        entry["headers"] = headers.into();
    }
    Ok((entry, bearer))
}

/// A token that is typed as a header is still a token, and does not go into a file.
fn take_literal_bearer(headers: &mut Map<String, Value>) -> Option<Secret> {
    let name = headers.keys().find(|name| name.eq_ignore_ascii_case("authorization"))?.clone();
    let (scheme, token) = headers.get(&name)?.as_str()?.split_once(' ')?;
    let is_literal = scheme.eq_ignore_ascii_case("bearer") && !token.contains("${");
    let token = is_literal.then(|| Secret::new(token.trim()))?;
    headers.remove(&name);
    Some(token)
}

/// Headers are often copied as `Name: value`. A name has neither sign, a value may have both.
fn split_header(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once(['=', ':'])?;
    Some((name, value.trim()))
}

fn pairs(
    words: &[String],
    split: fn(&str) -> Option<(&str, &str)>,
    message: &'static str,
) -> Result<Map<String, Value>, Failure> {
    let split = |word: &String| {
        let (name, value) = split(word)?;
        let name = name.trim();
        (!name.is_empty()).then(|| (name.to_owned(), Value::from(value)))
    };
    let pairs: Option<Map<String, Value>> = words.iter().map(split).collect();
    pairs.ok_or_else(|| usage(message, "write the name, an equals sign and the value"))
}

fn token_from_argument(text: &str) -> Result<Secret, Failure> {
    token(text).ok_or_else(|| usage("--token takes one word", "give the token, without spaces"))
}

fn token_from_terminal(name: &str) -> Result<Secret, Failure> {
    let typed = Ui::ask_secret(&format!("Token for {}: ", phrase::quoted(name)));
    typed.ok().and_then(|typed| token(typed.expose())).ok_or_else(|| {
        usage("no token was typed", "type the token, without spaces, and press Enter")
    })
}

fn token_from_stdin() -> Result<Secret, Failure> {
    let mut text = String::new();
    let mut stdin = std::io::stdin().lock().take(LONGEST_TOKEN);
    let read = stdin.read_to_string(&mut text);
    read.ok().and_then(|_| token(&text)).ok_or_else(|| {
        usage(
            "there is no token on the standard input",
            "for example: printf %s \"$TOKEN\" | wharf add NAME --url URL --token -",
        )
    })
}

/// A token is sent as one word of a header.
fn token(text: &str) -> Option<Secret> {
    let token = text.trim();
    (!token.is_empty() && !token.contains(char::is_whitespace)).then(|| Secret::new(token))
}

fn usage(message: &'static str, hint: &'static str) -> Failure {
    Failure::Usage { message, hint }
}
