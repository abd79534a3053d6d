//! The arguments that describe a server: `--url` or `-- COMMAND`, with headers, variables and a
//! token.
//!
//! `add` writes the server to a file, `call` and `tools` use it once. A token is never part of the
//! entry.

use std::io::Read;

use clap::{Args, ValueEnum};
use wharf_config::Secret;
use wharf_config::edit::{JsonObject, JsonValue};

use super::{Failure, Invocation};
use crate::ui::{Ui, phrase};

/// The longest token that is read from stdin, in bytes.
const LONGEST_TOKEN: u64 = 64 * 1024;

/// The arguments that describe a server.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// The URL of a remote server
    #[arg(long, value_name = "URL", value_hint = clap::ValueHint::Url)]
    pub(crate) url: Option<String>,
    /// The transport of a remote server [default: http]
    #[arg(long, value_name = "KIND")]
    transport: Option<RemoteKind>,
    /// A token for a remote server; `-` asks for it, or reads it from a pipe
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// A header to send to a remote server; can be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    header: Vec<String>,
    /// A variable for a local server; can be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// The command of a local server and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// The transport of a remote server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RemoteKind {
    /// Streamable HTTP
    Http,
    /// HTTP with server-sent events
    Sse,
}

/// A server that was described on the command line.
pub(crate) struct ParsedServer {
    /// The entry, in the format of Wharf's own file.
    pub(crate) entry: JsonValue,
    /// The bearer token.
    pub(crate) token: Option<Secret>,
}

impl ServerArgs {
    /// Reads the arguments; returns `None` if they describe no server. `name` is the server's name
    /// in the prompt for the token.
    pub(crate) fn read(
        &self,
        name: &str,
        invocation: &Invocation,
    ) -> Result<Option<ParsedServer>, Failure> {
        let (entry, bearer) = match (&self.url, self.command.split_first()) {
            (Some(_), Some(_)) => {
                return Err(usage_error(
                    "Use either --url or -- <command...>, not both.",
                    "keep one of them",
                ));
            }
            (None, _) if self.token.is_some() => {
                return Err(usage_error(
                    "--token requires --url (HTTP/SSE transport).",
                    "pass a token to a local server with --env",
                ));
            }
            (Some(url), None) => self.remote(url)?,
            (None, Some((command, rest))) => (self.local(command, rest)?, None),
            (None, None) if !self.header.is_empty() || self.transport.is_some() => {
                return Err(usage_error("--header and --transport require --url", "give the URL"));
            }
            (None, None) if !self.env.is_empty() => {
                return Err(usage_error("--env requires -- <command...>", "give the command"));
            }
            (None, None) => return Ok(None),
        };
        if self.token.is_some() && bearer.is_some() {
            return Err(usage_error(
                "--token and an Authorization header with a token cannot be used together",
                "give one of them",
            ));
        }
        let token = self.token(name, invocation)?.or(bearer);
        Ok(Some(ParsedServer { entry, token }))
    }

    /// Tells whether only a token is given.
    pub(crate) fn has_only_token(&self) -> bool {
        self.token.is_some()
            && self.url.is_none()
            && self.command.is_empty()
            && self.transport.is_none()
            && self.header.is_empty()
            && self.env.is_empty()
    }

    /// Returns the token: from a prompt, from a pipe, or from the argument.
    pub(crate) fn token(
        &self,
        name: &str,
        invocation: &Invocation,
    ) -> Result<Option<Secret>, Failure> {
        Ok(match self.token.as_deref() {
            Some("-") if invocation.ui.is_stdin_terminal => Some(token_from_terminal(name)?),
            Some("-") => Some(token_from_stdin()?),
            Some(token) => Some(token_from_argument(token)?),
            None => None,
        })
    }

