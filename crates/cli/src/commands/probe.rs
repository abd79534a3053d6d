//! Probes a server that was just added: prints which definitions shadow each other, connects once,
//! and lists the tools. The entry stays in the file, whatever the result is.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use wharf::{FailureKind, Runtime, ServerSnapshot, Unavailable};
use wharf_config::manage::ChangeSummary;
use wharf_config::text::clean;
use wharf_config::{Catalog, DefinitionState, Server};

use super::failure::tip;
use super::sign_in::SignIn;
use super::{Exit, Failure, Invocation, connect};
use crate::ui::{Lines, phrase, style};

/// The timeout for connecting, and again for listing the tools.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Whether a new server is probed.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ProbeArgs {
    /// Do not connect to the new server
    #[arg(long)]
    no_probe: bool,
}

/// The result of probing a new server.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProbeResult {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<String>,
}

/// Prints what a new definition shadows and what shadows it, then probes the server if it is used.
///
/// Returns `None` if the server was not probed.
pub(super) fn run(
    done: &ChangeSummary,
    args: ProbeArgs,
    invocation: &Invocation,
) -> Option<ProbeResult> {
    // Problems of other files do not belong to the answer of `add`.
    let mut catalog = invocation.load_quietly().ok()?;
    let is_new = |server: &Server| {
        server.definition.name.as_str() == done.name
            && Some(&server.definition.source.path) == done.path.as_ref()
    };
    let Some(new) = catalog.servers.iter().find(|server| is_new(server)) else {
        invocation.ui.notice(
            "It is not used in this folder: --no-project, a setting or WHARF_MCP_SERVERS excludes \
             its file.",
        );
        return None;
    };
    print_shadowing(new, &catalog, invocation);
    if new.state != DefinitionState::Enabled || args.no_probe {
        return None;
    }
    connect::keep_servers(&mut catalog, |server| is_new(server));
    let milliseconds = u64::try_from(PROBE_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
    for spec in catalog.servers.iter_mut().filter_map(|server| server.spec.as_mut()) {
        spec.timeouts.connect = Some(milliseconds);
    }
    let mut probe = None;
    let work = async |runtime: &Runtime, person: &SignIn<'_>| {
        person.retry(runtime, async || runtime.wait_for(&done.name).await).await
    };
    let probed = connect::with_sign_in(invocation, &catalog, work, |result| {
        probe = Some(ProbeResult::of(&done.name, result?));
        Ok(Exit::Success)
    });
    match probed {
        Ok(_) => probe,
        // The entry is written, so an interrupted probe is not a failure.
        Err(Failure::Cancelled) => None,
        Err(failure) => Some(ProbeResult::failed(failure.to_string(), failure.hint())),
    }
}

/// Prints which definition of the name is used instead of which.
fn print_shadowing(new: &Server, catalog: &Catalog, invocation: &Invocation) {
    let (ui, env) = (&invocation.ui, &invocation.env);
    let name = new.definition.name.as_str();
    let source = &new.definition.source;
    if let Some(by) = &new.shadowed_by {
        let word = phrase::word(name);
        let by = format!("{} ({})", phrase::path(&by.path, env), phrase::source(by));
        ui.notice(&format!(
            "{} {} is not used: the one in {by} has the same name and comes first",
            style::warning("warning:"),
            phrase::quoted(name),
        ));
        ui.hint(&format!("`wharf explain {word}`"));
    }
    if let Some(original) = &new.duplicate_of {
        ui.notice(&format!(
            "{} {} is not used: it is the same server as {}",
            style::warning("warning:"),
            phrase::quoted(name),
            phrase::quoted(original.as_str())
        ));
    }
    let is_behind = |other: &&Server| {
        other.shadowed_by.as_ref().is_some_and(|by| {
            by.path == source.path && by.provider == source.provider && by.level == source.level
        })
    };
    for other in catalog.candidates(name).filter(is_behind) {
        let other = &other.definition.source;
        ui.notice(&format!(
            "It is used instead of {} in {} ({}).",
            phrase::quoted(name),
            phrase::path(&other.path, env),
            phrase::source(other)
        ));
    }
}

impl ProbeResult {
    fn of(name: &str, result: Result<Arc<ServerSnapshot>, Unavailable>) -> Self {
        match result {
            Ok(server) => {
                let about = server.info.as_ref();
                let itself = about.map(|about| format!("{} {}", about.name, about.version));
                let itself = itself.map(|itself| itself.trim().to_owned());
                let server_name = itself.filter(|itself| !itself.is_empty());
                Self {
                    ok: true,
                    tools: Some(server.tools()),
                    server: server_name,
                    error: None,
                    hint: None,
                    stderr: None,
                }
            }
            Err(Unavailable::Failed { failure, .. }) => {
                let word = phrase::word(name);
                let (error, hint) = match failure.kind {
                    FailureKind::TimedOut => (
                        format!("no answer within {PROBE_TIMEOUT:?}"),
                        Some(format!("it may need longer the first time (`wharf test {word}`)")),
                    ),
                    FailureKind::NeedsAuth => {
                        (format!("needs sign-in: {}", failure.message), tip(name, &failure))
                    }
                    _ => (failure.message.clone(), tip(name, &failure)),
                };
                let stderr = wharf::last_meaningful_line(&failure.stderr);
                Self { stderr, ..Self::failed(error, hint) }
            }
            Err(why) => {
                let failure = Failure::from(why);
                Self::failed(failure.to_string(), failure.hint())
            }
        }
    }

    fn failed(error: String, hint: Option<String>) -> Self {
        Self { ok: false, tools: None, server: None, error: Some(error), hint, stderr: None }
    }

    /// Returns the text of a successful probe.
    pub(super) fn found(&self) -> Option<String> {
        let tools = phrase::count(self.tools?, "tool");
        Some(match &self.server {
            Some(server) => format!("Connected: {}, {tools}", clean(server)),
            None => format!("Connected: {tools}"),
        })
    }

    /// Prints a warning if the probe failed.
    pub(super) fn warn(&self, invocation: &Invocation) {
        let Some(error) = &self.error else { return };
        let mut lines = Lines::default();
        let label = style::warning("warning:");
        lines.add(format!("{label} the entry was saved, but connecting failed: {}", clean(error)));
        if let Some(line) = &self.stderr {
            lines.add(format!("  {} {}", style::faint("stderr:"), clean(line)));
        }
        lines.hint("  ", self.hint.as_deref());
        invocation.ui.notice(lines.into_text().trim_end());
    }
}
