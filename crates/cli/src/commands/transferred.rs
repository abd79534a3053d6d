//! What `import` and `export` have in common: the preview, the question, the report.

use clap::Args;
use serde::Serialize;
use wharf_config::manage::{ManageError, Scope, Transfer, TransferRequest};
use wharf_config::text::clean;

use super::changed::ScopeWord;
use super::report::ErrorReport;
use super::{Exit, Failure, Invocation};
use crate::ui::{Answer, phrase, print_json, style};

/// The arguments of both.
#[derive(Debug, Args)]
pub(crate) struct TransferArgs {
    /// The servers to copy [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Whose file is written [default: user]
    #[arg(long, value_name = "SCOPE")]
    scope: Option<ScopeWord>,
    /// Replace entries of the same name
    #[arg(long)]
    force: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    #[serde(flatten)]
    transfer: &'a Transfer,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorReport>,
}

/// What a program gets where nothing was copied.
#[derive(Serialize)]
struct Refusal {
    ok: bool,
    message: String,
    error: ErrorReport,
}

/// Copies servers: shows the difference, asks where somebody is there, and tells what was done.
pub(crate) fn run(
    program: &str,
    args: &TransferArgs,
    invocation: &Invocation,
    copy: impl Fn(&TransferRequest) -> Result<Transfer, ManageError>,
) -> Result<Exit, Failure> {
    let mut request = TransferRequest {
        program: program.to_owned(),
        names: args.names.clone(),
        scope: args.scope.map_or(Scope::User, ScopeWord::scope),
        replace: args.force,
        dry_run: args.dry_run,
        options: invocation.options,
    };
    let ui = &invocation.ui;
    let asks = ui.can_ask && !args.yes && !args.dry_run && !ui.json;
    if asks {
        request.dry_run = true;
        let preview = copy(&request)?;
        show(&preview, invocation)?;
        let nothing = preview.added.is_empty() && preview.changed.is_empty();
        let path = phrase::path(&preview.path, &invocation.env);
        if nothing || ui.ask(&format!("Write this to {path}?")) != Answer::Yes {
            ui.notice("Nothing was changed.");
            return Ok(exit_of(&preview, args));
        }
        request.dry_run = false;
    }
    let transfer = match copy(&request) {
        Ok(transfer) => transfer,
        Err(error) => {
            let failure = Failure::from(error);
            if ui.json {
                let (message, error) = (failure.to_string(), ErrorReport::of(&failure));
                print_json(&Refusal { ok: false, message, error })?;
            }
            return Err(failure);
        }
    };
    let exit = exit_of(&transfer, args);
    if ui.json {
        let missed: Vec<&str> = transfer.skipped.iter().map(|it| it.name.as_str()).collect();
        let message = || format!("not copied: {}", phrase::quoted_list(missed));
        let error = (exit != Exit::Fine).then(|| ErrorReport::new("not-copied", message()));
        print_json(&Report { ok: exit == Exit::Fine, transfer: &transfer, error })?;
        return Ok(exit);
    }
    if !asks {
        show(&transfer, invocation)?;
    }
    ui.data(&format!("{}\n", summary(&transfer, args, invocation)))?;
    Ok(exit)
}

/// A server that was asked for by name and not copied is a no.
fn exit_of(transfer: &Transfer, args: &TransferArgs) -> Exit {
    if args.names.is_empty() || transfer.skipped.is_empty() { Exit::Fine } else { Exit::No }
}

fn show(transfer: &Transfer, invocation: &Invocation) -> Result<(), Failure> {
    let ui = &invocation.ui;
    let paint = |line: &str| {
        let line: String = line.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
        let line = clean(&line);
        match line.as_bytes().first() {
            Some(b'+') => style::good(&line),
            Some(b'-') => style::bad(&line),
            _ => line,
        }
    };
    let diff: Vec<String> = transfer.diff.lines().map(paint).collect();
    if !diff.is_empty() {
        ui.data(&format!("{}\n", diff.join("\n")))?;
    }
    for skipped in &transfer.skipped {
        let name = phrase::quoted(&skipped.name);
        ui.notice(&format!(
            "{} {name} is not copied: {}",
            style::odd("warning:"),
            clean(&skipped.why)
        ));
    }
    for note in &transfer.notes {
        let name = phrase::quoted(&note.name);
        ui.notice(&format!("{} {name}: {}", style::odd("warning:"), clean(&note.text)));
    }
    Ok(())
}

fn summary(transfer: &Transfer, args: &TransferArgs, invocation: &Invocation) -> String {
    let path = phrase::path(&transfer.path, &invocation.env);
    let (added, changed) = (transfer.added.len(), transfer.changed.len());
    if added + changed == 0 {
        return match transfer.unchanged.len() {
            0 => format!("Nothing to write to {path}."),
            1 => format!("Nothing to write to {path}: 1 server is there already, the same."),
            same => {
                format!("Nothing to write to {path}: {same} servers are there already, the same.")
            }
        };
    }
    let count = |number| phrase::count(number, "server");
    let text = match (args.dry_run, added, changed) {
        (false, _, 0) => format!("Added {} to {path}", count(added)),
        (false, 0, _) => format!("Replaced {} in {path}", count(changed)),
        (false, ..) => format!("Added {} to {path} and replaced {changed}", count(added)),
        (true, _, 0) => format!("Would add {} to {path}", count(added)),
        (true, 0, _) => format!("Would replace {} in {path}", count(changed)),
        (true, ..) => format!("Would add {} to {path} and replace {changed}", count(added)),
    };
    match &transfer.backup {
        Some(backup) => format!("{text} (before: {}).", phrase::path(backup, &invocation.env)),
        None => format!("{text}."),
    }
}
