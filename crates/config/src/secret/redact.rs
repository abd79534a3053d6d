//! Redaction of secrets in arguments and command lines.
//!
//! Secrets are guessed from names and forms, and in doubt a text is redacted. The trust prompt has
//! rules of its own, so that nothing that would run is concealed.

use std::borrow::Cow;

use super::{REDACTED, names_a_secret, redact_url};

/// Authentication schemes, which stand before a token in a header.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];

/// Quotes around a word of a command line.
const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Redacts arguments: the value after a flag such as `--token`, values of assignments and headers
/// with the name of a secret, and the user and query of addresses.
pub fn redact_args<'a>(args: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut hide_next = false;
    let redact = |arg: &'a str| {
        let redacted =
            if hide_next && !arg.starts_with("--") { REDACTED.into() } else { redact_text(arg) };
        hide_next = is_secret_flag(arg);
        redacted.into_owned()
    };
    args.into_iter().map(redact).collect()
}

/// Redacts a command, which may be a whole command line with a secret in it.
pub fn redact_command(command: &str) -> String {
    redact_text(command).into_owned()
}

fn is_secret_flag(arg: &str) -> bool {
    arg.starts_with('-') && !arg.contains(['=', ' ', ':']) && names_a_secret(arg)
}

/// Redacts one argument, which may be a whole command line or JSON.
fn redact_text(text: &str) -> Cow<'_, str> {
    // Fast path: most arguments have no character that could introduce a secret.
    if !text.contains(['=', ':', '{', ' ', '\n', '\t', '@']) {
        return text.into();
    }
    if text.contains('"') && text.contains(':') {
        let redacted = redact_json(text);
        if redacted != text {
            return redacted.into();
        }
    }
    if let Some((name, _)) = header(text) {
        return format!("{name}: {REDACTED}").into();
    }
    if text.contains(char::is_whitespace) { redact_words(text).into() } else { redact_word(text) }
}

/// Redacts a text of several words and keeps the white space between them.
fn redact_words(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut hides = false;
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        let bare = word.trim_matches(QUOTES);
        let is_scheme = SCHEMES.iter().any(|scheme| bare.eq_ignore_ascii_case(scheme));
        if word.is_empty() || (hides && is_scheme) {
            redacted.push_str(piece);
            continue;
        }
        if hides && !bare.starts_with("--") {
            redacted.push_str(REDACTED);
            // The closing quote of the argument is not part of the secret.
            redacted.extend(word.chars().last().filter(|last| matches!(last, '"' | '\'')));
        } else {
            redacted.push_str(&redact_word(word));
        }
        redacted.push_str(&piece[word.len()..]);
        let names_header = bare.strip_suffix(':').is_some_and(names_a_secret);
        hides = names_header || is_secret_flag(bare);
    }
    redacted
}

/// Redacts one word.
fn redact_word(word: &str) -> Cow<'_, str> {
    let bare = word.trim_start_matches(QUOTES);
    if let Some((name, _)) = header(bare).filter(|(_, value)| !value.is_empty()) {
        let quote = &word[..word.len() - bare.len()];
        return format!("{quote}{name}: {REDACTED}").into();
    }
    let inner = bare.trim_end_matches(QUOTES);
    let (start, end) = (&word[..word.len() - bare.len()], &bare[inner.len()..]);
    // In an address, `=` belongs to the query, so the text before it is not the name of a value.
    let assigned = inner.split_once('=').filter(|(name, _)| !name.contains("//"));
    let (name, value) =
        assigned.map_or(("", inner), |(name, value)| (&inner[..=name.len()], value));
    if assigned.is_some_and(|(name, _)| names_a_secret(name)) {
        return format!("{start}{name}{REDACTED}{end}").into();
    }
    let redacted = if value.contains("//") { redact_url(value) } else { value.to_owned() };
    if redacted == value { word.into() } else { format!("{start}{name}{redacted}{end}").into() }
}

