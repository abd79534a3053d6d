//! Formats timestamps (RFC 3339) and parses durations (`250ms`, `2min`).

use std::time::{Duration, SystemTime};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Returns the seconds since 1970; times before it become its beginning.
pub fn unix_seconds(moment: SystemTime) -> u64 {
    moment.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Returns the moment so many seconds after 1970; times after the year 9999 become its end, so that
/// a stored number cannot overflow.
pub fn moment(unix_seconds: u64) -> SystemTime {
    const YEAR_10000: u64 = 253_402_300_800;
    SystemTime::UNIX_EPOCH + Duration::from_secs(unix_seconds.min(YEAR_10000 - 1))
}

/// Formats a timestamp as RFC 3339 in UTC, to the second. Times before 1970 become its beginning.
pub fn rfc3339(moment: SystemTime) -> String {
    format!("{}Z", date_and_time(moment))
}

/// Formats a timestamp as RFC 3339 in UTC, to the millisecond. Times before 1970 become its
/// beginning.
pub fn rfc3339_millis(moment: SystemTime) -> String {
    let since = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{}.{:03}Z", date_and_time(moment), since.subsec_millis())
}

fn date_and_time(moment: SystemTime) -> String {
    let seconds = unix_seconds(moment);
    let (mut year, mut days) = (1970, seconds / DAY);
    while days >= days_of(year) {
        days -= days_of(year);
        year += 1;
    }
    // The other eleven months have 337 days in total.
    let february = days_of(year) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (seconds % DAY / HOUR, seconds % HOUR / MINUTE, seconds % MINUTE);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}", days + 1)
}

/// Parses a number with a unit: `250ms`, `5s`, `1.5m`, `2min` or `1h`.
///
/// ```
/// use std::time::Duration;
/// use wharf_config::time::parse_duration;
///
/// assert_eq!(parse_duration("1.5s"), Some(Duration::from_millis(1500)));
/// assert_eq!(parse_duration("30"), None);
/// ```
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.')?);
    let milliseconds = match unit.trim_start() {
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Duration::try_from_secs_f64(number * milliseconds / 1_000.0).ok()
}

fn days_of(year: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    365 + u64::from(is_leap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_to_the_second() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (86_399, "1970-01-01T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_735_689_600, "2025-01-01T00:00:00Z"),
            (1_772_323_199, "2026-02-28T23:59:59Z"),
            (1_772_323_200, "2026-03-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ];
        for (seconds, expected) in cases {
            let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(rfc3339(moment), expected, "{seconds}");
        }
    }

    #[test]
    fn an_exact_moment_has_milliseconds() {
        let moment = SystemTime::UNIX_EPOCH + Duration::from_millis(1_772_323_200_007);
        assert_eq!(rfc3339_millis(moment), "2026-03-01T00:00:00.007Z");
    }

    #[test]
    fn durations_are_numbers_with_units() {
        let cases = [
            ("250ms", 250),
            (" 5 s ", 5_000),
            ("1.5s", 1_500),
            ("2m", 120_000),
            ("2min", 120_000),
            ("1h", 3_600_000),
        ];
        for (text, milliseconds) in cases {
            assert_eq!(parse_duration(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "5", "s", "-1s", "1.2.3s", "5 parsecs", "99999999999999999999h"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
