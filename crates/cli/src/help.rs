//! The help of the program as a whole: its verbs in groups, and what is said about flags and verbs
//! of parts that do not exist yet.
//!
//! The parser has no groups of verbs, so the list is written here: the groups are those of `verbs`,
//! and the lines are taken from the verbs themselves.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, Command, CommandFactory};

use crate::args::Cli;
use crate::ui::{self, phrase};
use crate::verbs::GROUPS;

/// The group in which `help` stands.
const HELP_GROUP: &str = "Wharf itself";

/// Flags of parts that do not exist yet, and what those parts are.
const FUTURE_FLAGS: [(&str, &str); 1] =
    [("--no-daemon", "the background process that shares connections")];

/// Verbs of parts that do not exist yet, and what can be used instead.
const FUTURE_VERBS: [(&str, &str); 8] = [
    ("reauth", STORE_A_TOKEN),
    ("login", STORE_A_TOKEN),
    ("unauth", "`wharf remove NAME` forgets the token of a server, too"),
    ("logout", "`wharf remove NAME` forgets the token of a server, too"),
    ("reload", "every command reads all files anew"),
    ("daemon", "every command connects on its own"),
    ("serve", "`wharf export PROGRAM` copies your servers to another program"),
    ("chat", "`wharf call` calls a tool"),
];

const STORE_A_TOKEN: &str = "`wharf add NAME --token -` stores a token for a server";

/// Returns the whole command line, with the verbs in groups.
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
        // The parser adds the verb `help` when it begins to work.
        let help = if title == HELP_GROUP { Some("help") } else { None };
        for verb in verbs.iter().copied().chain(help).filter(|verb| !is_hidden(verb)) {
            let _infallible = write!(text, "  {literal}{verb:<width$}{literal:#}");
            let indent = " ".repeat(width + 4);
            // The name stands where the first line would be indented.
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

/// Returns an error that says more about why a line was not understood, if there is more to say.
pub(crate) fn explain_error(
    error: clap::Error,
    arguments: &[OsString],
    command: &mut Command,
) -> clap::Error {
    future_feature(&error, command)
        .or_else(|| missing_separator(&error, arguments, command))
        .unwrap_or(error)
}

/// Says that a flag or verb belongs to a part that does not exist yet, where that is why the line
/// was not understood.
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

/// Says that the command of a server comes after `--`, where that is why `add` was not understood.
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
    let shown =
        |words: &[&str]| words.iter().map(|word| phrase::word(word)).collect::<Vec<_>>().join(" ");
    let (before, after) = words.split_at(at);
    let message = format!(
        "the command of a server comes after `--`\n\n  tip: wharf {} -- {}",
        shown(before),
        shown(after)
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
        let first: Vec<&str> = verbs.skip_while(|line| *line != "Every day:").take(4).collect();
        insta::assert_snapshot!(first.join("\n"), @"
        Every day:
          list         List every server,
                       whichever program's file
                       it is in [alias: ls]
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
