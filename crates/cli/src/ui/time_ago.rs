//! Formats how long ago something happened, such as `5 min ago`.

use std::time::SystemTime;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Returns the rounded age of a moment, such as `5 min ago`.
pub(crate) fn time_ago(moment: SystemTime, now: SystemTime) -> String {
    match now.duration_since(moment).unwrap_or_default().as_secs() {
        ..MINUTE => "just now".to_owned(),
        seconds @ ..HOUR => format!("{} min ago", seconds / MINUTE),
        seconds if seconds < 2 * DAY => format!("{} h ago", seconds / HOUR),
        seconds => format!("{} days ago", seconds / DAY),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn ages_are_rounded() {
        let cases = [
            (0, "just now"),
            (59, "just now"),
            (60, "1 min ago"),
            (3_599, "59 min ago"),
            (3_600, "1 h ago"),
            (2 * 86_400 - 1, "47 h ago"),
            (2 * 86_400, "2 days ago"),
        ];
        for (age, expected) in cases {
            assert_eq!(time_ago(at(1_000), at(1_000 + age)), expected, "{age}");
        }
        assert_eq!(time_ago(at(1_000), at(0)), "just now");
    }
}
