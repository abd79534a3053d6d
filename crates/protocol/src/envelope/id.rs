//! Request ids, and matching the id of a response with the id that was sent.

use std::fmt;

use bytestring::ByteString;

use crate::scan::decode_string;

/// A request id: a number or a string, kept so that it can be sent back unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// An integer.
    Number(i64),
    /// A string.
    Text(ByteString),
    /// Any number that does not fit into an `i64`, as its digits.
    OtherNumber(ByteString),
}

impl Id {
    /// Reads an id; `None` for `null` and for values that cannot be an id.
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        if let Ok(number) = text.parse() {
            return Some(Self::Number(number));
        }
        match text.as_bytes().first()? {
            b'"' => decode_string(text).map(|text| Self::Text(text.as_ref().into())),
            b'-' | b'0'..=b'9' => Some(Self::OtherNumber(text.into())),
            _ => None,
        }
    }

    /// Returns the number that was sent; some servers return `1` as `"1"` or `1.0`.
    pub(crate) fn as_sent_number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => u64::try_from(*number).ok(),
            Self::Text(text) => text.trim().parse().ok(),
            Self::OtherNumber(digits) => {
                let value: f64 = digits.parse().ok()?;
                // Above 2^53 a float is not exact; ids do not become that large.
                let is_whole = value.fract() == 0.0 && (0.0..9e15).contains(&value);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "just checked"
                )]
                is_whole.then_some(value as u64)
            }
        }
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        i64::try_from(number)
            .map_or_else(|_| Self::OtherNumber(number.to_string().into()), Self::Number)
    }
}

/// Writes the id as JSON.
impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(formatter),
            Self::OtherNumber(digits) => formatter.write_str(digits),
            Self::Text(text) => {
                let quoted = serde_json::to_string::<str>(text).map_err(|_| fmt::Error)?;
                formatter.write_str(&quoted)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echoed_id_is_recognised_in_every_notation() {
        for echo in ["7", "\"7\"", "7.0", "7e0", "0.7e1"] {
            assert_eq!(Id::from_json(echo).unwrap().as_sent_number(), Some(7), "{echo}");
        }
        for other in ["7.5", "\"seven\"", "-7", "1e99"] {
            assert_eq!(Id::from_json(other).unwrap().as_sent_number(), None, "{other}");
        }
    }

    #[test]
    fn an_id_is_written_as_it_was_read() {
        for text in ["7", "\"a\\\"b\"", "7.50", "-1", "99999999999999999999"] {
            assert_eq!(Id::from_json(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn values_of_other_types_are_not_ids() {
        for text in ["null", "true", "[1]", "{}"] {
            assert_eq!(Id::from_json(text), None, "{text}");
        }
    }
}
