//! Scans the members of a JSON object without building a tree and without reading more than needed.
//!
//! The benchmark clients send valid JSON, so this finds the members of valid objects in any order
//! and spacing. In other text it finds fewer members, but it never panics or loops forever.

/// The members of one object, as key and the text from the value on; `value` cuts that text off.
///
/// The text after the value is kept, because the caller often needs the last member only, and then
/// its end need not be found.
pub(crate) struct Members<'a> {
    text: &'a [u8],
    at: usize,
    at_value: bool,
}

impl<'a> Members<'a> {
    /// Reads an object; any other value has no members.
    pub(crate) fn of(text: &'a [u8]) -> Self {
        let at = skip_space(text, 0);
        let is_object = text.get(at) == Some(&b'{');
        Self { text, at: if is_object { at + 1 } else { text.len() }, at_value: false }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at_value {
            self.at = skip_space(self.text, value_end(self.text, self.at));
            self.at_value = false;
            if self.text.get(self.at) != Some(&b',') {
                self.at = self.text.len();
                return None;
            }
            self.at += 1;
        }
        let start = skip_space(self.text, self.at);
        if self.text.get(start) != Some(&b'"') {
            return None;
        }
        let end = string_end(self.text, start);
        let key = self.text.get(start + 1..end.checked_sub(1)?)?;
        let colon = skip_space(self.text, end);
        if self.text.get(colon) != Some(&b':') {
            return None;
        }
        self.at = skip_space(self.text, colon + 1);
        self.at_value = true;
        Some((key, &self.text[self.at..]))
    }
}

/// Returns the value at the start of the text.
pub(crate) fn value(text: &[u8]) -> &[u8] {
    &text[..value_end(text, 0)]
}

/// Returns the text inside the quotes if the value is a string.
pub(crate) fn string(text: &[u8]) -> Option<&[u8]> {
    value(text).strip_prefix(b"\"")?.strip_suffix(b"\"")
}

fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

fn value_end(text: &[u8], start: usize) -> usize {
    match text.get(start) {
        Some(b'"') => string_end(text, start),
        Some(b'{' | b'[') => nested_end(text, start),
        _ => {
            let rest = text.get(start..).unwrap_or_default();
            let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
            start + rest.iter().position(ends).unwrap_or(rest.len())
        }
    }
}

fn nested_end(text: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at = string_end(text, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}

fn string_end(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let members: Vec<String> = Members::of(text.as_bytes())
            .map(|(key, rest)| {
                let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                format!("{}={}", text(key), text(value(rest)))
            })
            .collect();
        assert_eq!(members.join(" "), expected);
    }

    #[test]
    fn the_members_of_an_object_are_found_in_any_spacing() {
        check(r#"{"a":1,"b":"x","c":{"d":[1,{}]},"e":null}"#, r#"a=1 b="x" c={"d":[1,{}]} e=null"#);
        check(" { \"a\" : 1 ,\n\t\"b\" : [ ] } ", "a=1 b=[ ]");
        check("{}", "");
    }

    #[test]
    fn quotes_and_brackets_inside_a_string_do_not_end_it() {
        check(r#"{"a":"\"}","b":{"c":"]}\\"},"d":2}"#, r#"a="\"}" b={"c":"]}\\"} d=2"#);
    }

    #[test]
    fn text_that_is_not_an_object_has_no_members() {
        for text in ["", "[1]", "{", "{\"a", "{\"a\"", "{\"a\":", "\"", "{,}", "nonsense"] {
            for (_, rest) in Members::of(text.as_bytes()) {
                assert!(value(rest).is_empty(), "{text}");
            }
        }
    }
}
