//! `wharf trust NAME --tools`: the person agrees to the tools of a server as they are now.
//! `wharf untrust NAME --tools`: the person takes back what they answered for good about calls.

use std::collections::BTreeSet;

use wharf::{RememberedApproval, Runtime};

use super::record::Report;
use crate::commands::{Exit, Failure, Invocation, connect};
use crate::ui::phrase;

/// Connects to servers, one after the other, and accepts their tools.
pub(super) fn accept(
    names: &[String],
    _yes: bool,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let mut messages = Vec::new();
    for name in names {
        let catalog = connect::only(name, invocation)?;
        let work = async |runtime: &Runtime| runtime.accept_tools(name).await;
        connect::with_servers(invocation, &catalog, work, |accepted| {
            let tools = phrase::count(accepted?, "tool");
            let server = phrase::quoted(name);
            messages.push(format!("Accepted the {tools} of {server} as they are now."));
            Ok(Exit::Fine)
        })?;
    }
    Report::of_names(names.to_vec(), messages.join("\n")).show(invocation)
}

/// Takes back every answer that lets tools of these servers be called without asking.
pub(crate) fn forget(names: &[String], invocation: &Invocation) -> Result<Exit, Failure> {
    let home = invocation.env.wharf_home().ok_or(Failure::NoHome)?;
    let catalog = invocation.load()?;
    let (mut taken_back, mut messages) = (Vec::new(), Vec::new());
    let mut unknown = None;
    for name in names {
        let taken = wharf::forget_approvals(&home, name, None)?;
        if !taken.is_empty() {
            let (tools, server) = (said(&taken), phrase::quoted(name));
            messages.push(format!("Agents ask again before they call {tools} of {server}."));
            taken_back.push(name.clone());
        } else if catalog.candidates(name).next().is_none() {
            unknown = unknown.or(Some(name));
        }
    }
    // The others were taken back all the same; who asks again hears that nothing is left.
    if let Some(name) = unknown {
        return Err(Failure::not_found(name, &catalog));
    }
    if messages.is_empty() {
        messages.push("No calls of that were allowed for good.".to_owned());
    }
    Report::of_names(taken_back, messages.join("\n")).show(invocation)
}

/// Says which tools are meant.
fn said(taken: &[RememberedApproval]) -> String {
    if taken.iter().any(|approval| approval.everything) {
        return "any tool".to_owned();
    }
    // Definitions of the same name may have been agreed to one after the other.
    let names: BTreeSet<&str> =
        taken.iter().flat_map(|approval| &approval.tools).map(String::as_str).collect();
    phrase::quoted_list(names)
}
