//! How long something may take, as it is typed.

use std::time::Duration;

/// Reads `250ms`, `5s`, `2m`, `1h`, or a number of milliseconds as in a server's entry.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let milliseconds: u64 = match unit.trim() {
        "" | "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return Err("write a number with ms, s, m or h, such as 30s".to_owned()),
    };
    let number = number.parse::<u64>().ok().and_then(|number| number.checked_mul(milliseconds));
    match number {
        Some(0) => Err("nothing can be done in no time".to_owned()),
        Some(milliseconds) => Ok(Duration::from_millis(milliseconds)),
        None => Err("write a number with ms, s, m or h, such as 30s".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_numbers_with_units() {
        let cases =
            [("250", 250), ("250ms", 250), ("5s", 5_000), ("2m", 120_000), ("1h", 3_600_000)];
        for (text, milliseconds) in cases {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "0", "s", "-1", "5 parsecs", "99999999999999999999h", "1.5s"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
