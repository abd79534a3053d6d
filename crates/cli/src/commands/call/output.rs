//! Prints the outcome of a call: the tool's text to stdout, a failure to stderr.

use std::path::Path;

use wharf::call::{CallDetails, CallError, CallErrorReason, Outcome, Quota, ResultStore};
use wharf_config::text::clean;

use crate::commands::failure::{exit_of_call, next_step, use_cli_hint};
use crate::commands::{Exit, Failure, Invocation};
use crate::ui::{phrase, print_bytes, print_json, style};

/// Prints an outcome, with the usage line if the arguments do not match the schema, and saves
/// binary content if a folder is given.
pub(super) fn print_outcome(
    mut outcome: Outcome,
    usage: &str,
    folder: Option<&Path>,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let ui = &invocation.ui;
    if let Some(error) = &mut outcome.error {
        use_cli_hint(&outcome.details.server_name, error);
    }
    let is_misuse = |error: &&mut CallError| error.reason == CallErrorReason::BadArguments;
    let misuse = outcome.error.as_mut().filter(is_misuse);
    let usage = misuse.map(|error| {
        // The JSON has only one field for advice.
        let hint = error.hint.take();
        error.hint = Some(with_usage(hint, usage));
        usage
    });
    if ui.json {
        print_json(&outcome.to_json())?;
    } else if let (Some(error), Some(usage)) = (&outcome.error, usage) {
        // Printed like arguments that do not parse: the person has to retype the line in both
        // cases.
        let message = error.message.clone();
        return Err(Failure::BadArguments { message, hint: None, usage: Some(usage.to_owned()) });
    } else if let Some(error) = &outcome.error {
        let text = outcome.failure_text();
        let text = text.as_ref().unwrap_or(&outcome.text);
        ui.message(&(phrase::lines(text).trim_end_matches('\n').to_owned() + "\n"));
        if let Some(next) = next_step(&outcome.details.server_name, error) {
            ui.hint(&next);
        }
    } else if ui.is_data_on_terminal() && !outcome.text.is_empty() {
        ui.data(&with_line_end(&phrase::lines(&outcome.text)))?;
    } else if !ui.is_data_on_terminal() {
        // A file or another program gets the text byte for byte as the server sent it.
        print_bytes(outcome.text.as_bytes())?;
    }
    let all_saved = folder.is_none_or(|folder| save(&outcome, folder, invocation));
    Ok(match &outcome.error {
        Some(error) => exit_of_call(error.reason),
        None if outcome.is_error || !all_saved => Exit::Negative,
        None => Exit::Success,
    })
}

/// Prints a failure before the call as JSON, in the shape of an outcome.
pub(super) fn print_failure(
    failure: &Failure,
    error: CallError,
    details: CallDetails,
) -> Result<(), Failure> {
    if failure.is_closed_output() || matches!(failure, Failure::Output(_)) {
        return Ok(());
    }
    let error = match failure.usage() {
        Some(usage) => {
            let hint = with_usage(error.hint.clone(), usage);
            error.with_hint(hint)
        }
        None => error,
    };
    print_json(&Outcome::from_error(error, details).to_json())
}

fn with_usage(hint: Option<String>, usage: &str) -> String {
    match hint {
        Some(hint) => format!("{hint}; usage: {usage}"),
        None => format!("usage: {usage}"),
    }
}

/// Saves images and other attachments; returns whether all were saved.
fn save(outcome: &Outcome, folder: &Path, invocation: &Invocation) -> bool {
    // No quota: this is the user's folder, and nothing in it may be deleted.
    let quota = Quota { bytes: u64::MAX, files: usize::MAX };
    let store = ResultStore::new(folder).with_quota(quota);
    let mut is_complete = true;
    for attachment in outcome.attachments(&store) {
        match attachment.file {
            Ok(path) => {
                invocation.ui.notice(&format!("saved {}", phrase::path(&path, &invocation.env)));
            }
            Err(error) => {
                is_complete = false;
                let (label, error) = (style::bad("error:"), clean(&error.to_string()));
                invocation.ui.message(&format!("{label} could not save the attachment: {error}\n"));
            }
        }
    }
    is_complete
}

fn with_line_end(text: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}
