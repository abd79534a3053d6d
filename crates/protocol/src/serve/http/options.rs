//! What can be set about a server on HTTP.

use std::fmt;
use std::time::Duration;

/// How a server on HTTP behaves; the defaults suit one on this machine.
#[derive(Debug, Clone)]
pub struct HttpServerOptions {
    /// The path everything is on.
    pub path: String,
    /// Names of this server that a client may use beside those of the loopback.
    pub hosts: Vec<String>,
    /// Origins that may use the server from a browser, beside those of the loopback.
    pub origins: Vec<String>,
    /// What every request must show, if set.
    pub token: Option<BearerToken>,
    /// The longest body that is read.
    pub body_limit: usize,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
    /// A stream that is silent for so long gets a comment, so that nobody thinks it is dead.
    pub keep_alive: Duration,
    /// What clients are told to wait before they take up a broken stream.
    pub retry: Duration,
    /// A session that nobody uses for so long is over.
    pub session_idle_timeout: Duration,
    /// How many sessions may be open.
    pub max_sessions: usize,
    /// How many calls may be under way.
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

/// A secret that clients must show; it does not show itself.
#[derive(Clone)]
pub struct BearerToken(String);

impl BearerToken {
    /// Takes the secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// Compares without telling by its duration where the first difference is.
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
