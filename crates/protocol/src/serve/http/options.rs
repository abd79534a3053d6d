//! The options of a server on HTTP: path, access, limits, timeouts.

use std::fmt;
use std::time::Duration;

/// The options of a server on HTTP; the defaults are for local use.
#[derive(Debug, Clone)]
pub struct HttpServerOptions {
    /// The path of the endpoint.
    pub path: String,
    /// Host names that clients may use, in addition to loopback names.
    pub hosts: Vec<String>,
    /// Origins that may send requests from a browser, in addition to loopback origins.
    pub origins: Vec<String>,
    /// The bearer token that every request must have, if set.
    pub token: Option<BearerToken>,
    /// The maximum size of a request body, in bytes.
    pub body_limit: usize,
    /// The timeout for receiving a request body.
    pub body_timeout: Duration,
    /// The interval of keep-alive comments on an idle stream.
    pub keep_alive: Duration,
    /// How long clients should wait before they resume a broken stream.
    pub retry: Duration,
    /// The idle timeout of a session.
    pub session_idle_timeout: Duration,
    /// How many sessions may be open.
    pub max_sessions: usize,
    /// How many calls may run at the same time.
    pub max_calls: usize,
}

impl Default for HttpServerOptions {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            hosts: Vec::new(),
            origins: Vec::new(),
            token: None,
            body_limit: 16 << 20,
            body_timeout: Duration::from_secs(30),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
            session_idle_timeout: Duration::from_secs(60 * 60),
            max_sessions: 1024,
            max_calls: 4096,
        }
    }
}

/// A bearer token; its `Debug` output does not contain it.
#[derive(Clone)]
pub struct BearerToken(String);

impl BearerToken {
    /// Wraps the secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// Compares in constant time, so that the duration does not reveal the first difference.
    pub(super) fn matches(&self, presented: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), presented.as_bytes());
        let differences = ours.iter().zip(theirs).fold(0_u8, |found, (a, b)| found | (a ^ b));
        ours.len() == theirs.len() && std::hint::black_box(differences) == 0
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_matches_only_itself_and_is_not_in_debug_output() {
        let token = BearerToken::new("abc");
        assert!(token.matches("abc"));
        for other in ["", "ab", "abd", "abcd", "ABC"] {
            assert!(!token.matches(other), "{other}");
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}
