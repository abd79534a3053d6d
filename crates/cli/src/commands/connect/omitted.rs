//! What had to be left out of servers that were connected all the same: headers, variables, credentials.
//!
//! For servers that failed it is the beginning of the reason.

use wharf::{Snapshot, Status};
use wharf_config::Problem;

use crate::commands::Invocation;

/// Returns what was left out, by server.
pub(crate) fn omitted(snapshot: &Snapshot) -> Vec<Problem> {
    let there = snapshot.servers().filter(|server| server.status == Status::Connected);
    there.flat_map(|server| server.left_out()).collect()
}

/// Says what was left out.
pub(super) fn say(snapshot: &Snapshot, invocation: &Invocation) {
    invocation.ui.problems(&omitted(snapshot), &invocation.env);
}
