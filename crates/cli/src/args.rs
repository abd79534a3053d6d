//! The command line parser: the flags that every verb takes. The list of verbs is in `verbs`.
//!
//! The arguments of a verb, and its help, are beside its code in `commands/<verb>.rs`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{
    ArgAction, ArgMatches, Args as _, Command, CommandFactory, FromArgMatches, Parser, ValueEnum,
};

use crate::verbs::Verb;
use crate::{help, host};

/// Find, check, use and manage the MCP servers of every program on this machine
///
/// Wharf reads the server definitions of Claude Code, Cursor, VS Code, Codex, Zed and many other
/// programs, decides which definition wins for each name, and reports what is wrong. Only `wharf
/// export` changes files of other programs, after it has shown the change. Nothing that came with a
/// project is started before you trust it.
#[derive(Debug, Parser)]
#[command(
    name = "wharf",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "\
Examples:
  wharf list                 every server, and where it comes from
  wharf tools                what agents can call
  wharf call fs/read path=a  one call
  wharf add docs -- npx -y @modelcontextprotocol/server-filesystem ~/docs
  wharf doctor               what is wrong, and how to fix it
  wharf help call            the help of one verb
  wharf list --json          the same as JSON, for programs

Exit codes: 0 success, 1 failed or not found, 2 usage, 3 could not connect, 4 sign-in needed,
5 timeout, 6 not trusted, 130 cancelled."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) flags: Flags,
    #[command(subcommand)]
    pub(crate) verb: Verb,
    /// The name of the verb, for the span of the run.
    #[cfg(feature = "otel")]
    #[arg(skip)]
    pub(crate) verb_name: String,
}

/// The flags of every verb; they are accepted before and after its name.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Common options")]
#[expect(clippy::struct_excessive_bools, reason = "each one is a switch of the command line")]
pub(crate) struct Flags {
    /// Print one JSON document, with secrets redacted
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Use this folder instead of the working folder
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,
    /// Ignore the files of projects
    #[arg(long, global = true)]
    pub(crate) no_project: bool,
    /// Trust everything in this project, for this run only
    #[arg(long, global = true)]
    pub(crate) trust_project: bool,
    /// Suppress warnings and notices
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print more, such as which files were read; can be repeated
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorWhen,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Parses a command line. The error is also used to print the help or the version.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    parse_one_verb(arguments).map_or_else(|| parse_with_all_verbs(arguments), Ok)
}

/// Parses a command line with a parser for its verb alone: defining all verbs takes longer than
/// most of them run. `None` if that fails, also for an error or for help.
fn parse_one_verb(arguments: &[OsString]) -> Option<Cli> {
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let name = words.find(|word| !word.starts_with('-'))?;
    let parser = Verb::define_one(name, Flags::augment_args(Command::new("wharf")))?;
    read(&parser.try_get_matches_from(arguments).ok()?).ok()
}

fn parse_with_all_verbs(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    // Clap prints its own messages, so it needs the colour setting before it has parsed the flags.
    let mut command = help::command(color_of(arguments), host::help_columns());
    let matches = match command.try_get_matches_from_mut(arguments) {
        Ok(matches) => matches,
        Err(error) => return Err(help::explain_error(error, arguments, &mut command)),
    };
    read(&matches).map_err(|error| error.format(&mut command))
}

/// Returns the complete definition of the command line, for completion.
pub(crate) fn definition() -> Command {
    let mut command = Cli::command();
    command.build();
    command
}

fn read(matches: &ArgMatches) -> Result<Cli, clap::Error> {
    let cli = Cli::from_arg_matches(matches)?;
    #[cfg(feature = "otel")]
    let cli = Cli { verb_name: matches.subcommand_name().unwrap_or_default().to_owned(), ..cli };
    Ok(cli)
}

/// Tells whether a command line asks for JSON, even if it cannot be parsed.
pub(crate) fn wants_json(arguments: &[OsString]) -> bool {
    arguments.iter().skip(1).take_while(|word| *word != "--").any(|word| word == "--json")
}

fn color_of(arguments: &[OsString]) -> clap::ColorChoice {
    let mut words = arguments.iter().filter_map(|argument| argument.to_str());
    let mut choice = clap::ColorChoice::Auto;
    while let Some(word) = words.next().filter(|word| *word != "--") {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('='),
            None => continue,
        };
        choice = match value {
            Some("always") => clap::ColorChoice::Always,
            Some("never") => clap::ColorChoice::Never,
            _ => choice,
        };
    }
    choice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_arguments_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_verb_has_help_with_examples() {
        for verb in Cli::command().get_subcommands() {
            let name = verb.get_name();
            assert!(verb.get_about().is_some(), "{name} has no short help");
            assert!(verb.get_long_about().is_some(), "{name} has no long help");
            let after = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.starts_with("Examples:\n"), "{name} has no examples");
        }
    }

    #[test]
    fn common_flags_count_before_and_after_the_verb() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let parse = |line: &str| parse(&words(line)).unwrap();
        for line in ["wharf --json -vv list", "wharf list --json -vv", "wharf --json list -v -v"] {
            let flags = parse(line).flags;
            assert_eq!((flags.json, flags.verbose), (true, 2), "{line}");
        }
    }

    #[test]
    fn a_parser_for_one_verb_reads_the_same_as_that_for_all() {
        for line in [
            "wharf list",
            "wharf ls",
            "wharf --json -vv tools --search read file",
            "wharf tools --project tools -q",
            "wharf --project tools list",
            "wharf --color never call fs/read path=a --timeout 5s",
            "wharf add docs -- npx -y server --json",
            "wharf --color=always mcp list --json",
            "wharf config get tools.naming",
            "wharf tools --json=x",
            "wharf tools --help",
            "wharf help tools",
            "wharf --version",
            "wharf tools list get",
            "wharf tools --unknown",
            "wharf unknown",
            "wharf -- tools",
            "wharf --project tools",
            "wharf",
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let render = |parsed: Result<Cli, clap::Error>| match parsed {
                Ok(cli) => format!("{cli:?}"),
                Err(error) => error.to_string(),
            };
            assert_eq!(render(parse(&words)), render(parse_with_all_verbs(&words)), "{line}");
        }
        let words = ["wharf", "tools", "--json"].map(OsString::from);
        assert!(parse_one_verb(&words).is_some(), "the parser for one verb is not used");
    }

    #[test]
    fn the_parser_knows_about_colours_before_it_parses() {
        let color = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            color_of(&words)
        };
        assert_eq!(color("wharf list"), clap::ColorChoice::Auto);
        assert_eq!(color("wharf --color never list"), clap::ColorChoice::Never);
        assert_eq!(color("wharf list --color=always"), clap::ColorChoice::Always);
        assert_eq!(color("wharf list -- --color=always"), clap::ColorChoice::Auto);
    }
}
