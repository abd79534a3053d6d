//! Shared by `import` and `export`: the preview, the confirmation, the report.

use clap::Args;
use serde::Serialize;
use wharf_config::manage::{
    ConfigScope, ManageError, SkipReason, SkippedServer, Transfer, TransferRequest,
};
use wharf_config::text::{clean, escape_invisible};

use super::failure::skip_text;
use super::report::ErrorReport;
use super::server_change::ScopeArg;
use super::{Exit, Failure, Invocation};
use crate::ui::{Confirmation, phrase, print_json, style};

/// The arguments of both verbs.
#[derive(Debug, Args)]
pub(crate) struct TransferArgs {
    /// The servers to copy [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Which file to write [default: user]
    #[arg(long, value_name = "SCOPE")]
    scope: Option<ScopeArg>,
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

/// What to do with literal tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenHandling {
    /// Copy them.
    Keep,
    /// Ask on a terminal whether to store them.
    Offer,
    /// Move them to the credential store.
    Store,
}

#[derive(Serialize)]
struct TransferJson<'a> {
    ok: bool,
    #[serde(flatten)]
    transfer: &'a Transfer,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorReport>,
}

/// The JSON document of a failure.
#[derive(Serialize)]
struct TransferFailureJson {
    ok: bool,
    message: String,
    error: ErrorReport,
}

/// Copies servers: shows the difference, asks on a terminal, and reports the result.
pub(crate) fn run(
    program: &str,
    tokens: TokenHandling,
    args: &TransferArgs,
    invocation: &Invocation,
    copy: impl Fn(&TransferRequest) -> Result<Transfer, ManageError>,
) -> Result<Exit, Failure> {
    let mut request = TransferRequest {
        program: program.to_owned(),
        names: args.names.clone(),
        scope: args.scope.map_or(ConfigScope::User, ScopeArg::scope),
        replace: args.force,
        dry_run: args.dry_run,
        store_tokens: tokens == TokenHandling::Store,
        options: invocation.options,
    };
    let copy = |request: &TransferRequest| {
        let mut transfer = copy(request)?;
        for SkippedServer { name, why } in &mut transfer.skipped {
            *why = SkipReason::Other(skip_text(name, why));
        }
        Ok::<_, ManageError>(transfer)
    };
    let ui = &invocation.ui;
    let asks = ui.can_ask && !args.yes && !args.dry_run && !ui.json;
    if asks {
        let (preview, answer) = preview(&mut request, tokens, invocation, copy)?;
        if answer != Confirmation::Yes {
            ui.notice("Nothing was changed.");
            return Ok(exit_of(&preview, args));
        }
    }
    let transfer = match copy(&request) {
        Ok(transfer) => transfer,
        Err(error) => {
            let failure = Failure::from(error);
            if ui.json {
                let (message, error) = (failure.to_string(), ErrorReport::of(&failure));
                print_json(&TransferFailureJson { ok: false, message, error })?;
            }
            return Err(failure);
        }
    };
    let exit = exit_of(&transfer, args);
    if ui.json {
        let missed: Vec<&str> = transfer.skipped.iter().map(|it| it.name.as_str()).collect();
        let message = || format!("not copied: {}", phrase::quoted_list(missed));
        let error = (exit != Exit::Success).then(|| ErrorReport::new("not-copied", message()));
        print_json(&TransferJson { ok: exit == Exit::Success, transfer: &transfer, error })?;
        return Ok(exit);
    }
    if !asks {
        show(&transfer, &request, tokens, invocation)?;
    }
    ui.sentences(&format!("{}\n", summary(&transfer, args, invocation)))?;
    Ok(exit)
}

