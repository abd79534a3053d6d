//! Formats names, paths, problems, command lines and durations for the screen. Control characters
//! in untrusted text are escaped.

use std::borrow::Cow;
use std::path::Path;

use wharf_config::text::{clean, clean_lines, clip_escaped, escape_invisible};
use wharf_config::view::CatalogServerView;
use wharf_config::{Approval, Env, Level, Problem, Source, shell};

/// The longest name that is printed in full, in characters.
const LONGEST_NAME: usize = 60;

/// Formats a name.
pub(crate) fn name(name: &str) -> String {
    clip_escaped(name, LONGEST_NAME)
}

/// Formats a name in quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", clip_escaped(name, LONGEST_NAME))
}

/// Formats names in quotes, the last one after "and".
pub(crate) fn quoted_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.into_iter().map(quoted).collect();
    match names.pop() {
        Some(last) if names.is_empty() => last,
        Some(last) => format!("{} and {last}", names.join(", ")),
        None => String::new(),
    }
}

/// Formats a text of several lines: escapes unsafe characters, but keeps line ends and tabs.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return text.into();
    }
    clean_lines(text).into()
}

/// Formats the first line of a text.
pub(crate) fn first_line(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    clean(lines.into_iter().find(|line| !line.is_empty()).unwrap_or_default())
}

/// Formats a path with `~` for the home folder.
pub(crate) fn path(path: &Path, env: &Env) -> String {
    escape_invisible(&env.display_path(path))
}

/// Formats a number with its noun: `1 server`, `2 servers`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Formats the program and the level of a source: `Cursor · project`.
pub(crate) fn source(source: &Source) -> String {
    match source.level {
        Level::Builtin => "Wharf defaults".to_owned(),
        Level::Program => clean(source.provider_name),
        Level::Env => "variable".to_owned(),
        Level::Project | Level::User => {
            format!("{} · {}", clean(source.provider_name), source.level.word())
        }
    }
}

/// Formats the file and the line of a definition: `~/.cursor/mcp.json:3`.
pub(crate) fn place(source: &Source, line: u32, env: &Env) -> String {
    match source.level {
        Level::Builtin => "built in".to_owned(),
        Level::Program => clean(source.provider_name),
        Level::Env => clean(&source.path.to_string_lossy()),
        Level::Project | Level::User => format!("{}:{line}", path(&source.path, env)),
    }
}

/// Formats a problem on one line: file, server, message.
pub(crate) fn problem(problem: &Problem, env: &Env) -> String {
    let file = problem.path.as_deref().map(|file| match problem.line {
        Some(line) => format!("{}:{line}: ", path(file, env)),
        None => format!("{}: ", path(file, env)),
    });
    let server = problem.server.as_deref().map(|server| format!("{}: ", quoted(server)));
    let message = clean(&problem.message);
    format!("{}{}{message}", file.unwrap_or_default(), server.unwrap_or_default())
}

/// Formats the command line or the URL of a server.
pub(crate) fn command_or_url(view: &CatalogServerView<'_>) -> String {
    match (&view.command, &view.url) {
        (Some(command), _) => command_line(command, view.args.as_deref().unwrap_or_default()),
        (None, Some(url)) => clean(url),
        (None, None) => "(nothing)".to_owned(),
    }
}

/// Formats a command line with quoted words.
pub(crate) fn command_line(command: &str, args: &[String]) -> String {
    let words = std::iter::once(command).chain(args.iter().map(String::as_str));
    words.map(word).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a shell, so that it can be copied: nothing in it is executed or expanded.
pub(crate) fn word(text: &str) -> String {
    shell::quote(text)
}

/// Formats milliseconds in a readable unit: `250 ms`, `30 s`, `2 min`.
pub(crate) fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0 => "no limit".to_owned(),
        ms if ms % 60_000 == 0 => format!("{} min", ms / 60_000),
        ms if ms % 1_000 == 0 => format!("{} s", ms / 1_000),
        ms => format!("{ms} ms"),
    }
}

/// Explains an approval policy.
pub(crate) fn approval(approval: Approval) -> &'static str {
    match approval {
        Approval::Ask => "ask (agents need approval for each call)",
        Approval::Writes => "writes (agents need approval unless the tool claims to be read-only)",
        Approval::Never => "never (agents need no approval)",
        Approval::Deny => "deny (hidden, cannot be called)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_command_line_are_quoted() {
        let args = ["-y", "a b", "it's", "", "\u{1b}[2J", "日本", "'$(rm)"].map(str::to_owned);
        let expected = if cfg!(windows) {
            r"npx -y 'a b' 'it''s' '' '\u{1b}[2J' 日本 '''$(rm)'"
        } else {
            r#"npx -y 'a b' "it's" '' '\u{1b}[2J' 日本 ''\''$(rm)'"#
        };
        assert_eq!(command_line("npx", &args), expected);
        assert_eq!(word("a\u{3164}b"), "'a\\u{3164}b'");
        assert_eq!(quoted("git\u{200d}hub"), "\"git\\u{200d}hub\"");
    }

    #[test]
    fn line_ends_are_kept_and_control_characters_are_escaped() {
        assert_eq!(lines("a\tb\nc"), "a\tb\nc");
        assert_eq!(lines("a\r\nb\rc\u{1b}[2Jé\u{202e}"), "a\nb\\rc\\u{1b}[2Jé\\u{202e}");
        assert_eq!(first_line("\n  the first \nthe second"), "the first");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(quoted(&"x".repeat(10_000)), format!("\"{}…\"", "x".repeat(59)));
    }

    #[test]
    fn lists_of_names_read_like_a_sentence() {
        assert_eq!(quoted_list(["a"]), "\"a\"");
        assert_eq!(quoted_list(["a", "b", "c"]), "\"a\", \"b\" and \"c\"");
    }

    #[test]
    fn limits_are_shown_in_a_readable_unit() {
        let cases = [(0, "no limit"), (250, "250 ms"), (30_000, "30 s"), (120_000, "2 min")];
        for (milliseconds, expected) in cases {
            assert_eq!(duration(milliseconds), expected);
        }
    }
}
