//! Servers that a listing did not wait for, because their last attempt to connect failed.

use std::time::SystemTime;

use wharf::{LastAttempt, Runtime, Snapshot};
use wharf_config::text::clean;

use super::server_errors::ServerErrorJson;
use crate::commands::Invocation;
use crate::ui::{phrase, style, time_ago};

/// A server that a listing did not wait for.
#[derive(Debug)]
pub(crate) struct UnawaitedServer {
    server: String,
    last: LastAttempt,
}

/// Returns the servers of a snapshot that are still connecting and whose last attempt failed.
pub(crate) fn unawaited(runtime: &Runtime, snapshot: &Snapshot) -> Vec<UnawaitedServer> {
    let unknown = snapshot.pending().filter(|server| server.tools() == 0);
    let unawaited = unknown.filter_map(|server| {
        let last = runtime.last_attempt(server.name.as_str()).filter(|last| !last.is_ok())?;
        Some(UnawaitedServer { server: server.name.as_str().to_owned(), last })
    });
    unawaited.collect()
}

impl UnawaitedServer {
    /// Prints which server was not waited for, why, and how to retry.
    pub(super) fn print(&self, invocation: &Invocation) {
        let ago = time_ago::time_ago(self.last.at, SystemTime::now());
        let why = clean(self.last.error.as_deref().unwrap_or_default());
        invocation.ui.notice(&format!(
            "{} {} was not waited for: its last attempt failed {ago}: {why} (`wharf test {}`)",
            style::warning("warning:"),
            phrase::quoted(&self.server),
            phrase::word(&self.server)
        ));
    }

    /// Returns the same for `--json`.
    pub(super) fn to_json(&self) -> ServerErrorJson {
        let why = self.last.error.as_deref().unwrap_or_default();
        ServerErrorJson::new(
            &self.server,
            format!("not waited for: its last attempt failed: {why}"),
        )
    }
}
