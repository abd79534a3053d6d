//! Shows the trust prompt for untrusted servers, and records the answers.

use std::path::Path;

use clap::Args;
use wharf_config::trust::TrustSubject;
use wharf_config::{Catalog, Definition, DefinitionState, Level, Server};

use super::record::{TrustReport, update_record};
use super::selection::TrustSelection;
use super::tool_review;
use super::trust_prompt;
use crate::commands::{Exit, Failure, Invocation};
use crate::ui::{Confirmation, phrase};

/// Trust servers that came with this project
///
/// Wharf does not start a server from a project's file, and does not expand anything in it, before
/// you trust its exact definition. After any change you are asked again. On a terminal each server
/// is shown and you are asked about it, even if you refused it before. Elsewhere the named servers
/// are shown and trusted.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf trust                    show and ask, one by one
  wharf trust fs github
  wharf trust --all
  wharf trust --folder           let your own servers run in this folder
  wharf trust github --tools     review how its tools have changed, and accept them")]
pub(crate) struct TrustArgs {
    #[command(flatten)]
    selection: TrustSelection,
    /// Connect to the servers, show how their tools have changed, and accept the changes
    #[arg(long, requires = "names", conflicts_with_all = ["all", "folder"])]
    tools: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// The notice when trusting the first server of a folder also affects the user's own servers.
const OPENS_FOLDER: &str =
    "Your own servers now run in this folder, too; before, they ran in your home folder.";

/// A server with the exact data that is shown, fingerprinted and recorded.
struct TrustCandidate<'a> {
    server: &'a Server,
    subject: TrustSubject,
}

impl<'a> TrustCandidate<'a> {
    fn new(server: &'a Server, invocation: &Invocation) -> Self {
        Self { server, subject: TrustSubject::of(&server.definition, &invocation.env) }
    }

    fn name(&self) -> &str {
        self.server.definition.name.as_str()
    }

    fn describe(&self, invocation: &Invocation) -> String {
        trust_prompt::describe(self.server, &self.subject, &invocation.env)
    }
}

/// The answers about servers.
#[derive(Default)]
struct TrustAnswers<'a> {
    agreed: Vec<TrustCandidate<'a>>,
    refused: Vec<TrustCandidate<'a>>,
}

/// Trusts servers or a folder.
pub(crate) fn run(args: &TrustArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let selection = &args.selection;
    if args.tools {
        return tool_review::accept(&selection.names, args.yes, invocation);
    }
    let names_none = selection.asks(invocation)?;
    let catalog = invocation.load_with_recorded_trust()?;
    if selection.folder {
        return trust_folder(&catalog, invocation);
    }
    let (servers, remarks) = if names_none || selection.all {
        let winners = catalog.winners().into_iter();
        (winners.filter(|server| server.state == DefinitionState::Untrusted).collect(), Vec::new())
    } else {
        named(&selection.names, &catalog)?
    };
    let asks = invocation.ui.can_ask && !args.yes && !invocation.ui.json;
    let answers = if asks || names_none {
        ask(servers.into_iter(), invocation)
    } else {
        let agreed: Vec<TrustCandidate<'_>> =
            servers.into_iter().map(|server| TrustCandidate::new(server, invocation)).collect();
        for candidate in &agreed {
            invocation.ui.notice(candidate.describe(invocation).trim_end());
        }
        TrustAnswers { agreed, refused: Vec::new() }
    };
    let opens_folder = record_all(&answers, &catalog, invocation)?;
    report(&answers, remarks, opens_folder, invocation)
}

/// Returns the untrusted servers among these names, and remarks about the others.
fn named<'a>(
    names: &[String],
    catalog: &'a Catalog,
) -> Result<(Vec<&'a Server>, Vec<String>), Failure> {
    let mut found: Vec<&Server> = Vec::new();
    for name in names {
        let server = catalog.winner(name).ok_or_else(|| Failure::not_found(name, catalog))?;
        if !found.iter().any(|other| std::ptr::eq(*other, server)) {
            found.push(server);
        }
    }
    let (untrusted, others): (Vec<&Server>, Vec<&Server>) =
        found.into_iter().partition(|server| !server.trust.allows_use());
    Ok((untrusted, others.into_iter().map(needs_nothing).collect()))
}

