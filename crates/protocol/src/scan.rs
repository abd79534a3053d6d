//! Scans JSON text: finds where a value ends, and the members of an object, without decoding.
//!
//! Every byte from a server is scanned at least once to find the end of its message, so this is the
//! hot path for large responses. Most of a large response is strings, which are scanned many bytes
//! at a time. The scanner validates: for text that is not valid JSON it finds no end.
//! `docs/decisions/0008-json-scanner.md` explains why serde does not do this.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

/// How many bytes of a string are scanned together.
const BLOCK: usize = 32;

/// Iterates over the members of an object: the quoted key and the text of the value.
///
/// Ends early where the text is not valid JSON; see [`JsonCursor::is_complete`].
pub(crate) fn members(object: &str) -> JsonCursor<'_> {
    JsonCursor::new(object, b'{')
}

/// Iterates over the items of an array; the key is empty.
pub(crate) fn items(array: &str) -> JsonCursor<'_> {
    JsonCursor::new(array, b'[')
}

/// Returns the text of the value for `key`; of several, the last.
pub(crate) fn member<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    members(object).filter(|(name, _)| is_key(name, key)).last().map(|(_, value)| value)
}

/// Finds several members in one pass; of equal keys the last counts. A value that is not an object
/// has no members.
pub(crate) fn find<'a, const N: usize>(text: &'a str, keys: [&str; N]) -> [Option<&'a str>; N] {
    let mut found = [None; N];
    for (written, value) in members(text) {
        if let Some(index) = keys.iter().position(|key| is_key(written, key)) {
            found[index] = Some(value);
        }
    }
    found
}

/// Tells whether the quoted and possibly escaped `name` is equal to `key`.
pub(crate) fn is_key(name: &str, key: &str) -> bool {
    // An escape is longer than the character it stands for, so only a longer name can have one.
    match name.len().cmp(&(key.len() + 2)) {
        Ordering::Less => false,
        Ordering::Equal => name[1..].starts_with(key),
        Ordering::Greater => {
            memchr::memchr(b'\\', name.as_bytes()).is_some()
                && decode_string(name).is_some_and(|name| name == key)
        }
    }
}

/// Returns the text without surrounding white space if it is exactly one JSON value.
pub(crate) fn single_value(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let start = skip_space(bytes, 0);
    let end = value_end(bytes, start)?;
    (skip_space(bytes, end) == bytes.len()).then(|| &text[start..end])
}

/// Decodes a JSON string; borrowed if nothing is escaped.
///
/// A lone surrogate is replaced with �, so that it does not make the whole string unreadable.
pub(crate) fn decode_string(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    if let Ok(text) = serde_json::from_str::<String>(raw) {
        return Some(Cow::Owned(text));
    }
    let Wtf8Bytes(bytes) = serde_json::from_str(raw).ok()?;
    Some(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The bytes of a string that may contain lone surrogates (WTF-8).
struct Wtf8Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Wtf8Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BytesVisitor;

        impl Visitor<'_> for BytesVisitor {
            type Value = Wtf8Bytes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Wtf8Bytes(bytes.to_vec()))
            }
        }

        deserializer.deserialize_bytes(BytesVisitor)
    }
}

/// A cursor over the outermost level of an object or an array.
pub(crate) struct JsonCursor<'a> {
    text: &'a str,
    at: usize,
    is_object: bool,
    state: CursorState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CursorState {
    First,
    Later,
    Complete,
    Broken,
}

impl<'a> JsonCursor<'a> {
    fn new(text: &'a str, open: u8) -> Self {
        let at = skip_space(text.as_bytes(), 0);
        let is_open = text.as_bytes().get(at) == Some(&open);
        let state = if is_open { CursorState::First } else { CursorState::Broken };
        Self { text, at: at + 1, is_object: open == b'{', state }
    }

    /// Tells whether the end was reached, with only white space after it.
    pub(crate) fn is_complete(&self) -> bool {
        self.state == CursorState::Complete
            && skip_space(self.text.as_bytes(), self.at) == self.text.len()
    }

