//! The target argument: a command to start, or an HTTP address.

use std::io;

/// The server of one run; every connection starts its own copy of the command.
pub enum BenchTarget {
    /// A command with its arguments.
    Command(Vec<String>),
    /// An address.
    Http {
        /// Host name or IP address, and port.
        host: String,
        /// Path and query.
        path: String,
    },
}

impl BenchTarget {
    /// Reads the target from the arguments.
    pub fn read(words: &[&str]) -> io::Result<Self> {
        match words {
            [] => Err(io::Error::other("the target is missing")),
            [url] if url.starts_with("http://") => {
                let rest = &url["http://".len()..];
                let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                let path = if path.is_empty() { "/" } else { path };
                Ok(Self::Http { host: host.to_owned(), path: path.to_owned() })
            }
            words => Ok(Self::Command(words.iter().map(|&word| word.to_owned()).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str], expected: &str) {
        let found = match BenchTarget::read(words).expect("a target") {
            BenchTarget::Command(words) => words.join(" "),
            BenchTarget::Http { host, path } => format!("{host} and {path}"),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_target_is_a_command_or_an_address() {
        check(&["npx", "-y", "http://a/b"], "npx -y http://a/b");
        check(&["http://127.0.0.1:80/mcp"], "127.0.0.1:80 and /mcp");
        check(&["http://127.0.0.1:80"], "127.0.0.1:80 and /");
        assert!(BenchTarget::read(&[]).is_err());
    }
}
