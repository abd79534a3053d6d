//! Runs the verb of a command line, and prints its failure.

use super::report::FailureDocument;
use super::{Exit, Failure, Invocation};
use crate::args::Cli;
use crate::host::Host;
use crate::ui::{has_printed_document, print_json};

/// Prints a failure as a JSON document, unless the verb has printed its document.
fn print_failure_document(failure: &Failure, invocation: &Invocation) {
    if invocation.ui.json && !has_printed_document() {
        // The failure is also printed to stderr, so an error of writing is ignored.
        drop(print_json(&FailureDocument::of(failure)));
    }
}

/// Runs a command line and returns its exit code.
pub(crate) fn run(cli: &Cli, host: Host) -> Exit {
    let invocation = Invocation::new(&cli.flags, host);
    if cli.verb.changes_definitions() {
        invocation.print_settings_problems();
    }
    cli.verb.run(&invocation).unwrap_or_else(|failure| {
        if !failure.is_closed_output() {
            print_failure_document(&failure, &invocation);
            invocation.ui.failure(&failure);
        }
        failure.exit()
    })
}