/// Asks about servers that another verb needs; returns whether any was trusted.
pub(crate) fn ask_in_place(
    servers: &[&Server],
    catalog: &Catalog,
    invocation: &Invocation,
) -> Result<bool, Failure> {
    let answers = ask(servers.iter().copied(), invocation);
    if record_all(&answers, catalog, invocation)? {
        invocation.ui.notice(OPENS_FOLDER);
    }
    Ok(!answers.agreed.is_empty())
}

/// Asks about each server, until the input is closed.
fn ask<'a>(servers: impl Iterator<Item = &'a Server>, invocation: &Invocation) -> TrustAnswers<'a> {
    let mut answers = TrustAnswers::default();
    for server in servers {
        let candidate = TrustCandidate::new(server, invocation);
        invocation.ui.message(&candidate.describe(invocation));
        match invocation.ui.confirm(&format!("Trust {}?", phrase::quoted(candidate.name()))) {
            Confirmation::Yes => answers.agreed.push(candidate),
            Confirmation::No => answers.refused.push(candidate),
            Confirmation::InputClosed => break,
        }
    }
    answers
}

fn report(
    answers: &TrustAnswers<'_>,
    mut remarks: Vec<String>,
    opens_folder: bool,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    if opens_folder {
        remarks.insert(0, OPENS_FOLDER.to_owned());
    }
    let names: Vec<String> =
        answers.agreed.iter().map(|candidate| candidate.name().to_owned()).collect();
    if !answers.refused.is_empty() {
        let list = phrase::quoted_list(answers.refused.iter().map(TrustCandidate::name));
        remarks
            .insert(0, format!("Not trusted: {list}. You are not asked again unless it changes."));
    }
    if !names.is_empty() {
        let list = phrase::quoted_list(names.iter().map(String::as_str));
        let it = if names.len() == 1 { "it" } else { "one of them" };
        remarks.insert(0, format!("Trusted {list}. You are asked again if {it} changes."));
    }
    if remarks.is_empty() {
        remarks.push("Nothing was trusted.".to_owned());
    }
    TrustReport::of_names(names, remarks.join("\n")).show(invocation)
}

/// Records the answers; returns whether the user's own servers now run in this folder.
fn record_all(
    answers: &TrustAnswers<'_>,
    catalog: &Catalog,
    invocation: &Invocation,
) -> Result<bool, Failure> {
    if answers.agreed.is_empty() && answers.refused.is_empty() {
        return Ok(false);
    }
    update_record(invocation, |record| {
        let was_trusted = record.trusts_folder(&catalog.project_folders);
        for candidate in &answers.agreed {
            record.accept(&candidate.subject);
        }
        for candidate in &answers.refused {
            record.refuse(&candidate.subject);
        }
        let opens_folder = !was_trusted && record.trusts_folder(&catalog.project_folders);
        opens_folder && catalog.winners().into_iter().any(runs_in_trusted_folder)
    })
}

/// Tells whether a server of the user's own runs in the working folder once that is trusted.
fn runs_in_trusted_folder(server: &Server) -> bool {
    let Definition { source, fields, .. } = &server.definition;
    let cwd = fields.cwd.as_ref().map(|cwd| Path::new(&cwd.text));
    server.state == DefinitionState::Enabled
        && !matches!(source.level, Level::Project | Level::Builtin)
        && fields.command.is_some()
        && cwd.is_none_or(|cwd| !cwd.is_absolute())
}

fn needs_nothing(server: &Server) -> String {
    let name = phrase::quoted(server.definition.name.as_str());
    match server.definition.source.level {
        Level::Project => format!("{name} is trusted already."),
        _ => format!("{name} needs no trust: it did not come with a project."),
    }
}

fn trust_folder(catalog: &Catalog, invocation: &Invocation) -> Result<Exit, Failure> {
    // The outermost folder is the root of the repository, or the working folder outside of one.
    let folder = catalog.project_folders.last().ok_or(Failure::NotAProject)?;
    update_record(invocation, |record| record.accept_folder(folder))?;
    let rendered = phrase::path(folder, &invocation.env);
    let message = format!("Trusted the folder {rendered}: your own servers may run in it.");
    let folder = Some(folder.to_string_lossy().into_owned());
    TrustReport { ok: true, names: Vec::new(), folder, message }.show(invocation)
}
