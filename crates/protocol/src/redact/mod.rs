//! Replaces secrets in every text that leaves the program: errors, hints, logs, what is kept on
//! disk.
//!
//! A [`Redactor`] knows the secrets of one server. It finds them as they are and in the forms in
//! which programs repeat them: escaped in JSON, percent-encoded, in base64 (`encodings`). Text that
//! comes in pieces goes through a [`RedactedStream`]. What a server computes from a secret in any
//! other way cannot be found.

mod encodings;
mod stream;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};

pub use self::stream::RedactedStream;

/// What stands in place of a secret.
pub const REDACTED: &str = "•••";

/// Secrets with fewer characters are not looked for: every text would be full of them. They are
/// found as parts of longer ones, such as `Bearer x` or `user:x`.
const MIN_LENGTH: usize = 4;

/// Secrets with fewer characters are found only as whole words.
const MIN_SUBSTRING_LENGTH: usize = 8;

/// Lines of a secret with several lines, such as a private key, are secrets of their own from this
/// length on.
const MIN_LINE_LENGTH: usize = 16;

/// Finds the secrets of one server; clones share what they have prepared.
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
    /// Made when the first text comes: most servers never say anything that has to be looked at.
    automaton: OnceLock<Option<Automaton>>,
}

/// All forms of all secrets, ready to be found in one pass.
struct Automaton {
    search: AhoCorasick,
    patterns: Vec<Pattern>,
    longest: usize,
}

struct Pattern {
    text: String,
    /// It counts only between characters that are not part of a word.
    is_word: bool,
}

impl Redactor {
    /// Looks for these secrets; those that are too short to be looked for are left out.
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

    /// Tells whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.0.secrets.is_empty()
    }

    /// Tells whether a text has a secret in it.
    pub fn finds_in(&self, text: &str) -> bool {
        !self.find(text.as_bytes(), None).is_empty()
    }

    /// Returns a text with a mask in place of each secret.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.find(text.as_bytes(), None);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut redacted = String::with_capacity(text.len());
        let mut shown = 0;
        for Range { start, end } in found {
            redacted.push_str(&text[shown..start]);
            redacted.push_str(REDACTED);
            shown = end;
        }
        redacted.push_str(&text[shown..]);
        Cow::Owned(redacted)
    }

    /// Like [`Redactor::redact`], but of a long text only about the first `limit` characters, and
    /// never more. The rest costs nothing, however long it is.
    pub fn redact_start(&self, text: &str, limit: usize) -> String {
        let end = text.char_indices().nth(limit).map_or(text.len(), |(at, _)| at);
        // A secret that begins in what is shown is found as a whole, wherever it ends.
        let mut seen = text.len().min(end + self.longest() + 1);
        while !text.is_char_boundary(seen) {
            seen += 1;
        }
        let mut redacted = String::with_capacity(end);
        let mut shown = 0;
        for place in self.find(&text.as_bytes()[..seen], None) {
            if place.start >= end {
                break;
            }
            redacted.push_str(&text[shown..place.start]);
            redacted.push_str(REDACTED);
            shown = place.end;
        }
        redacted.push_str(text.get(shown..end).unwrap_or_default());
        if let Some((at, _)) = redacted.char_indices().nth(limit) {
            redacted.truncate(at);
        }
        redacted
    }

    /// Returns a JSON text with a mask in place of each secret; one that would not be JSON any more
    /// becomes `null`.
    pub fn redact_json<'a>(&self, json: &'a str) -> Cow<'a, str> {
        let redacted = self.redact(json);
        let is_whole = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        match redacted {
            Cow::Owned(text) if !is_whole(&text) => Cow::Borrowed("null"),
            redacted => redacted,
        }
    }

    /// Begins to redact a text that comes in pieces.
    pub fn stream(&self) -> RedactedStream {
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

    /// Returns where secrets are, in order. Where they overlap it is one place, so that nothing is
    /// left of either. `before` is the byte before the text.
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
        // Names of hosts and of headers come back in small letters.
        let search = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .build(patterns.iter().map(|pattern| &pattern.text));
        // It fails only if there is more text than can be counted.
        let search = search.inspect_err(|error| tracing::warn!(%error, "too many secrets")).ok()?;
        let longest = patterns.iter().map(|pattern| pattern.text.len()).max().unwrap_or_default();
        Some(Self { search, patterns, longest })
    }
}

/// Tells whether a place in a text is a whole word.
fn is_word(text: &[u8], place: Range<usize>, before: Option<u8>) -> bool {
    let joins =
        |byte: Option<&u8>| byte.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
    let left = place.start.checked_sub(1).map_or(before.as_ref(), |at| text.get(at));
    !joins(left) && !joins(text.get(place.end))
}

/// Shows nothing.
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
            let shown = redactor.redact_start(text, limit);
            assert!(shown.chars().all(|it| "• ".contains(it)), "{shown}");
            assert!(shown.chars().count() <= limit);
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
