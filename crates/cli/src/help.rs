//! The help of the whole program, with its verbs in groups, and better errors for some usage
//! mistakes, such as flags and verbs of features that do not exist yet.
//!
//! Clap cannot group subcommands, so the list is built here: from the groups in `verbs` and the
//! first help line of each verb.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, Command, CommandFactory};

use crate::args::Cli;
use crate::ui::{self, phrase};
use crate::verbs::GROUPS;

/// The group that lists `help`.
const HELP_GROUP: &str = "Wharf itself";

/// Flags of features that do not exist yet, with the feature.
const FUTURE_FLAGS: [(&str, &str); 1] =
    [("--no-daemon", "the background process that shares connections")];

/// Verbs of features that do not exist yet, with what to use instead.
const FUTURE_VERBS: [(&str, &str); 4] = [
    ("reload", "every command reads all files again"),
    ("daemon", "every command opens its own connections"),
    ("serve", "`wharf export PROGRAM` copies your servers to another program"),
    ("chat", "`wharf call` calls a tool"),
];

/// Returns the parser whose help lists the verbs in groups.
pub(crate) fn command(color: ColorChoice, columns: usize) -> Command {
    let command = Cli::command().color(color);
    let template = template(&command, columns);
    command.help_template(template)
}

fn template(command: &Command, columns: usize) -> String {
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let width = GROUPS.iter().flat_map(|(_, verbs)| *verbs).map(|verb| verb.len()).max();
    let width = width.unwrap_or_default();
    let is_hidden = |verb: &str| command.find_subcommand(verb).is_some_and(Command::is_hide_set);
    let mut text = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for &(title, verbs) in GROUPS {
        let _infallible = write!(text, "\n{header}{title}:{header:#}\n");
        // Clap adds the verb `help` only when it parses.
        let help = if title == HELP_GROUP { Some("help") } else { None };
        for verb in verbs.iter().copied().chain(help).filter(|verb| !is_hidden(verb)) {
            let _infallible = write!(text, "  {literal}{verb:<width$}{literal:#}");
            let indent = " ".repeat(width + 4);
            // The name of the verb replaces the indentation of the first line.
            let about = ui::fill(&about(command, verb), columns, &indent, &indent);
            let _infallible = writeln!(text, "{}", &about[width + 2..]);
        }
    }
    let _infallible = write!(text, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    text
}

fn about(command: &Command, verb: &str) -> String {
    let Some(found) = command.find_subcommand(verb) else {
        return "Print this message, or the help of a verb".to_owned();
    };
    let mut about = found.get_about().map(ToString::to_string).unwrap_or_default();
    for alias in found.get_visible_aliases() {
        let _infallible = write!(about, " [alias: {alias}]");
    }
    about
}

/// Replaces a usage error by one that says more, where a frequent mistake is recognized.
pub(crate) fn explain_error(
    error: clap::Error,
    arguments: &[OsString],
    command: &mut Command,
) -> clap::Error {
    future_feature(&error, command)
        .or_else(|| missing_separator(&error, arguments, command))
        .unwrap_or(error)
}

/// Returns the error for a flag or verb of a feature that does not exist yet.
fn future_feature(error: &clap::Error, command: &mut Command) -> Option<clap::Error> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let message = match error.kind() {
        ErrorKind::UnknownArgument => {
            let word = word(ContextKind::InvalidArg)?;
            let (flag, part) = FUTURE_FLAGS.iter().find(|(flag, _)| *flag == word)?;
            format!("'{flag}' has no effect: {part} does not exist yet")
        }
        ErrorKind::InvalidSubcommand => {
            let word = word(ContextKind::InvalidSubcommand)?;
            let (verb, instead) = FUTURE_VERBS.iter().find(|(verb, _)| *verb == word)?;
            format!("'wharf {verb}' does not exist yet\n\n  tip: {instead}")
        }
        _ => return None,
    };
    Some(command.error(error.kind(), message))
}

/// Returns the error for `add` if the command of the server was typed without `--`.
fn missing_separator(
    error: &clap::Error,
    arguments: &[OsString],
    command: &mut Command,
) -> Option<clap::Error> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let words: Vec<&str> = arguments.iter().skip(1).map(|it| it.to_str()).collect::<Option<_>>()?;
    let verb = words.iter().find(|word| !word.starts_with('-'))?;
    let at = words.iter().position(|it| it == word)?;
    let is_command = *verb == "add" && !word.starts_with('-') && !words.contains(&"--");
    if error.kind() != ErrorKind::UnknownArgument || !is_command {
        return None;
    }
    let render =
        |words: &[&str]| words.iter().map(|word| phrase::word(word)).collect::<Vec<_>>().join(" ");
    let (before, after) = words.split_at(at);
    let message = format!(
        "the command of a server comes after `--`\n\n  tip: wharf {} -- {}",
        render(before),
        render(after)
    );
    let add = command.find_subcommand_mut("add")?;
    Some(add.error(error.kind(), message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verbs_fit_a_narrow_terminal() {
        let text = template(&Cli::command().color(ColorChoice::Never), 40);
        let text = anstream::adapter::strip_str(&text).to_string();
        let verbs = text.lines().filter(|line| !line.contains('{'));
        assert!(verbs.clone().all(|line| line.chars().count() <= 40), "{text}");
        let first: Vec<&str> = verbs.skip_while(|line| *line != "Common:").take(4).collect();
        insta::assert_snapshot!(first.join("\n"), @"
        Common:
          list         List the servers of all
                       programs [alias: ls]
          tools        List the tools of your
        ");
    }

    #[test]
    fn verbs_announced_for_later_do_not_exist_yet() {
        let command = Cli::command();
        for (verb, _) in FUTURE_VERBS {
            assert!(command.find_subcommand(verb).is_none(), "{verb} exists");
        }
    }
}
