//! Values that must not be seen: a type for them, and how texts that may hold one are shown.
//!
//! Secret are environment and header values, everything that was expanded or resolved, the user
//! and query parts of a URL, and what follows a flag such as `--token`.

use std::fmt;

/// What is shown in place of a secret.
pub const MASK: &str = "•••";

/// A text that no log, error or listing may contain.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text itself, for the one call that sends or stores it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// Words that make a flag or a key the name of a secret.
const SECRET_WORDS: [&str; 12] = [
    "token",
    "apikey",
    "api-key",
    "api_key",
    "password",
    "passwd",
    "secret",
    "credential",
    "auth",
    "bearer",
    "private-key",
    "access-key",
];

/// Tells whether a flag or key names a secret: `--api-key`, `GITHUB_TOKEN`, `clientSecret`.
pub fn names_a_secret(name: &str) -> bool {
    // Asked for every argument of every server, so nothing is allocated here.
    let bytes = name.as_bytes();
    SECRET_WORDS.iter().any(|word| {
        let mut places = bytes.windows(word.len()).enumerate();
        places.any(|(at, part)| part.eq_ignore_ascii_case(word.as_bytes()) && !is_author(bytes, at))
    })
}

/// An author is no authorization.
fn is_author(name: &[u8], at: usize) -> bool {
    let from_here = |word: &str| {
        name[at..].get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    from_here("author") && !from_here("authoriz")
}

/// Shows a URL without its user, password and query.
pub fn mask_url(url: &str) -> String {
    let (before_fragment, fragment) = match url.split_once('#') {
        Some((before, fragment)) => (before, Some(fragment)),
        None => (url, None),
    };
    let (address, query) = match before_fragment.split_once('?') {
        Some((address, query)) => (address, Some(query)),
        None => (before_fragment, None),
    };
    let mut shown = match address.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            match authority.rsplit_once('@') {
                Some((_, host)) => format!("{scheme}://{MASK}@{host}{path}"),
                None => address.to_owned(),
            }
        }
        None => address.to_owned(),
    };
    if query.is_some() {
        shown.push('?');
        shown.push_str(MASK);
    }
    // A Unix socket keeps its path behind the `#`; elsewhere a fragment is not sent at all.
    if let Some(fragment) = fragment {
        shown.push('#');
        shown.push_str(fragment.split_once('?').map_or(fragment, |(path, _)| path));
    }
    shown
}

/// Shows arguments without the values that follow secret-looking flags.
pub fn mask_args<'a>(args: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut shown = Vec::new();
    let mut hide_next = false;
    for arg in args {
        let hide = std::mem::take(&mut hide_next);
        shown.push(match arg.split_once('=') {
            _ if hide && !arg.starts_with('-') => MASK.to_owned(),
            Some((name, _)) if names_a_secret(name) => format!("{name}={MASK}"),
            Some((name, value)) if value.contains("://") => format!("{name}={}", mask_url(value)),
            _ if arg.contains("://") => mask_url(arg),
            // `-H "Authorization: Bearer …"`, as bridges such as mcp-remote take it.
            _ => match arg.split_once(": ") {
                Some((name, _)) if names_a_secret(name) => format!("{name}: {MASK}"),
                _ => {
                    hide_next = arg.starts_with('-') && names_a_secret(arg);
                    arg.to_owned()
                }
            },
        });
    }
    shown
}

/// Shows a command. One that holds a whole command line may hold a secret, too.
pub fn mask_command(command: &str) -> String {
    if command.contains(' ') { mask_args(command.split(' ')).join(" ") } else { command.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_shows_itself() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), MASK);
    }

    #[test]
    fn a_url_is_shown_without_user_and_query() {
        let cases = [
            ("https://a.example/mcp", "https://a.example/mcp"),
            ("https://u:p@a.example/mcp?key=1#x", "https://•••@a.example/mcp?•••#x"),
            ("https://a.example?key=a@b", "https://a.example?•••"),
            ("unix:///run/x.sock#/mcp", "unix:///run/x.sock#/mcp"),
            ("unix:///run/x.sock#/mcp?key=1", "unix:///run/x.sock#/mcp"),
            ("not a url", "not a url"),
        ];
        for (url, shown) in cases {
            assert_eq!(mask_url(url), shown);
        }
    }

    #[test]
    fn a_name_tells_whether_it_is_that_of_a_secret() {
        for name in ["--token", "API_KEY", "clientSecret", "Authorization", "x-auth", "AUTH"] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in ["--author", "AUTHOR_NAME", "path", "", "--verbose"] {
            assert!(!names_a_secret(name), "{name}");
        }
    }

    #[test]
    fn a_command_line_in_place_of_a_command_hides_its_secrets() {
        assert_eq!(mask_command("/opt/my app/run --token abc"), "/opt/my app/run --token •••");
    }

    #[test]
    fn arguments_are_shown_without_what_follows_a_secret_flag() {
        let cases: [(&[&str], &[&str]); 6] = [
            (&["-y", "pkg"], &["-y", "pkg"]),
            (&["--token", "abc", "x"], &["--token", "•••", "x"]),
            (&["--api-key=abc"], &["--api-key=•••"]),
            (&["--token", "--verbose"], &["--token", "--verbose"]),
            (&["--header", "Authorization: Bearer abc"], &["--header", "Authorization: •••"]),
            (&["https://h/sse?key=1"], &["https://h/sse?•••"]),
        ];
        for (args, shown) in cases {
            assert_eq!(mask_args(args.iter().copied()), shown);
        }
    }
}
