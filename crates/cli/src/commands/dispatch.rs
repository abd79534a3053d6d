//! Brings a command line to its verb, and a failure to the screen.

use super::report::FailureDocument;
use super::{Exit, Failure, Invocation};
use crate::args::Cli;
use crate::host::Host;
use crate::ui::{has_printed_document, print_json};

/// Writes a failure as a document, unless the verb has put it into its own.
fn print_failure_document(failure: &Failure, invocation: &Invocation) {
    if invocation.ui.json && !has_printed_document() {
        // What cannot be written is said on stderr all the same.
        drop(print_json(&FailureDocument::of(failure)));
    }
}

/// Runs one command line to its end.
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