    /// Moves to the next value and returns its key.
    ///
    /// The caller must call [`JsonCursor::value`] or [`JsonCursor::enter`] next.
    pub(crate) fn next_key(&mut self) -> Option<&'a str> {
        if matches!(self.state, CursorState::Complete | CursorState::Broken) {
            return None;
        }
        let found = self.find_key();
        if found.is_none() && self.state != CursorState::Complete {
            self.state = CursorState::Broken;
        }
        found
    }

    fn find_key(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let close = if self.is_object { b'}' } else { b']' };
        let mut at = skip_space(bytes, self.at);
        if bytes.get(at) == Some(&close) {
            self.at = at + 1;
            self.state = CursorState::Complete;
            return None;
        }
        if self.state == CursorState::Later {
            at = skip_space(bytes, skip_byte(bytes, at, b',')?);
        }
        self.state = CursorState::Later;
        if !self.is_object {
            self.at = at;
            return Some("");
        }
        let key_end = string_end(bytes, at)?;
        let colon = skip_space(bytes, key_end);
        self.at = skip_space(bytes, skip_byte(bytes, colon, b':')?);
        Some(&self.text[at..key_end])
    }

    /// Returns the value after the last key.
    pub(crate) fn value(&mut self) -> Option<&'a str> {
        let start = self.at;
        let Some(end) = value_end(self.text.as_bytes(), start) else {
            self.state = CursorState::Broken;
            return None;
        };
        self.at = end;
        Some(&self.text[start..end])
    }

    /// Returns a cursor over the value after the last key, if that value begins with `open`.
    ///
    /// The caller must call [`JsonCursor::leave`] next.
    pub(crate) fn enter(&self, open: u8) -> Option<Self> {
        let is_open = self.text.as_bytes().get(self.at) == Some(&open);
        let (text, at) = (self.text, self.at + 1);
        is_open.then_some(Self { text, at, is_object: open == b'{', state: CursorState::First })
    }

    /// Continues after a value that `inner` has read to its end, and returns that value.
    pub(crate) fn leave(&mut self, inner: &Self) -> Option<&'a str> {
        let start = std::mem::replace(&mut self.at, inner.at);
        if inner.state != CursorState::Complete {
            self.state = CursorState::Broken;
            return None;
        }
        Some(&self.text[start..inner.at])
    }
}

impl<'a> Iterator for JsonCursor<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.next_key()?;
        Some((key, self.value()?))
    }
}

/// The brackets around the current value: one bit per level, innermost last.
///
/// Most texts need only one word.
#[derive(Default)]
struct Nesting {
    inner: u64,
    outer: Vec<u64>,
    depth: usize,
}

impl Nesting {
    fn push(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.inner);
        }
        self.inner = (self.inner << 1) | u64::from(is_object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.inner >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.inner = self.outer.pop().unwrap_or_default();
        }
    }

    /// Tells whether the innermost level is an object; `None` if there is no level.
    fn is_object(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.inner & 1 == 1)
    }
}

/// Returns where the value that begins at `at` ends; `None` if it is not valid JSON.
fn value_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut nesting = Nesting::default();
    loop {
        at = skip_space(bytes, at);
        match *bytes.get(at)? {
            b'"' => at = string_end(bytes, at)?,
            open @ (b'{' | b'[') => {
                let is_object = open == b'{';
                at = skip_space(bytes, at + 1);
                if bytes.get(at) == Some(if is_object { &b'}' } else { &b']' }) {
                    at += 1;
                } else {
                    nesting.push(is_object);
                    if is_object {
                        at = key_end(bytes, at)?;
                    }
                    continue;
                }
            }
            b'-' | b'0'..=b'9' => at = number_end(bytes, at)?,
            b't' => at = literal_end(bytes, at, b"true")?,
            b'f' => at = literal_end(bytes, at, b"false")?,
            b'n' => at = literal_end(bytes, at, b"null")?,
            _ => return None,
        }
        match skip_after_value(bytes, at, &mut nesting)? {
            AfterValue::End(end) => return Some(end),
            AfterValue::Next(next) => at = next,
        }
    }
}

enum AfterValue {
    /// All levels are closed; the outermost value ends here.
    End(usize),
    /// The next value begins here.
    Next(usize),
}

/// Skips what may follow a value (closing brackets, comma, key) up to the next value.
fn skip_after_value(bytes: &[u8], mut at: usize, nesting: &mut Nesting) -> Option<AfterValue> {
    loop {
        let Some(is_object) = nesting.is_object() else { return Some(AfterValue::End(at)) };
        at = skip_space(bytes, at);
        match (*bytes.get(at)?, is_object) {
            (b',', true) => return key_end(bytes, skip_space(bytes, at + 1)).map(AfterValue::Next),
            (b',', false) => return Some(AfterValue::Next(at + 1)),
            (b'}', true) | (b']', false) => {
                nesting.pop();
                at += 1;
            }
            _ => return None,
        }
    }
}

/// Returns where a key and its colon end.
fn key_end(bytes: &[u8], at: usize) -> Option<usize> {
    let end = string_end(bytes, at)?;
    skip_byte(bytes, skip_space(bytes, end), b':')
}

