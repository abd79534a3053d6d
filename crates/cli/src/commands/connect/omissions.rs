//! What had to be left out of servers that were connected all the same: headers, variables,
//! credentials.
//!
//! For servers that failed it is the beginning of the reason.

use wharf::{Snapshot, Status};
use wharf_config::Problem;

use crate::commands::Invocation;

/// Returns what was left out, by server.
pub(crate) fn omissions(snapshot: &Snapshot) -> Vec<Problem> {
    let there = snapshot.servers().filter(|server| server.status == Status::Connected);
    there.flat_map(|server| server.left_out()).collect()
}

/// Says what was left out.
pub(super) fn print_omissions(snapshot: &Snapshot, invocation: &Invocation) {
    invocation.ui.problems(&omissions(snapshot), &invocation.env);
}
