//! Types of scalars, by the core schema of YAML 1.2 (section 10.3.2).
//!
//! `yes`, `no`, `on`, `off` and dates are strings.

use std::borrow::Cow;

use crate::document::Value;

/// Converts a scalar to a typed value; a quoted scalar is always a string.
pub(super) fn to_value(text: Cow<'_, str>, is_plain: bool) -> Value {
    if !is_plain {
        return Value::String(text.into_owned());
    }
    match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_number(&text) => Value::Number(text.into_owned()),
        _ => Value::String(text.into_owned()),
    }
}

fn is_number(text: &str) -> bool {
    if let Some(digits) = text.strip_prefix("0o") {
        return !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" => true,
        ".nan" | ".NaN" | ".NAN" => text == unsigned,
        _ => is_decimal(unsigned),
    }
}

/// Matches `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`.
fn is_decimal(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !(whole.is_empty() && fraction.is_empty());
    let exponent = exponent.map(|digits| digits.strip_prefix(['-', '+']).unwrap_or(digits));
    has_digits
        && are_digits(whole)
        && are_digits(fraction)
        && exponent.is_none_or(|digits| !digits.is_empty() && are_digits(digits))
}

fn are_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{Value, to_value};

    #[track_caller]
    fn check(kind: fn(&Value) -> bool, texts: &str) {
        for text in texts.split_whitespace() {
            assert!(kind(&to_value(text.into(), true)), "{text}");
            let quoted = to_value(text.into(), false);
            assert!(matches!(quoted, Value::String(_)), "quoted {text}");
        }
    }

    #[test]
    fn null_has_four_spellings_and_an_empty_plain_scalar_is_null() {
        check(|value| matches!(value, Value::Null), "~ null Null NULL");
        assert!(matches!(to_value("".into(), true), Value::Null));
        assert!(matches!(to_value("".into(), false), Value::String(_)));
    }

    #[test]
    fn booleans_are_only_true_and_false() {
        check(|value| matches!(value, Value::Bool(true)), "true True TRUE");
        check(|value| matches!(value, Value::Bool(false)), "false False FALSE");
    }

    #[test]
    fn numbers_are_those_of_the_core_schema() {
        let numbers = "0 7 -19 +12 007 0o7 0x3A 0. -0.0 .5 +12e03 -2E+05 1e5 .inf -.Inf +.INF .nan";
        check(|value| matches!(value, Value::Number(_)), numbers);
    }

    #[test]
    fn everything_else_is_a_string() {
        let strings = "yes No on OFF tRUE nULL 0b1 0o8 0xG 0x 0o -0x1 1_000 . - + e5 1e 1e+ 1.2.3 \
                       -.nan .iNF inf NaN 2001-12-14 12:30 1,5 ١٢";
        check(|value| matches!(value, Value::String(_)), strings);
    }
}
