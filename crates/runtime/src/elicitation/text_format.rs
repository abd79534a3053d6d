//! Checks the text formats of form fields: email, URI, date, date-time.
//!
//! The checks only catch typing errors; the server validates the value again.

/// Tells whether a text can be an email address.
pub(super) fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else { return false };
    let is_plain = |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace());
    is_plain(name) && is_plain(host) && !host.starts_with('.') && !host.ends_with('.')
}

/// Tells whether a text is a URI with a scheme.
#[cfg(feature = "http")]
pub(super) fn is_uri(text: &str) -> bool {
    !text.contains(|c: char| c.is_whitespace() || c.is_control()) && url::Url::parse(text).is_ok()
}

/// Accepts every text: a build without the feature `http` has no parser of URIs.
#[cfg(not(feature = "http"))]
pub(super) fn is_uri(_text: &str) -> bool {
    true
}

/// Tells whether a text is a date: `2026-07-28`.
pub(super) fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let (Some(year), Some(month), Some(day), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Tells whether a text is a date and time with a time zone: `2026-07-28T12:00:00.5+02:00`.
pub(super) fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let Some(at) = time.find(['Z', 'z', '+', '-']) else { return false };
    let (clock, zone) = time.split_at(at);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    is_date(date)
        && is_time_of_day(clock, 3)
        && !fraction.is_empty()
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
        && (zone.eq_ignore_ascii_case("z") || is_time_of_day(zone.get(1..).unwrap_or_default(), 2))
}

/// Tells whether a text is a time of day with this number of parts.
fn is_time_of_day(text: &str, parts: usize) -> bool {
    // A minute may have a leap second.
    let max = [23, 59, 60];
    let fields: Vec<&str> = text.split(':').collect();
    fields.len() == parts
        && fields.iter().zip(max).all(|(part, max)| digits(part, 2).is_some_and(|it| it <= max))
}

/// Parses a number of exactly this many digits.
fn digits(text: &str, many: usize) -> Option<u32> {
    let is_number = text.len() == many && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(is: fn(&str) -> bool, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(is(text), "{text}");
        }
        for text in bad {
            assert!(!is(text), "{text}");
        }
    }

    #[cfg(feature = "http")]
    #[test]
    fn invalid_uris_are_rejected() {
        check(
            is_uri,
            &["https://a.example/x?y", "mailto:a@b.example", "urn:a:b"],
            &["", "a.example", "//a", "https://", "https://a b", "https://a\u{7}"],
        );
    }

    #[test]
    fn invalid_formats_are_rejected() {
        check(
            is_email,
            &["a@b.example", "a+b@localhost", "é@b.example"],
            &["", "@", "a@", "@b", "a b@c", "a@b c", "a@.b", "a@b."],
        );
        check(
            is_date,
            &["2026-07-28", "2024-02-29", "2000-02-29"],
            &[
                "",
                "2026-7-28",
                "2026-13-01",
                "2026-00-01",
                "2026-02-29",
                "1900-02-29",
                "2026-04-31",
                "28.07.2026",
                "2026-07-28-01",
                "2026-07-00",
                "+026-07-01",
            ],
        );
        check(
            is_date_time,
            &["2026-07-28T12:00:00Z", "2026-07-28t23:59:60.5+02:00", "2026-07-28T00:00:00-00:30"],
            &[
                "",
                "2026-07-28",
                "2026-07-28T12:00Z",
                "2026-07-28T24:00:00Z",
                "2026-07-28T12:00:00",
                "2026-07-28T12:00:00.Z",
                "2026-07-28T12:00:00+2",
                "2026-07-28 12:00:00Z",
                "2026-07-28T12:00:00Zé",
            ],
        );
    }
}
