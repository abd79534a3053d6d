//! Reads the `WWW-Authenticate` headers of a 401 or 403.
//!
//! Lenient: a header that is not understood is skipped, because the well-known addresses are left.

use http::HeaderValue;

use super::options::valid_scopes;

/// How many characters of headers are read.
const MAX_HEADER: usize = 16 << 10;

/// What a challenge says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ChallengeInfo {
    /// The address of the metadata of the server.
    pub(super) resource_metadata: Option<String>,
    /// The scopes that the request needs.
    pub(super) scopes: Vec<String>,
    /// The error code.
    pub(super) error: Option<String>,
    /// Whether the server wants proofs of possession.
    pub(super) wants_dpop: bool,
}

impl ChallengeInfo {
    /// Reads the headers; the first scheme with parameters that are understood is used.
    pub(super) fn read(headers: &[HeaderValue]) -> Self {
        let mut info = Self::default();
        for header in headers {
            let text = String::from_utf8_lossy(header.as_bytes());
            let text: String = text.chars().take(MAX_HEADER).collect();
            for (scheme, parameters) in split(&text) {
                info.add(&scheme, parameters);
            }
        }
        info
    }

    /// Tells whether the token is fine but lacks scopes.
    pub(super) fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    fn add(&mut self, scheme: &str, parameters: Vec<(String, String)>) {
        let is_dpop = scheme.eq_ignore_ascii_case("dpop");
        if !is_dpop && !scheme.eq_ignore_ascii_case("bearer") {
            return;
        }
        self.wants_dpop |= is_dpop;
        for (name, value) in parameters {
            match &*name.to_ascii_lowercase() {
                "resource_metadata" if self.resource_metadata.is_none() => {
                    self.resource_metadata = Some(value);
                }
                "scope" if self.scopes.is_empty() => {
                    self.scopes = valid_scopes(value.split_ascii_whitespace());
                }
                "error" if self.error.is_none() => self.error = Some(value),
                _ => {}
            }
        }
    }
}

/// Splits a header into schemes and their parameters.
fn split(text: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut challenges: Vec<(String, Vec<(String, String)>)> = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let Some(word) = take_word(&mut rest) else { return challenges };
        let after = rest.trim_start();
        if let Some(value) = after.strip_prefix('=') {
            rest = value.trim_start();
            let value = take_value(&mut rest);
            if let Some((_, parameters)) = challenges.last_mut() {
                parameters.push((word, value));
            }
        } else {
            challenges.push((word, Vec::new()));
        }
    }
}

fn take_word(rest: &mut &str) -> Option<String> {
    let end = rest.find([' ', '\t', ',', '=', '"']).unwrap_or(rest.len());
    if end == 0 {
        // A character that starts nothing.
        let mut characters = rest.chars();
        characters.next()?;
        *rest = characters.as_str();
        return Some(String::new());
    }
    let (word, after) = rest.split_at(end);
    *rest = after;
    Some(word.to_owned())
}

fn take_value(rest: &mut &str) -> String {
    let Some(quoted) = rest.strip_prefix('"') else {
        return take_word(rest).unwrap_or_default();
    };
    let (mut value, mut is_escaped) = (String::new(), false);
    for (at, character) in quoted.char_indices() {
        match character {
            _ if is_escaped => {
                value.push(character);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '"' => {
                *rest = quoted.get(at + 1..).unwrap_or_default();
                return value;
            }
            _ => value.push(character),
        }
    }
    *rest = "";
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(headers: &[&str]) -> ChallengeInfo {
        let headers: Vec<_> =
            headers.iter().map(|text| HeaderValue::from_str(text).unwrap()).collect();
        ChallengeInfo::read(&headers)
    }

    #[test]
    fn parameters_are_read_in_every_notation() {
        let expected = ChallengeInfo {
            resource_metadata: Some("https://a.example/m".to_owned()),
            scopes: vec!["a".to_owned(), "b".to_owned()],
            error: Some("invalid_token".to_owned()),
            wants_dpop: false,
        };
        let one =
            r#"Bearer error="invalid_token", scope="a b", resource_metadata="https://a.example/m""#;
        assert_eq!(read(&[one]), expected);
        let two = r#"bearer  ERROR = invalid_token ,scope="a b""#;
        let three =
            r#"Basic realm="x, Bearer scope=no", Bearer resource_metadata="https://a.example/m""#;
        assert_eq!(read(&[two, three]), expected);
    }

    #[test]
    fn the_scheme_says_whether_proofs_are_wanted() {
        assert!(read(&["DPoP algs=\"ES256\", scope=\"a\""]).wants_dpop);
        assert!(read(&["Bearer", "DPoP"]).wants_dpop);
        assert!(!read(&["Bearer realm=\"DPoP\""]).wants_dpop);
    }

    #[test]
    fn a_header_that_is_not_ascii_is_read() {
        let header = HeaderValue::from_bytes(b"Bearer scope=\"l\xc3\xa4s read\", error=\"e\xff\"");
        let info = ChallengeInfo::read(&[header.unwrap()]);
        assert_eq!(info.scopes, ["read"]);
        assert!(info.error.is_some());
    }

    #[test]
    fn odd_headers_are_read_to_their_end() {
        for odd in ["", ",,,", "\"", "=", "==\"", "Bearer scope=\"a\\", "Bearer =x", "a=\"b\"c"] {
            assert_eq!(read(&[odd]).resource_metadata, None);
        }
        assert_eq!(read(&["Bearer error=\"a\\\"b\""]).error.as_deref(), Some("a\"b"));
    }

    #[test]
    fn scopes_are_checked_and_bounded() {
        let long = format!("Bearer scope=\"a b\\\"c {}\"", "s ".repeat(3000));
        let scopes = read(&[&long]).scopes;
        assert_eq!(scopes.first().map(String::as_str), Some("a"));
        assert!(scopes.len() < 2100 && !scopes.iter().any(|scope| scope.contains('"')));
    }
}