/// Shows what would be written, and asks about it. There is nothing to ask if nothing would change.
fn preview(
    request: &mut TransferRequest,
    tokens: TokenHandling,
    invocation: &Invocation,
    copy: impl Fn(&TransferRequest) -> Result<Transfer, ManageError>,
) -> Result<(Transfer, Confirmation), Failure> {
    request.dry_run = true;
    let mut preview = copy(request)?;
    if tokens == TokenHandling::Offer && ask_about_tokens(&preview, invocation) {
        request.store_tokens = true;
        preview = copy(request)?;
    }
    show(&preview, request, tokens, invocation)?;
    request.dry_run = false;
    if preview.added.is_empty() && preview.changed.is_empty() {
        return Ok((preview, Confirmation::No));
    }
    let path = phrase::path(&preview.path, &invocation.env);
    let answer = invocation.ui.confirm(&format!("Write this to {path}?"));
    Ok((preview, answer))
}

/// Returns exit code 1 if a server that was named was not copied.
fn exit_of(transfer: &Transfer, args: &TransferArgs) -> Exit {
    if args.names.is_empty() || transfer.skipped.is_empty() {
        Exit::Success
    } else {
        Exit::Negative
    }
}

/// Asks whether to move literal tokens to the credential store.
fn ask_about_tokens(preview: &Transfer, invocation: &Invocation) -> bool {
    let storable = preview.secrets.iter().filter(|secret| secret.can_be_stored);
    let names: Vec<&str> = storable.map(|secret| secret.name.as_str()).collect();
    if names.is_empty() {
        return false;
    }
    let question = format!(
        "Keep the token of {} in Wharf's credential store instead of the file?",
        phrase::quoted_list(names)
    );
    invocation.ui.confirm(&question) == Confirmation::Yes
}

/// Warns of literal secrets in the entries that are written.
fn warn_of_secrets(
    transfer: &Transfer,
    request: &TransferRequest,
    tokens: TokenHandling,
    invocation: &Invocation,
) {
    let ui = &invocation.ui;
    let path = phrase::path(&transfer.path, &invocation.env);
    let is_shared = request.scope == ConfigScope::Project;
    let label = style::warning("warning:");
    for secret in &transfer.secrets {
        let (name, field) = (phrase::quoted(&secret.name), escape_invisible(&secret.field));
        if is_shared {
            ui.notice(&format!(
                "{label} {name}: {field} is a literal secret, and {path} is a file of the project: \
                 everybody with access to the project can read it"
            ));
        } else if secret.can_be_stored {
            ui.notice(&format!("{label} {name}: {field} is a literal token"));
        } else if tokens != TokenHandling::Keep && secret.field.starts_with("headers.") {
            ui.notice(&format!(
                "{label} {name}: {field} is a literal secret and stays in the file: Wharf's \
                 credential store keeps only `Authorization: Bearer …`"
            ));
        }
    }
    let can_store = transfer.secrets.iter().any(|secret| secret.can_be_stored);
    if can_store && !ui.can_ask {
        ui.hint("`wharf import … --store-tokens` keeps tokens in Wharf's credential store");
    } else if is_shared && !transfer.secrets.is_empty() {
        ui.hint("put such values into variables and write ${NAME}");
    }
}

fn show(
    transfer: &Transfer,
    request: &TransferRequest,
    tokens: TokenHandling,
    invocation: &Invocation,
) -> Result<(), Failure> {
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
            style::warning("warning:"),
            clean(&skipped.why.to_string())
        ));
    }
    for note in &transfer.notes {
        let name = phrase::quoted(&note.name);
        ui.notice(&format!("{} {name}: {}", style::warning("warning:"), clean(&note.text)));
    }
    warn_of_secrets(transfer, request, tokens, invocation);
    Ok(())
}

fn summary(transfer: &Transfer, args: &TransferArgs, invocation: &Invocation) -> String {
    let path = phrase::path(&transfer.path, &invocation.env);
    let (added, changed) = (transfer.added.len(), transfer.changed.len());
    if added + changed == 0 {
        return match transfer.unchanged.len() {
            0 => format!("Nothing to write to {path}."),
            1 => format!("Nothing to write to {path}: 1 server is already there, unchanged."),
            same => {
                format!("Nothing to write to {path}: {same} servers are already there, unchanged.")
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
        Some(backup) => format!("{text} (backup: {}).", phrase::path(backup, &invocation.env)),
        None => format!("{text}."),
    }
}
