//! Accessors for single members of a JSON value, and the macros that declare views.
//!
//! Finding a member allocates nothing and decodes only that member. A string without escapes shares
//! the buffer of its message.

use bytestring::ByteString;

use crate::Json;

impl Json {
    /// Returns a string.
    pub(super) fn text_at(&self, key: &str) -> Option<ByteString> {
        self.get(key)?.to_shared_text()
    }

    /// Returns a boolean.
    pub(super) fn bool_at(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_str().parse().ok()
    }

    /// Returns a non-negative number without its fraction.
    pub(super) fn u64_at(&self, key: &str) -> Option<u64> {
        parse_u64(self.get(key)?.as_str())
    }

    /// Returns a number.
    pub(super) fn f64_at(&self, key: &str) -> Option<f64> {
        parse_f64(self.get(key)?.as_str())
    }

    /// Returns an object.
    pub(super) fn object_at(&self, key: &str) -> Option<Self> {
        self.get(key).filter(Self::is_object)
    }

    /// Returns the items of an array; empty for anything else.
    pub(super) fn items_at(&self, key: &str) -> Vec<Self> {
        self.get(key).and_then(|list| list.items()).unwrap_or_default()
    }

    /// Returns the strings in an array; empty for anything else.
    pub(super) fn texts_at(&self, key: &str) -> Vec<ByteString> {
        self.items_at(key).iter().filter_map(Self::to_shared_text).collect()
    }
}

/// Parses a non-negative number; also accepts `5.0` and `5e3`.
pub(super) fn parse_u64(text: &str) -> Option<u64> {
    if let Ok(whole) = text.parse() {
        return Some(whole);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and a cast from a float saturates"
    )]
    parse_f64(text).filter(|number| *number >= 0.0).map(|number| number as u64)
}

fn parse_f64(text: &str) -> Option<f64> {
    // Rust would also parse `inf` and `nan`.
    text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        .then(|| text.parse().ok())?
        .filter(|number: &f64| number.is_finite())
}

/// Declares a view: wraps a JSON value, and finds protocol violations if there are rules.
macro_rules! view {
    ($(#[$about:meta])* $name:ident $(, $rules:expr)?) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            raw: $crate::Json,
        }

        impl $name {
            /// Wraps any JSON value.
            pub fn read(raw: $crate::Json) -> Self {
                Self { raw }
            }

            /// Returns the value as the server sent it.
            pub fn raw(&self) -> &$crate::Json {
                &self.raw
            }
            $(
            /// Returns the protocol violations.
            pub(crate) fn violations(&self) -> Vec<$crate::view::ProtocolViolation> {
                const RULES: $crate::view::violation::ObjectRules = $rules;
                $crate::view::violation::check(&self.raw, RULES)
            }
            )?
        }
    };
}

/// Declares an entry of a list: the string that identifies it, and the JSON value.
macro_rules! entry {
    (
        $(#[$about:meta])* $name:ident, $list:literal, $key:literal as $accessor:ident, $rules:expr
        $(, $spans:ident: [$first:literal, $second:literal])?
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            key: bytestring::ByteString,
            raw: $crate::Json,
            $($spans: $crate::view::MemberSpans,)?
        }

        impl $name {
            #[doc = concat!("Returns `", $key, "`, which identifies it in its list.")]
            pub fn $accessor(&self) -> &bytestring::ByteString {
                &self.key
            }

            /// Returns the value as the server sent it.
            pub fn raw(&self) -> &$crate::Json {
                &self.raw
            }
        }

        impl $crate::view::ListEntry for $name {
            const LIST: &'static str = $list;
            const KEY: &'static str = $key;
            const INDEXED_MEMBERS: [&'static str; 2] = entry!(@spans $($first, $second)?);

            fn new(
                key: bytestring::ByteString,
                raw: $crate::Json,
                spans: $crate::view::MemberSpans,
            ) -> Self {
                // Only types with indexed members store them.
                let _ = spans;
                Self { key, raw, $($spans: spans,)? }
            }

            fn raw(&self) -> &$crate::Json {
                &self.raw
            }

            fn violations(&self) -> Vec<$crate::view::ProtocolViolation> {
                const RULES: $crate::view::violation::ObjectRules = $rules;
                let violations = $crate::view::violation::check(&self.raw, RULES);
                violations.into_iter().map(|violation| violation.with_subject(&self.key)).collect()
            }
        }
    };
    (@spans $first:literal, $second:literal) => {
        [$first, $second]
    };
    (@spans) => {
        [""; 2]
    };
}

pub(super) use {entry, view};

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        text.parse().unwrap()
    }

    #[test]
    fn a_plain_text_shares_the_buffer() {
        let whole = json(r#"{"a":"plain","b":"esc\"aped"}"#);
        let plain = whole.text_at("a").unwrap();
        assert!(whole.as_str().as_bytes().as_ptr_range().contains(&plain.as_ptr()));
        assert_eq!(whole.text_at("b").unwrap(), "esc\"aped");
    }

    #[test]
    fn numbers_are_read_in_every_notation() {
        let read = |text: &str| json(&format!(r#"{{"n":{text}}}"#)).u64_at("n");
        for (text, number) in [("5", 5), ("5.0", 5), ("5e3", 5000), ("0", 0), ("1e300", u64::MAX)] {
            assert_eq!(read(text), Some(number), "{text}");
        }
        for text in ["-1", "null", "\"5\"", "1e999", "[5]", "true"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
