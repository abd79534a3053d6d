//! Formats how long ago something happened, such as `5 min ago`, and how long something lasts.

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

/// Returns the rounded time until a moment, such as `in 5 min`.
pub(crate) fn time_left(moment: SystemTime, now: SystemTime) -> String {
    match moment.duration_since(now).unwrap_or_default().as_secs() {
        0 => "now".to_owned(),
        1..MINUTE => "in less than a minute".to_owned(),
        seconds @ ..HOUR => format!("in {} min", seconds / MINUTE),
        seconds if seconds < 2 * DAY => format!("in {} h", seconds / HOUR),
        seconds => format!("in {} days", seconds / DAY),
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

    #[test]
    fn times_that_are_left_are_rounded() {
        let cases = [
            (0, "now"),
            (59, "in less than a minute"),
            (60, "in 1 min"),
            (7_200, "in 2 h"),
            (30 * 86_400, "in 30 days"),
        ];
        for (left, expected) in cases {
            assert_eq!(time_left(at(1_000 + left), at(1_000)), expected, "{left}");
        }
    }
}
