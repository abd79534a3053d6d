//! Redaction of secrets in every text that leaves the program: errors, hints, logs, files on disk.
//!
//! A [`Redactor`] has the secrets of one server. It finds them unchanged and in common encodings:
//! JSON-escaped, percent-encoded, Base64 (`encodings`). Text that arrives in chunks goes through a
//! `RedactedStream`. Values that a server derives from a secret in any other way are not found.

mod encodings;
mod stream;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};

pub(crate) use self::stream::RedactedStream;

/// The replacement for a secret; `wharf-config` has the same one for texts of config files.
pub const REDACTED: &str = "•••";

/// Secrets with fewer characters are not redacted: they occur in every text by chance. They are
/// redacted as parts of longer secrets, such as `Bearer x` or `user:x`.
const MIN_LENGTH: usize = 4;

/// Secrets with fewer characters are redacted only as whole words.
const MIN_SUBSTRING_LENGTH: usize = 8;

/// Each line of a multiline secret, such as a private key, is also a secret if it has at least this
/// many characters.
const MIN_LINE_LENGTH: usize = 16;

/// Finds the secrets of one server; clones share the search automaton.
///
/// ```
/// use wharf_protocol::redact::Redactor;
///
/// let redactor = Redactor::new(["tiger-4711"]);
/// assert_eq!(redactor.redact("no tiger-4711, no dGlnZXItNDcxMQ=="), "no •••, no •••");
/// ```
#[derive(Clone, Default)]
pub struct Redactor(Arc<SecretSet>);

#[derive(Default)]
struct SecretSet {
    secrets: Vec<String>,
    /// Built for the first text: most servers never send a text that must be searched.
    automaton: OnceLock<Option<Automaton>>,
}

/// Finds all encodings of all secrets in one pass.
struct Automaton {
    search: AhoCorasick,
    patterns: Vec<Pattern>,
    longest: usize,
}

struct Pattern {
    text: String,
    /// It matches only as a whole word.
    is_word: bool,
}

impl Redactor {
    /// Creates a redactor for these secrets; secrets that are too short are ignored.
    pub fn new<S: Into<String>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut secrets: Vec<String> = secrets.into_iter().map(Into::into).collect();
        let lines: Vec<String> = secrets
            .iter()
            .flat_map(|secret| secret.lines().skip(usize::from(!secret.contains('\n'))))
            .map(|line| line.trim().to_owned())
            .filter(|line| line.chars().count() >= MIN_LINE_LENGTH)
            .collect();
        secrets.extend(lines);
        secrets.retain(|secret| secret.chars().count() >= MIN_LENGTH);
        secrets.sort_unstable();
        secrets.dedup();
        Self(Arc::new(SecretSet { secrets, automaton: OnceLock::new() }))
    }

    /// Tells whether there are no secrets to find.
    pub fn is_empty(&self) -> bool {
        self.0.secrets.is_empty()
    }

    /// Tells whether a text contains a secret.
    pub fn finds_in(&self, text: &str) -> bool {
        !self.find(text.as_bytes(), None).is_empty()
    }

    /// Returns the text with each secret replaced.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.find(text.as_bytes(), None);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut redacted = String::with_capacity(text.len());
        let mut copied = 0;
        for Range { start, end } in found {
            redacted.push_str(&text[copied..start]);
            redacted.push_str(REDACTED);
            copied = end;
        }
        redacted.push_str(&text[copied..]);
        Cow::Owned(redacted)
    }

    /// Redacts and truncates a text to at most `limit` characters.
    ///
    /// The cost does not depend on the length of the rest.
    pub fn redact_start(&self, text: &str, limit: usize) -> String {
        let end = text.char_indices().nth(limit).map_or(text.len(), |(at, _)| at);
        // Search far enough to find a secret that begins before the cut and ends after it.
        let mut seen = text.len().min(end + self.longest() + 1);
        while !text.is_char_boundary(seen) {
            seen += 1;
        }
        let mut redacted = String::with_capacity(end);
        let mut copied = 0;
        for place in self.find(&text.as_bytes()[..seen], None) {
            if place.start >= end {
                break;
            }
            redacted.push_str(&text[copied..place.start]);
            redacted.push_str(REDACTED);
            copied = place.end;
        }
        redacted.push_str(text.get(copied..end).unwrap_or_default());
        if let Some((at, _)) = redacted.char_indices().nth(limit) {
            redacted.truncate(at);
        }
        redacted
    }

    /// Returns a JSON text with each secret replaced, or `null` if the result is not valid JSON.
    pub fn redact_json<'a>(&self, json: &'a str) -> Cow<'a, str> {
        let redacted = self.redact(json);
        let is_whole = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        match redacted {
            Cow::Owned(text) if !is_whole(&text) => Cow::Borrowed("null"),
            redacted => redacted,
        }
    }

    /// Returns a stream that redacts a text that arrives in chunks.
    pub(crate) fn stream(&self) -> RedactedStream {
        RedactedStream::new(self.clone())
    }

    fn automaton(&self) -> Option<&Automaton> {
        if self.is_empty() {
            return None;
        }
        self.0.automaton.get_or_init(|| Automaton::new(&self.0.secrets)).as_ref()
    }

    fn longest(&self) -> usize {
        self.automaton().map_or(0, |automaton| automaton.longest)
    }

    /// Returns the ranges of the secrets, in order; overlapping ranges are merged.
    ///
    /// `before` is the byte before the text.
    fn find(&self, text: &[u8], before: Option<u8>) -> Vec<Range<usize>> {
        let Some(automaton) = self.automaton() else { return Vec::new() };
        let mut found: Vec<Range<usize>> = automaton
            .search
            .find_overlapping_iter(text)
            .filter(|it| {
                !automaton.patterns[it.pattern()].is_word || is_word(text, it.range(), before)
            })
            .map(|it| it.range())
            .collect();
        found.sort_unstable_by_key(|place| place.start);
        found.dedup_by(|next, last| {
            let is_one = next.start < last.end;
            if is_one {
                last.end = last.end.max(next.end);
            }
            is_one
        });
        found
    }
}

