//! What can be set about a server on HTTP.

use std::fmt;
use std::time::Duration;

/// How a server on HTTP behaves; the defaults suit one on this machine.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The path everything is on.
    pub path: String,
    /// Names of this server that a client may use beside those of the loopback.
    pub hosts: Vec<String>,
    /// Origins that may use the server from a browser, beside those of the loopback.
    pub origins: Vec<String>,
    /// What every request must show, if set.
    pub token: Option<Token>,
    /// The longest body that is read.
    pub body_limit: usize,
    /// How long a body may take to arrive.
    pub body_time: Duration,
    /// A stream that is silent for so long gets a comment, so that nobody thinks it is dead.
    pub keep_alive: Duration,
    /// What clients are told to wait before they take up a broken stream.
    pub retry: Duration,
    /// A session that nobody uses for so long is over.
    pub session_idle: Duration,
    /// How many sessions may be open.
    pub most_sessions: usize,
    /// How many calls may be under way.
    pub most_calls: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            hosts: Vec::new(),
            origins: Vec::new(),
            token: None,
            body_limit: 16 << 20,
            body_time: Duration::from_secs(30),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
            session_idle: Duration::from_secs(60 * 60),
            most_sessions: 1024,
            most_calls: 4096,
        }
    }
}

/// A secret that clients must show; it does not show itself.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Takes the secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// Compares without telling by its duration where the first difference is.
    pub(super) fn is(&self, shown: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), shown.as_bytes());
        let differences = ours.iter().zip(theirs).fold(0_u8, |found, (a, b)| found | (a ^ b));
        ours.len() == theirs.len() && std::hint::black_box(differences) == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_equal_to_itself_only_and_never_shown() {
        let token = Token::new("abc");
        assert!(token.is("abc"));
        for other in ["", "ab", "abd", "abcd", "ABC"] {
            assert!(!token.is(other), "{other}");
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}
