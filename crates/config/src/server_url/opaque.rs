//! Addresses in a build without the feature `http`: texts that are checked for errors, but not
//! parsed. They are compared as text and never shown.
//!
//! No server is contacted over HTTP in such a build, so nobody needs to know the host. It is not
//! shown either: without a parser, the text that looks like the host may be another part.

use std::fmt;

use super::error::{ServerUrlError, check_characters};
use super::secrets::{SecretParts, may_contain_address};
use super::written::{BRACES, redact_default, with_pieces};
use crate::expand::Piece;
use crate::secret::{REDACTED, Secret};
use crate::server::WrittenText;

/// The address of a server after expansion. This build was made without the feature `http` and
/// cannot contact it. `Display` shows only its scheme and, if a placeholder has no value, its
/// placeholders.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ServerUrl {
    text: Secret,
    redacted: String,
}

impl std::str::FromStr for ServerUrl {
    type Err = ServerUrlError;

    /// Checks an address for the most frequent errors; surrounding white space is ignored.
    fn from_str(text: &str) -> Result<Self, ServerUrlError> {
        let text = text.trim();
        check_characters(text)?;
        let (scheme, rest) = text.split_once(':').ok_or(ServerUrlError::Scheme)?;
        match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" if !begins_with_host(rest) => return Err(ServerUrlError::NoHost),
            "unix" if !rest.strip_prefix("//").unwrap_or(rest).starts_with('/') => {
                return Err(ServerUrlError::SocketPath);
            }
            "http" | "https" | "unix" => {}
            "ws" | "wss" => return Err(ServerUrlError::WebSocket),
            _ => return Err(ServerUrlError::Scheme),
        }
        Ok(Self { text: Secret::new(text), redacted: redact_pieces(&[Piece::Text(text)]) })
    }
}

fn begins_with_host(rest: &str) -> bool {
    let host = rest.strip_prefix("//").unwrap_or_default();
    !host.is_empty() && !host.starts_with(['/', '?', '#', ':'])
}

impl ServerUrl {
    /// Makes an address in which a placeholder has no value.
    pub(crate) fn incomplete(text: &str, written: &WrittenText) -> Self {
        Self { text: Secret::new(text), redacted: render_written(written) }
    }

    /// Returns none: credentials are bound to parsed addresses.
    pub fn resource(&self) -> Option<String> {
        None
    }

    /// Returns the whole address as written, with its secrets.
    pub fn expose(&self) -> String {
        self.text.expose().to_owned()
    }

    /// Returns none: only a parser knows the host.
    pub fn host(&self) -> Option<&str> {
        None
    }

    /// Returns none: only a parser knows the query.
    pub fn query_value(&self, _name: &str) -> Option<String> {
        None
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redacted)
    }
}

/// Redacts everything: variables may have put secrets anywhere.
impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// Renders the `url` of an entry: its scheme and its placeholders.
pub(crate) fn render_written(written: &WrittenText) -> String {
    with_pieces(written, redact_pieces)
}

/// Redacts an address in a text that is not the `url` of a server, such as an argument, if it may
/// have a secret: everything except its scheme and its placeholders. Other texts are returned
/// unchanged.
pub fn redact_url(text: &str) -> String {
    let written = WrittenText { text: text.to_owned(), syntax: BRACES };
    with_pieces(&written, |pieces| {
        let literals = pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Placeholder(..) => "x",
        });
        let literals: String = literals.collect();
        let has_value = |fragment: &str| fragment.contains('=');
        let has_token = literals.contains("//")
            && literals.split_once('#').is_some_and(|(_, fragment)| has_value(fragment));
        if has_token || may_contain_address(&literals) {
            redact_pieces(pieces)
        } else {
            text.to_owned()
        }
    })
}

/// Redacts everything except the scheme and the placeholders.
fn redact_pieces(pieces: &[Piece<'_>]) -> String {
    let mut redacted = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) => {
                let scheme = if index == 0 { scheme_of(text) } else { "" };
                redacted.push_str(scheme);
                if text.trim().len() > scheme.len() {
                    redacted.push_str(REDACTED);
                }
            }
            Piece::Placeholder(whole, placeholder) => {
                redacted.push_str(&redact_default(whole, placeholder));
            }
        }
    }
    redacted
}

/// Returns the scheme at the beginning of a text with the slashes after it: `jdbc:mysql://`.
fn scheme_of(text: &str) -> &str {
    let text = text.trim();
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | ':');
    match text.split_once("://") {
        Some((scheme, rest)) if scheme.chars().all(is_scheme) => &text[..text.len() - rest.len()],
        _ => "",
    }
}

