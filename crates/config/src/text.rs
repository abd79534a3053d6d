//! Makes foreign text fit to be shown: a name in somebody's file must not be able to move the
//! cursor, change colours or turn the line around.

/// Tells whether a character could do something to a terminal or hide what is really there.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Shows a text on one line, with every unsafe character as its code.
///
/// ```
/// assert_eq!(wharf_config::text::clean("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
/// ```
pub fn clean(text: &str) -> String {
    // Nearly every text is plain, and a listing cleans thousands of them.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Shows a text cleaned and cut to a number of characters. It is the shown ones that count: a code
/// takes up to ten, and none is cut in two.
///
/// ```
/// assert_eq!(wharf_config::text::clip("a\u{1b}b", 6), "a…");
/// assert_eq!(wharf_config::text::clip("a\u{1b}b", 8), "a\\u{1b}b");
/// ```
pub fn clip(text: &str, most: usize) -> String {
    let width = |c: char| if is_unsafe(c) { c.escape_default().len() } else { 1 };
    let (mut end, mut used) = (0, 0);
    for (at, c) in text.char_indices() {
        used += width(c);
        if used > most {
            return format!("{}…", clean(&text[..end]));
        }
        // What is shown up to here leaves room for the dots.
        if used < most {
            end = at + c.len_utf8();
        }
    }
    clean(text)
}

/// Finds the word that was probably meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|known| (strsim::jaro_winkler(word, known), known));
    let (score, best) = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (score > 0.85).then_some(best)
}
