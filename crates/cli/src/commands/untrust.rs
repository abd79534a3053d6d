//! `wharf untrust`: revokes the trust that `wharf trust` recorded.

use clap::Args;
use wharf_config::trust::Trust;
use wharf_config::{Catalog, Server};

use super::trust::record::{TrustReport, update_record};
use super::trust::selection::TrustSelection;
use super::trust::tool_review;
use super::{Exit, Failure, Invocation};
use crate::ui::{Confirmation, phrase};

/// Stop trusting servers of this project
///
/// Wharf does not start a server that is no longer trusted. Without a name, you are asked about
/// each trusted server. With --tools the servers stay trusted, but agents ask again before they
/// call their tools.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf untrust fs
  wharf untrust --all
  wharf untrust --folder
  wharf untrust github --tools   revoke every \"always\" for calls of its tools")]
pub(crate) struct UntrustArgs {
    #[command(flatten)]
    selection: TrustSelection,
    /// Revoke the permanent approvals for calls of the tools of these servers
    #[arg(long, requires = "names", conflicts_with_all = ["all", "folder"])]
    tools: bool,
}

/// Revokes trust.
pub(crate) fn run(args: &UntrustArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let selection = &args.selection;
    if args.tools {
        return tool_review::forget(&selection.names, invocation);
    }
    let asks = selection.asks(invocation)?;
    let catalog = invocation.load_with_recorded_trust()?;
    if selection.folder {
        return folder(&catalog, invocation);
    }
    if selection.all {
        let names =
            update_record(invocation, |record| record.revoke_all(&catalog.project_folders))?;
        return report(names, invocation);
    }
    if asks {
        return revoke(&ask(&catalog, invocation), &catalog, invocation);
    }
    revoke(&selection.names, &catalog, invocation)
}

fn revoke(names: &[String], catalog: &Catalog, invocation: &Invocation) -> Result<Exit, Failure> {
    let folders = &catalog.project_folders;
    let known = |name: &String| catalog.candidates(name).next().is_some();
    // A server that was removed from its file may still be recorded.
    let revoked = update_record(invocation, |record| {
        let revoked = names.iter().filter(|name| record.revoke(name, folders));
        revoked.cloned().collect::<Vec<_>>()
    })?;
    let unknown = names.iter().find(|name| !known(name) && !revoked.contains(name));
    match unknown {
        Some(name) => Err(Failure::not_found(name, catalog)),
        None => report(revoked, invocation),
    }
}

fn ask(catalog: &Catalog, invocation: &Invocation) -> Vec<String> {
    let on_record = |server: &&Server| matches!(server.trust, Trust::Accepted | Trust::Changed(_));
    let mut names = Vec::new();
    for server in catalog.winners().into_iter().filter(on_record) {
        let name = server.definition.name.as_str();
        match invocation.ui.confirm(&format!("Stop trusting {}?", phrase::quoted(name))) {
            Confirmation::Yes => names.push(name.to_owned()),
            Confirmation::No => {}
            Confirmation::InputClosed => break,
        }
    }
    names
}

fn report(names: Vec<String>, invocation: &Invocation) -> Result<Exit, Failure> {
    let message = if names.is_empty() {
        "None of these were trusted.".to_owned()
    } else {
        format!("No longer trusted: {}.", phrase::quoted_list(names.iter().map(String::as_str)))
    };
    TrustReport::of_names(names, message).show(invocation)
}

fn folder(catalog: &Catalog, invocation: &Invocation) -> Result<Exit, Failure> {
    let folder = catalog.project_folders.last().ok_or(Failure::NotAProject)?;
    let was_trusted = update_record(invocation, |record| {
        // All folders up to the root, because one may have been trusted before it was a repository.
        let folders = catalog.project_folders.iter();
        folders.fold(false, |was, folder| record.revoke_folder(folder) | was)
    })?;
    let rendered = phrase::path(folder, &invocation.env);
    let message = if was_trusted {
        format!("No longer trusted: the folder {rendered}.")
    } else {
        format!("The folder {rendered} was not trusted by itself.")
    };
    let folder = Some(folder.to_string_lossy().into_owned());
    TrustReport { ok: true, names: Vec::new(), folder, message }.show(invocation)
}
