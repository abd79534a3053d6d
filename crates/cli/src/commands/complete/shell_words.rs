//! Splits the beginning of a command line into words, as a POSIX shell does.

/// Returns the words of a line that ends at the cursor. The last word is still being typed and may
/// be empty.
pub(super) fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => {
                word.get_or_insert_default().extend(characters.next());
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.push(word.unwrap_or_default());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_a_shell_splits_it() {
        let cases: [(&str, &[&str]); 8] = [
            ("wharf ca", &["wharf", "ca"]),
            ("wharf call ", &["wharf", "call", ""]),
            (
                "wharf  call fs/read path='my file' x",
                &["wharf", "call", "fs/read", "path=my file", "x"],
            ),
            (r#"wharf "a\"b" c\ d"#, &["wharf", "a\"b", "c d"]),
            ("wharf 'open it", &["wharf", "open it"]),
            ("wharf ''", &["wharf", ""]),
            (r"wharf x\", &["wharf", "x"]),
            ("", &[""]),
        ];
        for (line, expected) in cases {
            assert_eq!(split(line), expected, "{line}");
        }
    }
}
