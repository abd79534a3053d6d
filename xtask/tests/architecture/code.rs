//! A small scanner for Rust: separates code from comments, string literals and test items.
//!
//! Blanked text is replaced by spaces, so that offsets and line numbers stay valid.

use std::collections::BTreeSet;

/// Replaces comments, string literals and character literals with spaces.
pub(crate) fn blank_comments_and_strings(text: &str) -> String {
    blank(text, &literals_and_comments(text))
}

/// Returns all string literals with their offsets.
pub(crate) fn strings(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let spans = literals_and_comments(text).into_iter();
    let all = spans.map(|(start, end)| (start, &text[start..end]));
    all.filter(|(_, literal)| !literal.starts_with('/') && literal.ends_with(['"', '#']))
}

/// Returns the spans of comments, string literals and character literals.
fn literals_and_comments(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_or_comment_end(bytes, at);
        if end > at {
            spans.push((at, end));
            at = end;
        } else {
            at += 1;
        }
    }
    spans
}

/// Replaces the items under `#[cfg(test)]` with spaces, in `text`; `code` is the same text after
/// `blank_comments_and_strings`.
pub(crate) fn blank_tests(code: &str, text: &str) -> String {
    if code.contains("#![cfg(test)]") {
        return blank(text, &[(0, text.len())]);
    }
    let mut spans = Vec::new();
    let mut from = 0;
    for marker in ["#[cfg(test)]", "#[cfg(all(test"] {
        while let Some(found) = code[from..].find(marker) {
            let start = from + found;
            let end = item_end(code.as_bytes(), start);
            spans.push((start, end));
            from = end;
        }
        from = 0;
    }
    blank(text, &spans)
}

/// Returns the offsets where `pattern` occurs as a whole word.
pub(crate) fn find_words(code: &str, pattern: &str) -> Vec<usize> {
    let bytes = code.as_bytes();
    code.match_indices(pattern)
        .map(|(at, _)| at)
        .filter(|&at| {
            let end = at + pattern.len();
            let joined_left = at > 0 && is_word(bytes[at - 1]) && is_word(bytes[at]);
            let joined_right = end < bytes.len() && is_word(bytes[end - 1]) && is_word(bytes[end]);
            !joined_left && !joined_right
        })
        .collect()
}

/// Returns the lines that name a path such as `std::env`, also through `use std::{env, fs}`.
pub(crate) fn lines_that_name(code: &str, path: &str) -> BTreeSet<usize> {
    let below = format!("{path}::");
    let is_named = |name: &str| name == path || name.starts_with(&below);
    let imported = imports(code).into_iter().filter(|(_, name)| is_named(name));
    let named = find_words(code, path).into_iter().map(|at| line_of(code, at));
    named.chain(imported.map(|(line, _)| line)).collect()
}

/// Returns every name that the code imports, each with its line and its whole path.
pub(crate) fn imports(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for at in find_words(code, "use") {
        let tree = code[at + "use".len()..].split(';').next().unwrap_or_default();
        let tree: String = tree.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut names = Vec::new();
        expand_import("", &tree, &mut names);
        found.extend(names.into_iter().map(|name| (line_of(code, at), name)));
    }
    found
}

/// Returns the first segments of all `crate::` paths, such as `json` for `crate::json::text`, with
/// their lines.
pub(crate) fn crate_paths(code: &str) -> BTreeSet<(usize, String)> {
    const ROOT: &str = "crate::";
    let first = |path: &str| path.split("::").next().unwrap_or_default().to_owned();
    let imported = imports(code)
        .into_iter()
        .filter_map(|(line, name)| Some((line, first(name.strip_prefix(ROOT)?))));
    let named = find_words(code, ROOT).into_iter().map(|at| {
        let rest = &code[at + ROOT.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        (line_of(code, at), rest[..end].to_owned())
    });
    imported.chain(named).filter(|(_, name)| !name.is_empty()).collect()
}

/// Returns the line number of an offset, counted from 1.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// Collects the full paths of an import: `std::{env, io::{self, Read}}` has three.
fn expand_import(prefix: &str, tree: &str, names: &mut Vec<String>) {
    let tree = tree.trim().trim_start_matches("::");
    if let Some((head, group)) = tree.split_once('{') {
        let group = group.trim_end().strip_suffix('}').unwrap_or(group);
        let mut depth = 0;
        let separates = |c: char| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            c == ',' && depth == 0
        };
        for part in group.split(separates) {
            expand_import(&format!("{prefix}{}", head.trim()), part, names);
        }
    } else if !tree.is_empty() {
        let name = tree.split(" as ").next().unwrap_or_default().trim();
        let whole = format!("{prefix}{name}");
        names.push(whole.strip_suffix("::self").unwrap_or(&whole).to_owned());
    }
}