impl Automaton {
    fn new(secrets: &[String]) -> Option<Self> {
        let mut patterns = Vec::new();
        for secret in secrets {
            let is_word = secret.chars().count() < MIN_SUBSTRING_LENGTH;
            patterns
                .extend(encodings::all(secret).into_iter().map(|text| Pattern { text, is_word }));
        }
        // Host names and header names are often repeated in lower case.
        let search = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .build(patterns.iter().map(|pattern| &pattern.text));
        // It fails only if the patterns are too large for the automaton.
        let search = search.inspect_err(|error| tracing::warn!(%error, "too many secrets")).ok()?;
        let longest = patterns.iter().map(|pattern| pattern.text.len()).max().unwrap_or_default();
        Some(Self { search, patterns, longest })
    }
}

/// Tells whether a range of a text is a whole word.
fn is_word(text: &[u8], place: Range<usize>, before: Option<u8>) -> bool {
    let joins =
        |byte: Option<&u8>| byte.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
    let left = place.start.checked_sub(1).map_or(before.as_ref(), |at| text.get(at));
    !joins(left) && !joins(text.get(place.end))
}

/// Prints no secrets.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(secrets: &[&str], text: &str, expected: &str) {
        assert_eq!(Redactor::new(secrets.iter().copied()).redact(text), expected);
    }

    #[test]
    fn each_secret_is_redacted_as_a_whole() {
        let tigers = ["tiger-4711", "tiger-4711-lion", ""];
        check(&tigers, "no tiger-4711 here, nor tiger-4711-lion", "no ••• here, nor •••");
        check(&tigers, "nothing to hide", "nothing to hide");
        check(&tigers, "tiger-4711tiger-4711", "••••••");
        check(&["tiger-4711", "4711-lion"], "a tiger-4711-lion", "a •••");
        check(&["äöäöäöäö"], "an äöäöäöäöäö", "an •••");
        check(&tigers, "https://TIGER-4711.example/", "https://•••.example/");
        check(&[], "tiger", "tiger");
    }

    #[test]
    fn short_secrets_are_found_as_whole_words_and_very_short_ones_are_not() {
        check(
            &["main"],
            "main: the domain, mainly remains, 'main'",
            "•••: the domain, mainly remains, '•••'",
        );
        check(&["abc"], "abc", "abc");
        check(&["abc", "Bearer abc"], "abc Bearer abc", "abc •••");
    }

    #[test]
    fn each_line_of_a_multiline_secret_is_redacted() {
        let key = "-----BEGIN KEY-----\nMIIEvgIBADANBgkqhkiG9w0BAQ\n-----END KEY-----\n";
        check(&[key], "line MIIEvgIBADANBgkqhkiG9w0BAQ of it", "line ••• of it");
    }

    #[test]
    fn truncated_text_shows_no_part_of_a_secret() {
        let redactor = Redactor::new(["tiger-4711", "4711-äöü"]);
        let check = |text: &str, limit: usize, expected: &str| {
            assert_eq!(redactor.redact_start(text, limit), expected);
        };
        check("a tiger-4711 and more", 2, "a ");
        check("a tiger-4711 and more", 3, "a •");
        check("a tiger-4711 and more", 6, "a •••");
        check("a tiger-4711 and more", 14, "a ••• a");
        check("ä tiger-4711-äöü tiger-4711", 20, "ä ••• •••");
        check("a tiger-4711", 99, "a •••");
        let text = "tiger-4711 tiger-4711 4711-äöü tiger-4711-äöü tiger-4711";
        for limit in 0..=text.len() {
            let redacted = redactor.redact_start(text, limit);
            assert!(redacted.chars().all(|it| "• ".contains(it)), "{redacted}");
            assert!(redacted.chars().count() <= limit);
        }
    }

    #[test]
    fn redacted_json_is_valid_json() {
        let redactor = Redactor::new(["nabcdefgh", r#"a","b":"c"#, "tiger-4711"]);
        let check = |json: &str, expected: &str| assert_eq!(redactor.redact_json(json), expected);
        check(r#"{"x":"tiger-4711","y":1.0}"#, r#"{"x":"•••","y":1.0}"#);
        check(r#"{"x":"a\nabcdefgh"}"#, "null");
        check(r#"{"x":"a","b":"c"}"#, r#"{"x":"•••"}"#);
        check(r#"{"x":"a\",\"b\":\"c"}"#, r#"{"x":"•••"}"#);
    }

    #[test]
    fn debug_output_has_no_secrets() {
        assert!(!format!("{:?}", Redactor::new(["tiger-4711"])).contains("tiger"));
    }
}