/// Returns the parts of an address that may be secrets. They are only redacted in other texts, so
/// a wrong split is not a danger: a text that is ambiguous is redacted as a whole.
pub(super) fn secret_parts(text: &str) -> SecretParts {
    let Some((_, rest)) = text.trim().split_once("://") else { return SecretParts::unsplit(text) };
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    // A password with a slash and the like ends before the `@`, and its begin looks like a port.
    let port = host.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.ends_with(']'));
    let is_port = port.is_none_or(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_port && [path, query, fragment].iter().any(|part| part.contains('@')) {
        return SecretParts::unsplit(text);
    }
    SecretParts {
        user: user.to_owned(),
        password: password.to_owned(),
        query: query.to_owned(),
        fragment: fragment.to_owned(),
        whole: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{check_written, credentials_of_url, secrets_of_url};
    use super::*;
    use crate::expand::Syntax;

    fn parse(text: &str) -> Result<ServerUrl, ServerUrlError> {
        text.parse()
    }

    #[test]
    fn only_the_scheme_of_an_address_is_shown() {
        let check = |text: &str, expected: &str| {
            let url = parse(text).unwrap();
            assert_eq!(url.to_string(), expected);
            assert_eq!((format!("{url:?}").as_str(), url.expose().as_str()), ("•••", text.trim()));
        };
        check("https://me:hunter2@a.example/mcp?key=1#x", "https://•••");
        check(" http://a.example ", "http://•••");
        check("unix:///run/a.sock#/mcp", "unix://•••");
        check("unix:/run/a.sock", "•••");
    }

    #[test]
    fn addresses_are_compared_as_text() {
        assert_eq!(parse("https://a.example/ "), parse("https://a.example/"));
        assert_ne!(parse("https://a.example/"), parse("https://a.example"));
        assert_ne!(parse("https://a.example/?k=1"), parse("https://a.example/?k=2"));
    }

    #[test]
    fn addresses_that_the_parser_rejects_are_refused() {
        let check = |text: &str, expected: &str| {
            assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text}");
        };
        check("http://127.0.0.1:1\\@a.example/", "\"url\" must not contain a backslash");
        check("http://a\t.example/", "\"url\" must not contain white space");
        check("http://a\u{202e}.example/", "\"url\" must not contain a control character");
        for text in ["http://", "https:///mcp", "http://?x", "http://:80/x", "https:a/b"] {
            check(text, "\"url\" has no host");
        }
        for text in ["", "a.example/mcp", "ftp://a.example"] {
            check(text, "\"url\" must start with http://, https:// or unix://");
        }
        check("WSS://a.example", "WebSocket is not supported");
        for text in ["unix://run/x.sock", "unix:x"] {
            let error = parse(text).unwrap_err();
            assert_eq!(error, ServerUrlError::SocketPath);
        }
    }

    #[test]
    fn placeholders_are_shown_and_everything_else_is_redacted() {
        let check = |text: &str, expected: &str| {
            let syntax = Syntax::BRACED | Syntax::ENV_COLON;
            let written = WrittenText { text: text.to_owned(), syntax };
            assert_eq!(render_written(&written), expected, "{text}");
            assert_eq!(check_written(&written), Ok(()));
        };
        check("https://${HOST}:${PORT}/mcp", "https://${HOST}•••${PORT}•••");
        check("https://me:${P:-hunter2}@a.example/", "https://•••${P:-•••}•••");
        check("${BASE}/mcp", "${BASE}•••");
        let written = |text: &str| WrittenText { text: text.to_owned(), syntax: Syntax::BRACED };
        assert!(check_written(&written("https://a.example\\${X}")).is_err());
        let incomplete = ServerUrl::incomplete("https://a.example/", &written("https://${HOST}/"));
        assert_eq!(incomplete.to_string(), "https://${HOST}•••");
    }

    #[test]
    fn other_addresses_are_redacted_only_if_they_may_have_a_secret() {
        let cases = [
            ("https://H.example/", "https://H.example/"),
            ("https://u:p@h/x?k=1", "https://•••"),
            ("jdbc:mysql://me:tiger@db.example/x", "jdbc:mysql://•••"),
            ("https://a.example/#token=abc", "https://•••"),
            ("https://h/?k=${KEY}&l=1", "https://•••${KEY}•••"),
            ("https://${HOST}/x", "https://${HOST}/x"),
            ("//user:abc@a.example/x", "•••"),
            ("not a url", "not a url"),
            ("me@host:8080", "me@host:8080"),
            ("C:\\tools\\x.exe", "C:\\tools\\x.exe"),
        ];
        for (text, expected) in cases {
            assert_eq!(redact_url(text), expected, "{text}");
        }
    }

    #[test]
    fn the_secrets_of_an_address_are_found_without_a_parser() {
        let secrets = secrets_of_url("https://me:ti%20ger@a.example/x?k=s%2B1&flag#t=2");
        for secret in ["me", "ti%20ger", "ti ger", "s%2B1", "s+1", "k=s%2B1&flag", "t=2"] {
            assert!(secrets.iter().any(|own| own == secret), "{secret} in {secrets:?}");
        }
        assert_eq!(secrets_of_url("https://[::1]:80/@scope"), Vec::<String>::new());
        let ambiguous = "postgres://me:ti/ger@db.example/x";
        assert_eq!(secrets_of_url(ambiguous), [ambiguous]);
        let mut credentials = credentials_of_url("jdbc:x://me:p%26s@h/?api_key=a+b&region=eu");
        credentials.sort_unstable();
        assert_eq!(credentials, ["a b", "me:p&s", "p&s"]);
    }
}