/// Returns where the comment or literal that starts at `at` ends, or `at` if none starts here.
fn literal_or_comment_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        return find(bytes, at, b"\n").unwrap_or(bytes.len());
    }
    if rest.starts_with(b"/*") {
        return block_comment_end(bytes, at);
    }
    match bytes[at] {
        b'"' => string_end(bytes, at),
        b'\'' => character_end(bytes, at),
        b'r' | b'b' | b'c' if at == 0 || !is_word(bytes[at - 1]) => raw_string_end(bytes, at),
        _ => at,
    }
}

fn block_comment_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Returns `start` for a lifetime or a label, which also begin with a quote.
fn character_end(bytes: &[u8], start: usize) -> usize {
    let Some(&first) = bytes.get(start + 1) else { return start };
    if first == b'\\' {
        return find(bytes, start + 3, b"'").map_or(bytes.len(), |quote| quote + 1);
    }
    let width = match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    let quote = start + 1 + width;
    if first != b'\'' && bytes.get(quote) == Some(&b'\'') { quote + 1 } else { start }
}

/// Handles `r"…"`, `r#"…"#` and the same after `b` or `c`; `r#name` is an identifier.
fn raw_string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    if bytes[at] != b'r' {
        at += 1;
    }
    if bytes.get(at) != Some(&b'r') {
        return start;
    }
    at += 1;
    let hashes = bytes[at..].iter().take_while(|&&byte| byte == b'#').count();
    at += hashes;
    if bytes.get(at) != Some(&b'"') {
        return start;
    }
    let close = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    find(bytes, at + 1, &close).map_or(bytes.len(), |quote| quote + close.len())
}

/// Returns the end of the item whose attribute starts at `start`: after its block, or at its `;`.
fn item_end(code: &[u8], start: usize) -> usize {
    let mut depth = 0;
    for (at, &byte) in code.iter().enumerate().skip(start) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            // The attribute is on the last field of a struct or a similar item.
            b')' | b']' | b'}' if depth == 0 => return at,
            b'}' if depth == 1 => return at + 1,
            b')' | b']' | b'}' => depth -= 1,
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

fn blank(text: &str, spans: &[(usize, usize)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for &(start, end) in spans {
        for byte in &mut bytes[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(what.len()).position(|window| window == what).map(|at| from + at)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the remaining code, with runs of spaces collapsed.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let code = blank_comments_and_strings(text);
        let left = blank_tests(&code, &code);
        assert_eq!(left.len(), text.len());
        assert_eq!(left.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn comments_are_blanked() {
        check("a // b\nc /* d /* e */ f */ g", "a c g");
        check("/// ```\n/// println!();\n/// ```\nfn x() {}", "fn x() {}");
    }

    #[test]
    fn string_literals_are_blanked() {
        check(r#"a("b \" c", d)"#, "a( , d)");
        check("a(r#\"b \" c\"#, br\"\\\", c)", "a( , , c)");
        check("a(b\"x\", \"\u{2022}\", r#type)", "a(b , , r#type)");
    }

    #[test]
    fn strings_are_found_with_their_offsets() {
        let found: Vec<_> = strings("a(\"b\", 'c') // \"d\"\nr#\"e\"#").collect();
        assert_eq!(found, [(2, "\"b\""), (19, "r#\"e\"#")]);
    }

    #[test]
    fn characters_are_blanked_and_lifetimes_are_kept() {
        check(r"f('a', '\'', '\\', '•', b'x')", "f( , , , , b )");
        check(
            "fn f<'a>(x: &'a str, y: &'static str) {}",
            "fn f<'a>(x: &'a str, y: &'static str) {}",
        );
        check("a('\"'); b", "a( ); b");
    }

    #[test]
    fn test_items_are_blanked() {
        check("a #[cfg(test)] mod tests { fn x() { {} } } b", "a b");
        check("a #[cfg(test)] mod tests; b", "a b");
        check("a #[cfg(test)] #[path = \"x\"] fn f(x: [u8; 2]) -> u8 { 1 } b", "a b");
        check("a #[cfg(all(test, unix))] mod tests { x } b #[cfg(test)] use c; d", "a b d");
        check("struct A { b: u8, #[cfg(test)] c: u8 } d", "struct A { b: u8, } d");
        check("#![cfg(test)] a", "");
    }

    #[test]
    fn only_whole_words_are_found() {
        assert_eq!(find_words("unsafe unsafe_code an_unsafe", "unsafe"), [0]);
        assert_eq!(find_words("println! eprintln!", "println!"), [0]);
    }

    #[test]
    fn imports_are_expanded() {
        let lines = |code: &str| lines_that_name(code, "std::env").into_iter().collect::<Vec<_>>();
        assert_eq!(lines("x;\nstd::env::var(y)"), [2]);
        assert_eq!(lines("use std::{env, fs};"), [1]);
        assert_eq!(lines("use std::{\n    env::{self, var},\n    fs,\n};"), [1]);
        assert_eq!(lines("use ::std::{io::{self, Read}, env as e};"), [1]);
        assert!(lines("use crate::{env, std_like};\nuse std::{io::{self, Read}, fs};").is_empty());
        assert!(lines("my_std::env::var(); std::environment()").is_empty());
    }
}
