//! Decides which servers to ask about, asks, and remembers the answers.

use clap::Args;
use wharf_config::{Catalog, Level, Server, State};

use super::agreement;
use super::chosen::Chosen;
use super::record::{Report, change};
use super::tools;
use crate::commands::{Exit, Failure, Invocation};
use crate::ui::{Answer, phrase};

/// Agree to servers that came with this project
///
/// A server that a project's file defines is not started, and nothing in it is expanded, before
/// you agree to exactly what it says. Any later change asks again. Without a name each one is
/// shown and asked about; with names or --all what you agree to is printed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf trust                    show and ask, one by one
  wharf trust fs github
  wharf trust --all
  wharf trust --folder           let your own servers run in this folder
  wharf trust github --tools     accept its tools, now that they have changed")]
pub(crate) struct TrustArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// Connect to the servers, and accept their tools as they are now
    #[arg(long, requires = "names", conflicts_with_all = ["all", "folder"])]
    tools: bool,
}

/// Agrees to servers or to a folder.
pub(crate) fn run(args: &TrustArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let chosen = &args.chosen;
    if args.tools {
        return tools::accept(&chosen.names, invocation);
    }
    let asks = chosen.asks(invocation)?;
    let catalog = invocation.load_with_recorded_trust()?;
    if chosen.folder {
        return trust_folder(&catalog, invocation);
    }
    let untrusted = |server: &&Server| server.state == State::Untrusted;
    if asks {
        let agreed = ask(catalog.winners().into_iter().filter(untrusted), invocation);
        return trust(&agreed, Vec::new(), invocation);
    }
    if chosen.all {
        let all: Vec<&Server> = catalog.winners().into_iter().filter(untrusted).collect();
        return trust_and_show(&all, Vec::new(), invocation);
    }
    let mut named: Vec<&Server> = Vec::new();
    for name in &chosen.names {
        let server = catalog.winner(name).ok_or_else(|| Failure::not_found(name, &catalog))?;
        if !named.iter().any(|other| std::ptr::eq(*other, server)) {
            named.push(server);
        }
    }
    let (untrusted, others): (Vec<&Server>, Vec<&Server>) =
        named.into_iter().partition(|server| !server.trust.is_enough());
    let remarks = others.into_iter().map(needs_nothing).collect();
    trust_and_show(&untrusted, remarks, invocation)
}

/// Asks about servers that another verb is about to need, and tells whether any was agreed to.
pub(crate) fn ask_in_place(servers: &[&Server], invocation: &Invocation) -> Result<bool, Failure> {
    let agreed = ask(servers.iter().copied(), invocation);
    if agreed.is_empty() {
        return Ok(false);
    }
    record_all(&agreed, invocation)?;
    Ok(true)
}

/// Asks about each one until somebody leaves.
fn ask<'a>(servers: impl Iterator<Item = &'a Server>, invocation: &Invocation) -> Vec<&'a Server> {
    let mut agreed = Vec::new();
    for server in servers {
        let text = agreement::describe(server, &invocation.env);
        invocation.ui.message(&text);
        let name = phrase::quoted(server.definition.name.as_str());
        match invocation.ui.ask(&format!("Trust {name}?")) {
            Answer::Yes => agreed.push(server),
            Answer::No => {}
            Answer::Gone => break,
        }
    }
    agreed
}

fn trust_and_show(
    servers: &[&Server],
    remarks: Vec<String>,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    for server in servers {
        invocation.ui.notice(agreement::describe(server, &invocation.env).trim_end());
    }
    trust(servers, remarks, invocation)
}

fn trust(
    servers: &[&Server],
    mut remarks: Vec<String>,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let names: Vec<String> =
        servers.iter().map(|server| server.definition.name.as_str().to_owned()).collect();
    if !servers.is_empty() {
        record_all(servers, invocation)?;
        let list = phrase::quoted_list(names.iter().map(String::as_str));
        remarks.insert(0, format!("Trusted {list} as written now."));
    }
    if remarks.is_empty() {
        remarks.push("Nothing was trusted.".to_owned());
    }
    Report::of_names(names, remarks.join("\n")).show(invocation)
}

fn record_all(servers: &[&Server], invocation: &Invocation) -> Result<(), Failure> {
    change(invocation, |record| {
        for server in servers {
            record.accept(&server.definition, &invocation.env);
        }
    })
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
    change(invocation, |record| record.accept_folder(folder))?;
    let shown = phrase::path(folder, &invocation.env);
    let message = format!("Trusted the folder {shown}: your own servers may run in it.");
    let folder = Some(folder.to_string_lossy().into_owned());
    Report { ok: true, names: Vec::new(), folder, message }.show(invocation)
}
