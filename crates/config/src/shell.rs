//! Quotes words for a shell, so that a copied command line is safe.
//!
//! Names and paths come from untrusted projects and servers. [`is_plain`] is the strict check for
//! words that are inserted into any shell without quotes, as by completion.
//! [`quote`] and [`quote_path`] quote for the shell of this platform.

use crate::text::{escape_invisible, is_invisible};

/// The characters that PowerShell reads as single quotes.
const WINDOWS_QUOTES: [char; 5] = ['\'', '‘', '’', '‚', '‛'];

/// Tells whether a word has no special meaning in Bash, Zsh, Fish and PowerShell, in any position.
///
/// ```
/// use wharf_config::shell::is_plain;
///
/// assert!(is_plain("my-server"));
/// assert!(!is_plain("$(id)") && !is_plain("-rf") && !is_plain("a,b"));
/// ```
pub fn is_plain(word: &str) -> bool {
    let is_begin = |c: char| is_letter(c) || matches!(c, '_' | '.' | '/');
    word.starts_with(is_begin) && word.chars().all(is_plain_inside)
}

/// Quotes a word for the shell of this platform, if it needs quotes.
///
/// ```
/// use wharf_config::shell::quote;
///
/// assert_eq!(quote("docs"), "docs");
/// assert_eq!(quote("x; rm y"), "'x; rm y'");
/// ```
pub fn quote(text: &str) -> String {
    let rendered = escape_invisible(text);
    if needs_no_quotes(text) {
        rendered
    } else if cfg!(windows) {
        format!("'{}'", double_single_quotes(&rendered))
    } else if !text.contains('\'') {
        format!("'{rendered}'")
    } else if text.contains(['"', '$', '`', '\\', '!']) {
        format!("'{}'", rendered.replace('\'', r"'\''"))
    } else {
        format!("\"{rendered}\"")
    }
}

/// Quotes a path and leaves a leading `~/` outside the quotes.
pub fn quote_path(path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(rest) if !rest.is_empty() && !cfg!(windows) => format!("~/{}", quote(rest)),
        _ => quote(path),
    }
}

/// Tells whether a word needs no quotes in the shell of this platform. It may begin with a dash:
/// quotes do not change how a program reads an option.
fn needs_no_quotes(text: &str) -> bool {
    // `•`, which replaces secrets, has no meaning in any shell.
    let is_usual = |c: char| is_plain_inside(c) || c == '•';
    if cfg!(windows) {
        return !text.is_empty() && !text.starts_with(['@', '=']) && text.chars().all(is_usual);
    }
    // Shells replace `~` at the beginning, and some also after `=` or `:`.
    let rest = text.strip_prefix("~/").unwrap_or(text);
    !text.is_empty()
        && !text.starts_with(['=', '%'])
        && rest.chars().all(|c| is_usual(c) || matches!(c, ',' | '%'))
}

fn is_plain_inside(c: char) -> bool {
    is_letter(c) || "_./:@+=-".contains(c)
}

/// Tells whether a character is a visible letter or digit.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !is_invisible(c)
}

fn double_single_quotes(text: &str) -> String {
    let twice = |c: char| if WINDOWS_QUOTES.contains(&c) { 2 } else { 1 };
    text.chars().flat_map(|c| std::iter::repeat_n(c, twice(c))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_a_shell_could_act_on_is_not_plain() {
        for word in ["docs", "my-server", "a.b/c_d", "日本", "plugin:x", "key=", "a@scope", "a+b"]
        {
            assert!(is_plain(word), "{word}");
        }
        for word in [
            "",
            "-rf",
            "a b",
            "$(id)",
            "`id`",
            "a;b",
            "a|b",
            "a&b",
            "a>b",
            "a'b",
            "a\"b",
            "a\\b",
            "a*",
            "a?",
            "~",
            "a~b",
            "=ls",
            "@x",
            "a,b",
            "a{b,c}",
            "a\nb",
            "a\u{1b}[2J",
            "a!b",
            "#a",
            "a(b)",
            "a[b]",
            "%PATH%",
            "a^b",
            "a\u{3164}b",
            "\u{3164}",
            "a\u{115f}",
            "a’b",
        ] {
            assert!(!is_plain(word), "{word:?}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_word_is_quoted_if_the_shell_would_interpret_it() {
        for plain in ["-y", "@scope/pkg", "~/docs", "a,b", "100%", "--header=•••", "日本"] {
            assert_eq!(quote(plain), plain);
        }
        let cases = [
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "\"it's\""),
            ("'$(rm)", r"''\''$(rm)'"),
            ("x; touch evil", "'x; touch evil'"),
            ("~root", "'~root'"),
            ("a=~/b", "'a=~/b'"),
            ("=ls", "'=ls'"),
            ("a\u{3164}b", "'a\\u{3164}b'"),
        ];
        for (text, expected) in cases {
            assert_eq!(quote(text), expected);
        }
    }

    #[test]
    #[cfg(unix)]
    fn the_home_folder_of_a_path_stays_outside_the_quotes() {
        assert_eq!(quote_path("~/.wharf"), "~/.wharf");
        assert_eq!(quote_path("~/my wharf/a"), "~/'my wharf/a'");
        assert_eq!(quote_path("/a b"), "'/a b'");
    }

    #[test]
    fn every_kind_of_single_quote_is_doubled_for_powershell() {
        assert_eq!(double_single_quotes("a'b’c"), "a''b’’c");
    }
}
