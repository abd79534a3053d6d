//! The encodings in which programs repeat a secret: JSON-escaped, percent-encoded, Base64.
//!
//! The Base64 of a secret depends on its offset modulo three. For each offset, only the characters
//! that depend on the secret alone are searched; the bits at both ends are ignored. The search is
//! case-insensitive.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

/// Shorter Base64 fragments would match by chance.
const MIN_BASE64_LENGTH: usize = 8;

/// The characters that different programs do not percent-encode, besides letters and digits.
const UNENCODED: [&str; 6] =
    ["-_.~", "-_.~/", "-_.~$&+=:@", "-_.!~*'()", "*-._", "-_.!~*'();/?:@&=+$,#"];

/// Returns all encodings of a secret, without duplicates.
pub(super) fn all(secret: &str) -> Vec<String> {
    let mut encodings = vec![secret.to_owned()];
    json(secret, &mut encodings);
    percent(secret, &mut encodings);
    base64(secret.as_bytes(), &mut encodings);
    encodings.sort_unstable();
    encodings.dedup();
    encodings
}

/// The optional escapes of one JSON encoder: which characters it also escapes.
#[derive(Clone, Copy, Default)]
struct JsonEscaping {
    others: &'static str,
    beyond_ascii: bool,
    slash: bool,
}

/// Adds the secret as it is inside a JSON string, and inside a JSON string within another.
fn json(secret: &str, encodings: &mut Vec<String>) {
    let plain = JsonEscaping::default();
    let ways = [
        plain,
        JsonEscaping { slash: true, ..plain },
        JsonEscaping { beyond_ascii: true, ..plain },
        JsonEscaping { beyond_ascii: true, slash: true, ..plain },
        JsonEscaping { others: "<>&\u{2028}\u{2029}", ..plain },
        JsonEscaping { others: "<>&\u{2028}\u{2029}", slash: true, ..plain },
        JsonEscaping { others: "<>&='\u{2028}\u{2029}", ..plain },
        JsonEscaping { others: "<>&'\"+`", beyond_ascii: true, ..plain },
        JsonEscaping { others: "<>&'\"+`/", beyond_ascii: true, ..plain },
    ];
    let numbers = secret.chars().fold(String::new(), |mut numbers, c| {
        push_unicode_escapes(c, &mut numbers);
        numbers
    });
    for once in ways.map(|way| escaped(secret, way)).into_iter().chain([numbers]) {
        if once != secret {
            encodings.push(escaped(&once, plain));
            encodings.push(once);
        }
    }
}

fn escaped(text: &str, way: JsonEscaping) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let is_other = way.others.contains(c) || (way.beyond_ascii && !c.is_ascii());
        match c {
            _ if is_other => push_unicode_escapes(c, &mut out),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '/' if way.slash => out.push_str("\\/"),
            c if c.is_control() => push_unicode_escapes(c, &mut out),
            c => out.push(c),
        }
    }
    out
}

fn push_unicode_escapes(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _infallible = write!(out, "\\u{unit:04x}");
    }
}

/// Adds the percent-encoded variants of the secret, as in URLs and form bodies.
fn percent(secret: &str, encodings: &mut Vec<String>) {
    for kept in UNENCODED {
        let is_kept = |byte: u8| byte.is_ascii_alphanumeric() || kept.contains(char::from(byte));
        let encoded = encoded(secret, is_kept);
        if secret.contains(' ') {
            encodings.push(encoded.replace("%20", "+"));
        }
        encodings.push(encoded);
    }
    encodings.push(encoded(secret, |_| false));
}

fn encoded(text: &str, is_kept: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let _infallible = if is_kept(byte) {
            out.write_char(char::from(byte))
        } else {
            write!(out, "%{byte:02X}")
        };
    }
    out
}

/// Adds the Base64 variants of the secret, alone and inside a longer text.
fn base64(secret: &[u8], encodings: &mut Vec<String>) {
    for engine in [STANDARD, URL_SAFE] {
        let alone = engine.encode(secret);
        let bare = alone.trim_end_matches('=').to_owned();
        encodings.extend([alone, bare].into_iter().filter(|it| it.len() >= MIN_BASE64_LENGTH));
        for before in 0..3_usize {
            let shifted = engine.encode([&[0; 3][..before], secret].concat());
            // A Base64 character has six bits, a byte eight.
            let (start, end) = ((before * 8).div_ceil(6), (before + secret.len()) * 8 / 6);
            if let Some(inner) = shifted.get(start..end).filter(|it| it.len() >= MIN_BASE64_LENGTH)
            {
                encodings.push(inner.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    use super::super::Redactor;
    use super::*;

    #[track_caller]
    fn is_found(secret: &str, text: &str) {
        assert!(Redactor::new([secret]).finds_in(text), "{secret} in {text}");
    }

    #[test]
    fn a_secret_is_found_in_every_encoding() {
        let secret = "ti\"ger/4711+é <x>&'\\";
        for text in [
            r#"ti\"ger/4711+é <x>&'\\"#,
            r#"ti\"ger\/4711+é <x>&'\\"#,
            r#"ti\"ger\/4711+\u00e9 <x>&'\\"#,
            r#"ti\"ger/4711+é \u003cx\u003e\u0026'\\"#,
            r"ti\u0022ger/4711\u002B\u00E9 \u003Cx\u003E\u0026\u0027\\",
            r#"ti\\\"ger/4711+é <x>&'\\\\"#,
            "ti%22ger%2F4711%2B%C3%A9%20%3Cx%3E%26%27%5C",
            "ti%22ger%2f4711%2b%c3%a9%20%3cx%3e%26'%5c",
            "ti%22ger%2F4711%2B%C3%A9+%3Cx%3E%26%27%5C",
            "ti%22ger/4711%2B%C3%A9%20%3Cx%3E%26%27%5C",
            "ti%22ger%2F4711+%C3%A9%20%3Cx%3E&%27%5C",
            r#"ti\"ger/4711+é \u003cx\u003e\u0026\u0027\\"#,
            r#"ti\"ger\/4711+é \u003cx\u003e\u0026'\\"#,
        ] {
            is_found(secret, text);
        }
    }

    #[test]
    fn a_plain_secret_has_few_encodings() {
        insta::assert_snapshot!(all("tiger-4711").join("\n"), @r"
        %74%69%67%65%72%2D%34%37%31%31
        0aWdlci00NzEx
        RpZ2VyLTQ3MT
        \\u0074\\u0069\\u0067\\u0065\\u0072\\u002d\\u0034\\u0037\\u0031\\u0031
        \u0074\u0069\u0067\u0065\u0072\u002d\u0034\u0037\u0031\u0031
        dGlnZXItNDcxM
        dGlnZXItNDcxMQ
        dGlnZXItNDcxMQ==
        tiger-4711
        ");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_secret_is_found_in_base64_at_any_offset(
            secret in "[ -~äß日]{8,40}", before in ".{0,7}", after in ".{0,7}",
        ) {
            let whole = format!("{before}{secret}{after}");
            is_found(&secret, &STANDARD.encode(&whole));
            is_found(&secret, &URL_SAFE_NO_PAD.encode(&whole));
        }

        #[test]
        fn a_secret_is_found_in_json(secret in "\\PC{8,40}", before in "\\PC{0,7}") {
            let json = serde_json::to_string(&format!("{before}{secret}.")).unwrap();
            is_found(&secret, &json);
        }
    }
}
