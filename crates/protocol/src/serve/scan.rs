//! Looks at the outermost members of an object without decoding what is inside them.
//!
//! A result may hold megabytes, and all we want to know is whether it says `resultType`. The text has
//! been checked as JSON before, so finding where a value ends is counting brackets.

use serde_json::value::RawValue;

use crate::Json;
use crate::json::text_of;

/// Goes through the outermost members: the key as JSON text, and the value's text.
pub(crate) fn members(object: &str) -> Walk<'_> {
    let start = object.len() - object.trim_ascii_start().len();
    let at = if object[start..].starts_with('{') { start + 1 } else { object.len() };
    Walk { text: object, at }
}

/// Returns the text of the last value written for `key`.
pub(crate) fn member<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    members(object).filter(|(name, _)| is_key(name, key)).last().map(|(_, value)| value)
}

/// Returns the last value written for `key`, sharing the buffer of the whole.
pub(crate) fn part(object: &Json, key: &str) -> Option<Json> {
    let raw: &RawValue = serde_json::from_str(member(object.as_str(), key)?).ok()?;
    Some(object.part(raw))
}

/// Tells whether the quoted `name` means `key`.
pub(crate) fn is_key(name: &str, key: &str) -> bool {
    name.get(1..name.len() - 1) == Some(key)
        || (name.contains('\\') && text_of(name).is_some_and(|name| name == key))
}

pub(crate) struct Walk<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Walk<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let key = skip(bytes, self.at, b',');
        if bytes.get(key) != Some(&b'"') {
            return None;
        }
        let key_end = string_end(bytes, key);
        let value = skip(bytes, key_end, b':');
        let value_end = value_end(bytes, value);
        self.at = value_end;
        Some((self.text.get(key..key_end)?, self.text.get(value..value_end)?))
    }
}

/// Passes over white space and one kind of mark.
fn skip(bytes: &[u8], mut at: usize, mark: u8) -> usize {
    while bytes.get(at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == mark) {
        at += 1;
    }
    at
}

/// Returns where the string that begins at `start` ends, behind its closing quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if bytes[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

fn value_end(bytes: &[u8], start: usize) -> usize {
    match bytes.get(start) {
        Some(b'"') => string_end(bytes, start),
        Some(b'{' | b'[') => nest_end(bytes, start),
        _ => {
            let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'}');
            let rest = bytes.get(start..).unwrap_or_default();
            start + rest.iter().position(is_end).unwrap_or(rest.len())
        }
    }
}

fn nest_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
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
    fn of_equal_keys_the_last_counts_however_it_is_written() {
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
        fn the_quick_look_finds_what_a_parser_finds(value in any_json(), pretty in any::<bool>()) {
            let text = if pretty {
                serde_json::to_string_pretty(&value).unwrap()
            } else {
                value.to_string()
            };
            let quick: Vec<_> = members(&text)
                .map(|(key, value)| (text_of(key).unwrap().into_owned(), value.to_owned()))
                .collect();
            let parsed: Vec<_> = Members::of(&text)
                .map(|found| {
                    found.iter().map(|(key, raw)| (key.to_owned(), raw.get().to_owned())).collect()
                })
                .unwrap_or_default();
            prop_assert_eq!(quick, parsed);
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,60}") {
            members(&text).for_each(drop);
        }
    }
}