    fn local(&self, command: &str, rest: &[String]) -> Result<JsonValue, Failure> {
        if !self.header.is_empty() || self.transport.is_some() {
            return Err(usage_error(
                "--header and --transport require --url",
                "use --env for a local server",
            ));
        }
        let mut entry = JsonObject::new();
        entry.insert("command", command);
        if !rest.is_empty() {
            entry.insert("args", rest.to_vec());
        }
        let env = pairs(&self.env, |word| word.split_once('='), "--env takes NAME=VALUE")?;
        if !env.is_empty() {
            entry.insert("env", env);
        }
        Ok(entry.into())
    }

    /// Returns the entry of a remote server, and the token from an `Authorization` header.
    fn remote(&self, url: &str) -> Result<(JsonValue, Option<Secret>), Failure> {
        if !self.env.is_empty() {
            return Err(usage_error(
                "--env requires -- <command...>",
                "use --header for a remote server",
            ));
        }
        let kind = match self.transport {
            None | Some(RemoteKind::Http) => "http",
            Some(RemoteKind::Sse) => "sse",
        };
        let mut entry = JsonObject::new();
        entry.insert("type", kind);
        entry.insert("url", url);
        let mut headers = pairs(&self.header, split_header, "--header takes NAME=VALUE")?;
        let bearer = take_literal_bearer(&mut headers);
        if !headers.is_empty() {
            entry.insert("headers", headers);
        }
        Ok((entry.into(), bearer))
    }
}

/// Takes a literal bearer token out of the headers, because a token must not be written to a file.
fn take_literal_bearer(headers: &mut JsonObject) -> Option<Secret> {
    let is_authorization = |name: &&String| name.eq_ignore_ascii_case("authorization");
    let name = headers.iter().map(|(name, _)| name).find(is_authorization)?.clone();
    let (scheme, token) = headers.get(&name)?.as_str()?.split_once(' ')?;
    let is_literal = scheme.eq_ignore_ascii_case("bearer") && !token.contains("${");
    let token = is_literal.then(|| Secret::new(token.trim()))?;
    headers.remove(&name);
    Some(token)
}

/// Splits at the first `=` or `:`, because headers are often copied as `Name: value`.
fn split_header(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once(['=', ':'])?;
    Some((name, value.trim()))
}

fn pairs(
    words: &[String],
    split: fn(&str) -> Option<(&str, &str)>,
    message: &'static str,
) -> Result<JsonObject, Failure> {
    let split = |word: &String| {
        let (name, value) = split(word)?;
        let name = name.trim();
        (!name.is_empty()).then(|| (name.to_owned(), JsonValue::from(value)))
    };
    let pairs: Option<JsonObject> = words.iter().map(split).collect();
    pairs.ok_or_else(|| usage_error(message, "write the name, an equals sign and the value"))
}

fn token_from_argument(text: &str) -> Result<Secret, Failure> {
    token(text)
        .ok_or_else(|| usage_error("--token takes one word", "give the token, without spaces"))
}

fn token_from_terminal(name: &str) -> Result<Secret, Failure> {
    let typed = Ui::read_secret(&format!("Token for {}: ", phrase::quoted(name)));
    typed.ok().and_then(|typed| token(typed.expose())).ok_or_else(|| {
        usage_error("no token was typed", "type the token, without spaces, and press Enter")
    })
}

fn token_from_stdin() -> Result<Secret, Failure> {
    let mut text = String::new();
    let mut stdin = std::io::stdin().lock().take(LONGEST_TOKEN);
    let read = stdin.read_to_string(&mut text);
    read.ok().and_then(|_| token(&text)).ok_or_else(|| {
        usage_error(
            "there is no token on the standard input",
            "for example: `printf %s \"$TOKEN\" | wharf add NAME --url URL --token -`",
        )
    })
}

/// Validates a token: it is sent in a header, so it has no white space.
fn token(text: &str) -> Option<Secret> {
    let token = text.trim();
    (!token.is_empty() && !token.contains(char::is_whitespace)).then(|| Secret::new(token))
}

fn usage_error(message: &'static str, hint: &'static str) -> Failure {
    Failure::Usage { message, hint }
}