/// Returns where a string ends, after its closing quote.
///
/// Most strings are keys and other short words, so the first bytes are checked before the loop over
/// blocks.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = skip_byte(bytes, at, b'"')?;
    for _ in 0..2 {
        let Some(eight) = bytes.get(at..at + 8) else { return bytewise_end(bytes, at) };
        let special = special_bytes(u64::from_le_bytes(eight.try_into().ok()?));
        if special == 0 {
            at += 8;
            continue;
        }
        at += (special.trailing_zeros() / 8) as usize;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        break;
    }
    long_string_end(bytes, at)
}

/// Returns where the string that continues at `at` ends.
///
/// The position of the next block does not depend on the content of this one, so that the processor
/// can work on both at the same time.
fn long_string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    // The end of the last escape, which may be in the next block.
    let mut passed = at;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        let marks = special_marks(block);
        if marks.iter().fold(0, |all, word| all | word) != 0 {
            for (index, mut word) in marks.into_iter().enumerate() {
                while word != 0 {
                    let place = at + index * 8 + (word.trailing_zeros() / 8) as usize;
                    word &= word - 1;
                    if place < passed {
                        continue;
                    }
                    match bytes[place] {
                        b'"' => return Some(place + 1),
                        b'\\' => passed = escape_end(bytes, place)?,
                        // A control character.
                        _ => return None,
                    }
                }
            }
        }
        at += BLOCK;
    }
    bytewise_end(bytes, at.max(passed))
}

/// Returns where the string that continues at `at` ends, byte by byte, near the end of the text.
fn bytewise_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => escape_end(bytes, at)?,
            ..0x20 => return None,
            _ => at + 1,
        };
    }
}

/// Returns where the escape that begins at `at` ends; `None` if it is not valid.
fn escape_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        b'u' => {
            let digits = bytes.get(at + 2..at + 6)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(at + 6)
        }
        _ => None,
    }
}

/// Marks the quotes, backslashes and control characters of a block, each with the lowest bit of its
/// byte.
///
/// The compiler vectorizes this loop; early exits would prevent that.
fn special_marks(block: &[u8; BLOCK]) -> [u64; BLOCK / 8] {
    let mut flags = [0_u8; BLOCK];
    for (flag, &byte) in flags.iter_mut().zip(block) {
        *flag = u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(byte < 0x20);
    }
    let mut words = [0; BLOCK / 8];
    for (word, eight) in words.iter_mut().zip(flags.as_chunks().0) {
        *word = u64::from_le_bytes(*eight);
    }
    words
}

/// Tells whether a text needs no escapes as a JSON string.
pub(crate) fn is_plain(text: &str) -> bool {
    let (eights, rest) = text.as_bytes().as_chunks();
    eights.iter().all(|eight| special_bytes(u64::from_le_bytes(*eight)) == 0)
        && !rest.iter().any(|byte| matches!(byte, b'"' | b'\\' | ..0x20))
}

/// Marks quotes, backslashes and control characters.
///
/// Only the lowest mark, which is the first such character, is exact; the others may be wrong.
fn special_bytes(eight: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xFF;
    const HIGH: u64 = ONES << 7;
    let zeros = |value: u64| value.wrapping_sub(ONES) & !value & HIGH;
    let quotes = zeros(eight ^ (ONES * 0x22));
    let escapes = zeros(eight ^ (ONES * 0x5C));
    let controls = eight.wrapping_sub(ONES * 0x20) & !eight & HIGH;
    quotes | escapes | controls
}

