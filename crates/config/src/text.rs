//! Escapes control and invisible characters of untrusted text, which could otherwise move the
//! cursor, change colours or reverse the line.
//!
//! [`clean`] is for prose and output.
//! [`escape_invisible`] is for texts on which a person decides, such as names, commands and paths.
//! [`nearest`] finds similar words.

use std::fmt::Write as _;

/// The longest run of spaces that [`escape_invisible`] shows unchanged.
const MAX_SPACES: usize = 8;

/// Tells whether a character could control a terminal or hide other characters.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Tells whether a character is unsafe, has no visible form, or looks like a space: default
/// ignorable characters of Unicode, all white space except the space, and blank letters.
pub fn is_invisible(c: char) -> bool {
    is_unsafe(c)
        || (c.is_whitespace() && c != ' ')
        || matches!(c,
            '\u{034f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}'
            | '\u{16fe4}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Escapes every unsafe character, including line ends. Joiners stay where a script or an emoji
/// needs them.
///
/// ```
/// assert_eq!(wharf_config::text::clean("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
/// assert_eq!(wharf_config::text::clean("👩\u{200d}🚀"), "👩\u{200d}🚀");
/// ```
pub fn clean(text: &str) -> String {
    // Fast path: nearly every text is plain, and a listing cleans thousands.
    if is_printable_ascii(text) {
        return text.to_owned();
    }
    let mut escaped = String::with_capacity(text.len());
    for (_, c, is_code) in mark_unsafe(text) {
        push_char(&mut escaped, c, is_code);
    }
    escaped
}

/// Escapes every unsafe character except line ends and tabs.
pub fn clean_lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut escaped = String::with_capacity(text.len());
    for (_, c, is_code) in mark_unsafe(&text) {
        push_char(&mut escaped, c, is_code && !matches!(c, '\n' | '\t'));
    }
    escaped
}

/// Escapes every invisible character, including line ends, and writes long runs of spaces as their
/// number.
///
/// ```
/// use wharf_config::text::escape_invisible;
///
/// assert_eq!(escape_invisible("git\u{200d}hub\u{3164}"), "git\\u{200d}hub\\u{3164}");
/// assert_eq!(escape_invisible(&format!("a{}b", " ".repeat(90))), "a[90 spaces]b");
/// ```
pub fn escape_invisible(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        if spaces > MAX_SPACES {
            let _infallible = write!(escaped, "[{spaces} spaces]");
            rest = &rest[spaces..];
            continue;
        }
        push_char(&mut escaped, c, is_invisible(c));
        rest = &rest[c.len_utf8()..];
    }
    escaped
}

/// Escapes a text as [`clean`] does and cuts it to a number of characters after escaping. An escape
/// has up to ten characters and is never cut in two.
///
/// ```
/// assert_eq!(wharf_config::text::clip("a\u{1b}b", 6), "a…");
/// assert_eq!(wharf_config::text::clip("a\u{1b}b", 8), "a\\u{1b}b");
/// ```
pub fn clip(text: &str, most: usize) -> String {
    clip_with(text, most, mark_unsafe(text), clean)
}

/// Escapes a text as [`escape_invisible`] does and cuts it to a number of characters.
pub fn clip_escaped(text: &str, most: usize) -> String {
    let chars = text.char_indices().map(|(at, c)| (at, c, is_invisible(c)));
    clip_with(text, most, chars, escape_invisible)
}

fn clip_with(
    text: &str,
    most: usize,
    chars: impl Iterator<Item = (usize, char, bool)>,
    show: fn(&str) -> String,
) -> String {
    let (mut end, mut used) = (0, 0);
    for (at, c, is_code) in chars {
        used += if is_code { c.escape_default().len() } else { 1 };
        if used > most {
            return format!("{}…", show(&text[..end]));
        }
        // The text up to here leaves room for the ellipsis.
        if used < most {
            end = at + c.len_utf8();
        }
    }
    show(text)
}

fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn push_char(escaped: &mut String, c: char, is_code: bool) {
    if is_code {
        escaped.extend(c.escape_default());
    } else {
        escaped.push(c);
    }
}

/// Returns the characters of a text, each with its offset and whether [`clean`] escapes it.
fn mark_unsafe(text: &str) -> impl Iterator<Item = (usize, char, bool)> {
    let mut before = None;
    text.char_indices().map(move |(at, c)| {
        let after = || text[at + c.len_utf8()..].chars().next();
        let is_needed = matches!(c, '\u{200c}' | '\u{200d}') && is_joining(before, after());
        before = Some(c);
        (at, c, is_unsafe(c) && !is_needed)
    })
}

/// Tells whether a joiner between two characters has an effect: in scripts that join letters, and
/// in emoji. Between ASCII letters it is only invisible.
fn is_joining(before: Option<char>, after: Option<char>) -> bool {
    let is_joined = |c: char| !c.is_ascii() && !c.is_whitespace() && !is_unsafe(c);
    before.is_some_and(is_joined) && after.is_some_and(is_joined)
}

/// Returns the most similar word, if at most a third of its letters differ.
///
/// ```
/// use wharf_config::text::nearest;
///
/// assert_eq!(nearest("curser", ["cursor", "claude"]), Some("cursor"));
/// assert_eq!(nearest("clod", ["cursor", "claude"]), None);
/// ```
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    // The time of a comparison grows with the product of the lengths, and names are untrusted.
    let is_near =
        |other: &&str| length <= MAX_WORD_CHARS && other.chars().count().abs_diff(length) <= 3;
    let distance = |other: &str| strsim::osa_distance(&word, &other.to_lowercase());
    let scored = known.into_iter().filter(is_near).map(|other| (distance(other), other));
    let (distance, best) = scored.min_by_key(|(distance, _)| *distance)?;
    let longer = length.max(best.chars().count());
    (distance <= (longer / 3).min(3)).then_some(best)
}

/// The longest word that is compared; longer ones are not typing mistakes.
const MAX_WORD_CHARS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joiners_stay_only_where_a_script_or_an_emoji_needs_them() {
        for kept in ["👩\u{200d}🚀", "می\u{200c}خواهم", "⚠\u{fe0f} é"] {
            assert_eq!(clean(kept), kept);
        }
        assert_eq!(clean("git\u{200d}hub\u{200d}"), "git\\u{200d}hub\\u{200d}");
        assert_eq!(clean("👩\u{200d}\u{200d}🚀"), "👩\\u{200d}\\u{200d}🚀");
        assert_eq!(clean_lines("a\tb\r\nc\rd"), "a\tb\nc\\rd");
    }

    #[test]
    fn every_invisible_character_is_escaped() {
        let unseen = [
            '\u{3164}',
            '\u{115f}',
            '\u{1160}',
            '\u{2800}',
            '\u{ffa0}',
            '\u{fe0f}',
            '\u{e0041}',
            '\u{e0100}',
            '\u{200b}',
            '\u{200d}',
            '\u{ad}',
            '\u{a0}',
            '\u{3000}',
            '\u{202e}',
            '\t',
            '\u{34f}',
            '\u{2028}',
            '\u{feff}',
        ];
        for c in unseen {
            let escaped = escape_invisible(&format!("a{c}b"));
            assert_eq!(escaped, format!("a{}b", c.escape_default()));
        }
        assert_eq!(escape_invisible("a b  c日本é"), "a b  c日本é");
        assert_eq!(escape_invisible(&" ".repeat(9)), "[9 spaces]");
        assert_eq!(clip_escaped("a\u{3164}b", 6), "a…");
    }
}
