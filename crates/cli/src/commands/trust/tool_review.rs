//! `wharf trust NAME --tools` reviews and accepts the changed tools of a server.
//! `wharf untrust NAME --tools` revokes the permanent approvals for calls of its tools.

use std::collections::BTreeSet;

use wharf::{RememberedApproval, Runtime};

use super::record::TrustReport;
use crate::commands::connect::{self, RunningCall};
use crate::commands::sign_in::SignIn;
use crate::commands::{Exit, Failure, Invocation};
use crate::ui::{Confirmation, phrase};

/// Connects to servers one after the other, shows how their tools have changed, and accepts the
/// changes if the person agrees.
pub(super) fn accept(
    names: &[String],
    yes: bool,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let (mut accepted, mut messages) = (Vec::new(), Vec::new());
    for name in names {
        let catalog = connect::select_one(name, invocation)?;
        let running = RunningCall::default();
        let work = async |runtime: &Runtime, _: &SignIn<'_>| {
            review(name, yes, invocation, &running, runtime).await
        };
        connect::with_call(invocation, &running, &catalog, work, |outcome| {
            let server = phrase::quoted(name);
            messages.push(match outcome? {
                ReviewOutcome::Same => format!("No tool of {server} needs to be accepted."),
                ReviewOutcome::Refused => format!("The tools of {server} were not accepted."),
                ReviewOutcome::Accepted(many) => {
                    accepted.push(name.clone());
                    let tools = phrase::count(many, "tool");
                    format!("Accepted the {tools} of {server} as they are now.")
                }
            });
            Ok(Exit::Success)
        })?;
    }
    TrustReport::of_names(accepted, messages.join("\n")).show(invocation)
}

/// The result of a review.
enum ReviewOutcome {
    /// No tool has changed.
    Same,
    /// The person did not accept the changes.
    Refused,
    /// The server's tools were accepted; the value is their number.
    Accepted(usize),
}

/// Shows how the tools of a server differ from their pins, and accepts the changes if the person
/// agrees. Without a terminal `--yes` is required, because the changes were not visible before.
async fn review(
    name: &str,
    yes: bool,
    invocation: &Invocation,
    running: &RunningCall,
    runtime: &Runtime,
) -> Result<ReviewOutcome, Failure> {
    let ui = &invocation.ui;
    let review = runtime.review_tools(name).await?;
    if review.changes.is_empty() {
        return Ok(ReviewOutcome::Same);
    }
    running.mark_changes_reported();
    let text = connect::describe_all_changes(name, &review.changes);
    if yes {
        ui.notice(text.trim_end());
    } else {
        ui.message(&text);
    }
    if !yes {
        if !ui.can_ask || ui.json {
            return Err(Failure::Usage {
                message: "changed tools must be reviewed before they are accepted",
                hint: "run it on a terminal, or accept them with --yes",
            });
        }
        let question = format!("Accept these tools of {}?", phrase::quoted(name));
        if ui.confirm_async(&question).await != Confirmation::Yes {
            return Ok(ReviewOutcome::Refused);
        }
    }
    Ok(ReviewOutcome::Accepted(runtime.accept_review(review).await?))
}

/// Revokes all permanent approvals for calls of these servers' tools.
pub(crate) fn forget(names: &[String], invocation: &Invocation) -> Result<Exit, Failure> {
    let home = invocation.env.wharf_home().ok_or(Failure::NoHome)?;
    let catalog = invocation.load()?;
    let (mut taken_back, mut messages) = (Vec::new(), Vec::new());
    let mut unknown = None;
    for name in names {
        let taken = wharf::revoke_approvals(&home, name, None)?;
        if !taken.is_empty() {
            let (tools, server) = (tools_text(&taken), phrase::quoted(name));
            messages.push(format!("Agents ask again before they call {tools} of {server}."));
            taken_back.push(name.clone());
        } else if catalog.candidates(name).next().is_none() {
            unknown = unknown.or(Some(name));
        }
    }
    // The approvals of the other servers are revoked by now.
    if let Some(name) = unknown {
        return Err(Failure::not_found(name, &catalog));
    }
    if messages.is_empty() {
        messages.push("No calls were allowed permanently.".to_owned());
    }
    TrustReport::of_names(taken_back, messages.join("\n")).show(invocation)
}

/// Names the tools of revoked approvals.
fn tools_text(taken: &[RememberedApproval]) -> String {
    if taken.iter().any(|approval| approval.everything) {
        return "any tool".to_owned();
    }
    // Several definitions of one name may have approvals for the same tool.
    let names: BTreeSet<&str> =
        taken.iter().flat_map(|approval| &approval.tools).map(String::as_str).collect();
    phrase::quoted_list(names)
}