fn number_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    if bytes[at] == b'-' {
        at += 1;
    }
    // JSON does not allow leading zeros.
    at = if bytes.get(at) == Some(&b'0') { at + 1 } else { digits_end(bytes, at)? };
    if bytes.get(at) == Some(&b'.') {
        at = digits_end(bytes, at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(bytes.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        at = digits_end(bytes, at)?;
    }
    (!bytes.get(at).is_some_and(u8::is_ascii_digit)).then_some(at)
}

fn digits_end(bytes: &[u8], at: usize) -> Option<usize> {
    let count = bytes.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then_some(at + count)
}

fn literal_end(bytes: &[u8], at: usize, literal: &[u8]) -> Option<usize> {
    bytes.get(at..)?.starts_with(literal).then_some(at + literal.len())
}

fn skip_byte(bytes: &[u8], at: usize, wanted: u8) -> Option<usize> {
    (bytes.get(at) == Some(&wanted)).then_some(at + 1)
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Members;

    fn check(object: &str, key: &str, expected: Option<&str>) {
        assert_eq!(member(object, key), expected, "{object}");
    }

    #[test]
    fn a_member_is_found_at_the_outermost_level_only() {
        check(r#"{"a":{"b":1},"b":2}"#, "b", Some("2"));
        check(r#"{"a":{"b":1}}"#, "b", None);
        check(r#" { "a" : [ "}" , "\"" ] , "b" : true } "#, "b", Some("true"));
        check(r#"{"a":"b","c":"\\","b":-1.5e3}"#, "b", Some("-1.5e3"));
        check("{}", "b", None);
        check("[1]", "b", None);
        check("", "b", None);
    }

    #[test]
    fn the_last_of_equal_keys_wins_even_if_it_is_escaped() {
        check(r#"{"b":1,"\u0062":2}"#, "b", Some("2"));
    }

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            r#"[a-c"\\{}\[\],: é]{0,6}"#.prop_map(Into::into),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::vec((r#"[a-c"\\{}]{0,3}"#, inner), 0..4).prop_map(|members| {
                    serde_json::Value::Object(members.into_iter().collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_scanner_finds_the_same_members_as_serde(value in any_json(), pretty in any::<bool>()) {
            let text = if pretty {
                serde_json::to_string_pretty(&value).unwrap()
            } else {
                value.to_string()
            };
            let quick: Vec<_> = members(&text)
                .map(|(key, value)| (decode_string(key).unwrap().into_owned(), value.to_owned()))
                .collect();
            let parsed: Vec<_> = Members::of(&text)
                .map(|found| {
                    found.iter().map(|(key, raw)| (key.to_owned(), raw.get().to_owned())).collect()
                })
                .unwrap_or_default();
            prop_assert_eq!(quick, parsed);
        }

        #[test]
        fn no_text_causes_a_panic(text in ".{0,60}") {
            members(&text).for_each(drop);
        }
    }

    /// Texts that are valid or nearly valid JSON.
    fn nearly_json() -> impl Strategy<Value = String> {
        let pieces = prop_oneof![
            "[\\[\\]{},:\" 0-9eE.+\\-\\\\unltrfasabc\t\n]{0,12}",
            Just("\"a\":".to_owned()),
            Just("{\"k\":[1,2.5e3,\"\\u00e9\"]}".to_owned()),
            Just("[{\"a\":{}},[]]".to_owned()),
            Just("null".to_owned()),
            Just("true".to_owned()),
            Just("-0.5".to_owned()),
        ];
        proptest::collection::vec(pieces, 0..6).prop_map(|pieces| pieces.concat())
    }

    /// Strings of several blocks, with escapes and ends at any position; some are invalid.
    fn nearly_a_string() -> impl Strategy<Value = String> {
        let pieces = prop_oneof![
            8 => "[a-zé]{0,40}",
            8 => prop::sample::select(vec!["\\n", "\\\"", "\\\\", "\\u00e9"]).prop_map(str::to_owned),
            1 => prop::sample::select(vec!["\"", "\t", "\\x", "\\u00g9", "\\"]).prop_map(str::to_owned),
        ];
        proptest::collection::vec(pieces, 0..12)
            .prop_map(|pieces| format!("\"{}\"", pieces.concat()))
    }

    #[test]
    fn brackets_are_matched_at_any_depth() {
        let kinds = |depth: usize| (0..depth).map(|level| level % 3 == 0);
        for depth in [1, 63, 64, 65, 128, 129, 1000] {
            let open: String =
                kinds(depth).map(|object| if object { "{\"a\":" } else { "[" }).collect();
            let close: String =
                kinds(depth).rev().map(|object| if object { '}' } else { ']' }).collect();
            assert!(single_value(&format!("{open}1{close}")).is_some(), "{depth}");
            assert!(
                single_value(&format!("{open}1{}", close.replacen(['}', ']'], "", 1))).is_none()
            );
            let wrong: String = kinds(depth).map(|object| if object { '}' } else { ']' }).collect();
            assert_eq!(
                single_value(&format!("{open}1{wrong}")).is_some(),
                wrong == close,
                "{depth}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

        #[test]
        fn the_scanner_accepts_what_serde_accepts(text in nearly_json()) {
            let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).ok();
            prop_assert_eq!(single_value(&text), theirs.map(serde_json::value::RawValue::get));
        }

        #[test]
        fn the_scanner_accepts_the_strings_that_serde_accepts(text in nearly_a_string()) {
            let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).ok();
            prop_assert_eq!(single_value(&text), theirs.map(serde_json::value::RawValue::get));
        }
    }

    #[test]
    fn several_members_are_found_in_one_pass_and_the_last_wins() {
        let [a, b, c] = find(r#"{"x":[{"a":0}],"a":1,"\u0062":2,"a":3}"#, ["a", "b", "c"]);
        assert_eq!((a.unwrap(), b.unwrap()), ("3", "2"));
        assert!(c.is_none());
        assert!(find("[1]", ["a"])[0].is_none());
    }
}
