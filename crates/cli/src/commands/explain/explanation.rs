//! Formats an explanation as text: the result, the candidates, the problems, the next step.

use wharf_config::text::clean;
use wharf_config::trust::Trust;
use wharf_config::{
    DefinitionState, Env, FieldUse, Level, Problem, Server, TransportKind, ValueOrigin,
};

use super::differences::differences;
use super::ranking::rank_reason;
use crate::commands::start_check::{StartCheck, StartChecker};
use crate::commands::trust::add_changes;
use crate::ui::{Lines, phrase, style};

/// The data of an explanation.
pub(super) struct ExplanationText<'a> {
    /// The definition that is explained: the winner, or else the first candidate.
    pub(super) best: &'a Server,
    /// The winner of the name, if there is one.
    pub(super) winner: Option<&'a Server>,
    /// All definitions, highest first.
    pub(super) candidates: &'a [&'a Server],
    /// Checks whether programs exist.
    pub(super) starts: &'a StartChecker<'a>,
    /// Shortens paths.
    pub(super) env: &'a Env,
}

impl ExplanationText<'_> {
    /// Returns the whole text.
    pub(super) fn to_text(&self) -> String {
        let mut text = Lines::default();
        text.add(self.first_sentence());
        self.candidates(&mut text);
        self.pinned(&mut text);
        self.expanded(&mut text);
        self.problems(&mut text);
        self.next(&mut text);
        text.into_text()
    }

    fn first_sentence(&self) -> String {
        let server = self.best;
        let name = style::strong(&phrase::quoted(server.definition.name.as_str()));
        let from = self.origin(server);
        match server.state {
            DefinitionState::Enabled => self.enabled_sentence(&name, &from),
            DefinitionState::Disabled => {
                let reason = server.reason.as_deref().map_or_else(String::new, clean);
                format!("{name} is disabled: it is {reason}. It is defined in {from}.")
            }
            DefinitionState::Untrusted => match &server.trust {
                Trust::Changed(_) => {
                    format!(
                        "{name} does not run: it has changed since you trusted it. It is in {from}."
                    )
                }
                Trust::Refused => {
                    format!("{name} does not run: you refused it. It is in {from}.")
                }
                _ => format!(
                    "{name} does not run: it came with {from}, and you have not trusted it yet."
                ),
            },
            DefinitionState::Invalid => {
                let what =
                    self.first_error().map_or_else(String::new, |problem| clean(&problem.message));
                format!("{name} cannot run: {what}. It is defined in {from}.")
            }
            DefinitionState::Duplicate => {
                let other = server.duplicate_of.as_ref().map_or("", |name| name.as_str());
                let other = phrase::quoted(other);
                format!("{name} does not run: it is the same server as {other}. It is in {from}.")
            }
            DefinitionState::Native => {
                format!(
                    "{name} is not connected: native web search is enabled. \
                     It is in {from}."
                )
            }
            DefinitionState::Shadowed => {
                format!("{name} is not used: all of its definitions are shadowed.")
            }
        }
    }

    /// Returns the error that makes the server invalid.
    fn enabled_sentence(&self, name: &str, from: &str) -> String {
        let server = self.best;
        match (server.transport, server.definition.source.level) {
            (_, Level::Builtin) => format!(
                "{name} is one of Wharf's defaults: it is there because nothing is configured."
            ),
            (Some(TransportKind::Stdio), _) => match self.starts.check(server) {
                StartCheck::ProgramNotFound(command) => {
                    let command = clean(&command);
                    format!("{name} would run from {from}, but `{command}` is not found.")
                }
                StartCheck::FolderNotFound(folder) => {
                    let folder = clean(&folder);
                    format!("{name} would run from {from}, but its folder is missing: {folder}.")
                }
                StartCheck::Ready | StartCheck::UrlConfigured => {
                    format!("{name} runs from {from}.")
                }
            },
            _ => format!("{name} is used, from {from}."),
        }
    }

    fn first_error(&self) -> Option<&Problem> {
        let problems =
            self.best.problems.iter().filter(|_| self.best.state == DefinitionState::Invalid);
        problems.into_iter().find(|problem| problem.is_error())
    }

    /// Describes the source of a definition as part of a sentence.
    fn origin(&self, server: &Server) -> String {
        let definition = &server.definition;
        let source = &definition.source;
        let program = clean(source.provider_name);
        let path = phrase::path(&source.path, self.env);
        let line = definition.line;
        match source.level {
            Level::Env if source.provider == "env" => {
                format!("the variable {path}, which replaces all files")
            }
            Level::Env => format!("the variable {path} of {program}"),
            Level::Builtin => "Wharf's defaults".to_owned(),
            Level::Program => program,
            Level::User => format!("your {program} file {path} (line {line})"),
            Level::Project => format!("this project's {program} file {path} (line {line})"),
        }
    }

    fn candidates(&self, text: &mut Lines) {
        if self.candidates.len() < 2 && self.winner.is_some() {
            text.add("It is defined nowhere else.");
            return;
        }
        text.add(match self.candidates.len() {
            1 => "\nThe only definition of this name:".to_owned(),
            number => format!("\n{number} definitions of this name; the first one wins:"),
        });
        for (index, server) in self.candidates.iter().enumerate() {
            let definition = &server.definition;
            let place = phrase::place(&definition.source, definition.line, self.env);
            let is_winner = self.winner.is_some_and(|winner| std::ptr::eq(winner, *server));
            let others = self.winner.filter(|_| !is_winner);
            let differences = others.map(|winner| differences(server, winner));
            let mut what = clean(&rank_reason(server, self.winner, self.env));
            if differences.as_ref().is_some_and(Vec::is_empty) {
                what.push_str("; it is identical");
            }
            let what = if is_winner { style::good(&what) } else { style::faint(&what) };
            let source = phrase::source(&definition.source);
            text.add(format!("  {}. {source}  {}", index + 1, style::faint(&place)));
            text.add(format!("     {what}"));
            for difference in differences.into_iter().flatten() {
                text.add(format!("     {}", style::faint(&difference)));
            }
        }
    }

    /// Adds the pinned protocol revision.
    fn pinned(&self, text: &mut Lines) {
        if let Some(version) = &self.best.definition.fields.policy.protocol_version {
            text.add(format!("Its entry pins the protocol to {}.", clean(version)));
        }
    }

    fn expanded(&self, text: &mut Lines) {
        let server = self.best;
        if server.state == DefinitionState::Untrusted {
            if let Trust::Changed(differences) = &server.trust {
                text.add("\nChanged since you trusted it:");
                add_changes(differences, "  ", text);
            }
            text.add("\nIts placeholders are not expanded until you trust it.");
            return;
        }
        // Missing variables are listed with the problems, with a hint.
        let is_known = |one: &&FieldUse| !matches!(one.used.from, ValueOrigin::Missing(_));
        let known: Vec<&FieldUse> = server.uses.iter().filter(is_known).collect();
        if !known.is_empty() {
            text.add("\nExpanded placeholders:");
        }
        for one in known {
            let variable = clean(&one.used.variable);
            let from = match one.used.from {
                ValueOrigin::Environment => "from the environment",
                ValueOrigin::Default => "from its default",
                ValueOrigin::File => "from a file",
                ValueOrigin::Missing(_) => "missing",
            };
            text.add(format!("  {}: {variable}, {from}", clean(&one.field)));
        }
    }

    fn problems(&self, text: &mut Lines) {
        // The first error of an invalid server is in the first sentence, and its hint at the end.
        let first_error = self.first_error();
        let others: Vec<&Problem> =
            self.best.problems.iter().filter(|problem| Some(*problem) != first_error).collect();
        if !others.is_empty() {
            text.add("\nProblems:");
        }
        for problem in others {
            text.add(format!("  {}", clean(&problem.message)));
            text.hint("    ", problem.hint.as_deref());
        }
    }

    fn next(&self, text: &mut Lines) {
        let server = self.best;
        let word = phrase::word(&phrase::name(server.definition.name.as_str()));
        let step = match server.state {
            DefinitionState::Enabled => match self.starts.check(server) {
                StartCheck::ProgramNotFound(command) => Some(format!(
                    "install `{}`, or give its full path in \"command\"",
                    clean(&command)
                )),
                StartCheck::FolderNotFound(_) => {
                    Some("create the folder, or correct \"cwd\"".to_owned())
                }
                StartCheck::Ready | StartCheck::UrlConfigured => None,
            },
            DefinitionState::Disabled if !server.trust.allows_use() => Some(format!(
                "to use it: `wharf enable {word}`, then `wharf trust {word}` \
                 to see what it would do and agree"
            )),
            DefinitionState::Disabled => Some(format!("to use it: `wharf enable {word}`")),
            DefinitionState::Untrusted => {
                Some(format!("to see what it would run, and trust it: `wharf trust {word}`"))
            }
            DefinitionState::Invalid => {
                let hint = self.first_error().and_then(|problem| problem.hint.as_deref());
                Some(hint.map_or_else(|| "correct the entry in its file".to_owned(), clean))
            }
            DefinitionState::Duplicate => {
                Some("to use both: `wharf config set discovery.duplicates keep`".to_owned())
            }
            DefinitionState::Shadowed => {
                Some("`wharf list --all` shows what is used instead".to_owned())
            }
            DefinitionState::Native => None,
        };
        if let Some(step) = step {
            text.add(format!("\n{} {step}", style::advice("Next:")));
        }
    }
}
