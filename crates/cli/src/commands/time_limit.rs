//! Parses the value of `--timeout`.

use std::time::Duration;

use wharf_config::time::parse_duration;

/// Parses `250ms`, `5s`, `2m`, `1h`, or a number of milliseconds as in a server's entry.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let milliseconds = text.parse().ok().map(Duration::from_millis);
    match milliseconds.or_else(|| parse_duration(text)) {
        Some(limit) if limit.as_millis() == 0 => Err("it must be greater than zero".to_owned()),
        Some(limit) => Ok(limit),
        None => Err("write a number with ms, s, m or h, such as 30s".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_numbers_with_or_without_a_unit() {
        let cases = [("250", 250), ("250ms", 250), ("5s", 5_000), ("1.5s", 1_500)];
        for (text, milliseconds) in cases {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "0", "0s", "s", "-1", "5 parsecs"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
