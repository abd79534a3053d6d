//! Headers, variables and credentials that were omitted from the configuration of connected
//! servers, because they could not be resolved.
//!
//! The error message of a server that failed already begins with them.

use wharf::{Snapshot, Status};
use wharf_config::Problem;

use crate::commands::Invocation;

/// Returns the omitted values of connected servers.
pub(crate) fn omissions(snapshot: &Snapshot) -> Vec<Problem> {
    let connected = snapshot.servers().filter(|server| server.status == Status::Connected);
    connected.flat_map(|server| server.omitted_values()).collect()
}

/// Prints the omitted values.
pub(super) fn print_omissions(snapshot: &Snapshot, invocation: &Invocation) {
    invocation.ui.problems(&omissions(snapshot), &invocation.env);
}