/// Splits `Name: value` if the name is that of a secret.
fn header(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    let is_name = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    (is_name && !value.starts_with("//") && names_a_secret(name)).then_some((name, value))
}

/// Redacts the string values of keys with the name of a secret in JSON text.
fn redact_json(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('"') {
        let Some(end) = end_of_string(after) else { break };
        let (name, tail) = (&after[..end], &after[end + 1..]);
        redacted.push_str(before);
        redacted.push('"');
        redacted.push_str(name);
        redacted.push('"');
        rest = tail;
        let value = tail.trim_start().strip_prefix(':').map(str::trim_start);
        let value = value.and_then(|value| value.strip_prefix('"'));
        if let Some(value) = value.filter(|_| names_a_secret(name)) {
            redacted.push_str(&tail[..tail.len() - value.len()]);
            redacted.push_str(REDACTED);
            rest = end_of_string(value).map_or("", |end| &value[end..]);
            if let Some(after_quote) = rest.strip_prefix('"') {
                redacted.push('"');
                rest = after_quote;
            }
        }
    }
    redacted.push_str(rest);
    redacted
}

/// Finds the quote that ends a JSON string; escaped quotes are skipped.
fn end_of_string(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_arguments_are_redacted() {
        let cases: [(&[&str], &[&str]); 18] = [
            (&["-y", "@scope/pkg@1.0", "a b"], &["-y", "@scope/pkg@1.0", "a b"]),
            (&["--token", "abc", "x"], &["--token", "•••", "x"]),
            (&["--token", "-abc"], &["--token", "•••"]),
            (&["--key", "sk-1"], &["--key", "•••"]),
            (&["--api-key=abc"], &["--api-key=•••"]),
            (&["OPENAI_KEY=sk-1"], &["OPENAI_KEY=•••"]),
            (&["--token", "--verbose"], &["--token", "--verbose"]),
            (&["--header", "Authorization: Bearer abc"], &["--header", "Authorization: •••"]),
            (&["Authorization: Basic dXNlcjpwYXNz=="], &["Authorization: •••"]),
            (&["Authorization:Bearer sk-1"], &["Authorization: •••"]),
            (&["X-Api-Key:abc"], &["X-Api-Key: •••"]),
            (&["--config={\"apiKey\":\"x\",\"a\":1}"], &["--config={\"apiKey\":\"•••\",\"a\":1}"]),
            (&["{\"token\": \"x\\\"y\"}"], &["{\"token\": \"•••\"}"]),
            (
                &["curl -H 'Authorization: Bearer X' | x"],
                &["curl -H 'Authorization: Bearer •••' | x"],
            ),
            (&["run --password x --verbose"], &["run --password ••• --verbose"]),
            (&["TOKEN=x run"], &["TOKEN=••• run"]),
            (&["C:\\tools\\x.exe", "host:8080"], &["C:\\tools\\x.exe", "host:8080"]),
            (&["a=b", "--dir=/x y"], &["a=b", "--dir=/x y"]),
        ];
        for (args, expected) in cases {
            assert_eq!(redact_args(args.iter().copied()), expected);
        }
    }

    #[test]
    fn addresses_in_arguments_are_redacted() {
        let check = |arg: &str, parsed: &str, unparsed: &str| {
            let expected = if cfg!(feature = "http") { parsed } else { unparsed };
            assert_eq!(redact_args([arg].into_iter()), [expected]);
        };
        check("https://h/sse?key=1", "https://h/sse?•••", "https://•••");
        check("--url=https://u:p@h/", "--url=https://•••@h/", "--url=https://•••");
        check(
            "curl https://u:p@h/x?k=1 | x",
            "curl https://•••@h/x?••• | x",
            "curl https://••• | x",
        );
    }

    #[test]
    fn a_command_line_in_place_of_a_command_is_redacted() {
        assert_eq!(redact_command("/opt/my app/run --token abc"), "/opt/my app/run --token •••");
    }
}
