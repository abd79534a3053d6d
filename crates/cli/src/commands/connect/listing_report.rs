//! Errors and exit code of a listing: the servers that could not be listed, and whether one of them
//! decides the exit code.

use std::collections::BTreeSet;
use std::sync::Arc;

use wharf::call::CallError;
use wharf::{ServerSnapshot, Snapshot};
use wharf_config::ServerName;
use wharf_config::text::clean;

use super::server_errors::{ServerErrorJson, print_server_errors, server_errors, server_failure};
use super::unawaited::UnawaitedServer;
use crate::commands::failure::next_step;
use crate::commands::{Exit, Failure, Invocation};
use crate::ui::{Lines, phrase, style};

/// The state of the servers when a listing was made.
pub(crate) struct ListingReport {
    /// The state of all servers.
    pub(crate) snapshot: Arc<Snapshot>,
    /// The servers that were not waited for.
    pub(crate) unawaited: Vec<UnawaitedServer>,
    /// Whether the listing is for one server that was named.
    pub(crate) is_named: bool,
}

impl ListingReport {
    /// Returns the errors: servers that are not connected, and lists that failed.
    pub(crate) fn errors<'a>(
        &self,
        errors: impl IntoIterator<Item = &'a (ServerName, CallError)>,
    ) -> Vec<ServerErrorJson> {
        let mut all = server_errors(&self.snapshot);
        all.extend(self.unawaited.iter().map(UnawaitedServer::to_json));
        for (server, error) in self.own(errors) {
            all.push(ServerErrorJson::new(server, error.in_one_line()));
        }
        all
    }

    /// Prints the errors.
    pub(crate) fn print_errors<'a>(
        &self,
        errors: impl IntoIterator<Item = &'a (ServerName, CallError)>,
        invocation: &Invocation,
    ) {
        print_server_errors(&self.snapshot, self.decisive_server(), invocation);
        self.unawaited.iter().for_each(|unawaited| unawaited.print(invocation));
        for (server, error) in self.own(errors) {
            let mut lines = Lines::default();
            let (label, name) = (style::warning("warning:"), phrase::quoted(server));
            lines.add(format!("{label} {name}: {}", clean(&error.in_one_line())));
            lines.hint("  ", error.hint.as_deref());
            lines.hint("  ", next_step(server, error).as_deref());
            invocation.ui.notice(lines.into_text().trim_end());
        }
    }

    /// Returns success, unless a server that was named, or that is `required`, is not connected.
    pub(crate) fn outcome(&self) -> Result<Exit, Failure> {
        self.decisive_server().and_then(server_failure).map_or(Ok(Exit::Success), Err)
    }

    /// Tells whether the only result is the failure of the named server.
    pub(crate) fn has_only_failed(&self) -> bool {
        self.is_named && self.decisive_server().is_some()
    }

    fn decisive_server(&self) -> Option<&ServerSnapshot> {
        let named = self.snapshot.servers().filter(|_| self.is_named);
        let mut counting = named.chain(self.snapshot.missing_required()).map(|server| &**server);
        counting.find(|server| server_failure(server).is_some())
    }

    /// Removes errors that the snapshot already reports, and repeated errors of one server.
    fn own<'a>(
        &self,
        errors: impl IntoIterator<Item = &'a (ServerName, CallError)>,
    ) -> Vec<(&'a str, &'a CallError)> {
        let mut reported = BTreeSet::new();
        let is_news = |server: &str| {
            let view = self.snapshot.server(server);
            view.is_none_or(|view| server_failure(view).is_none())
        };
        let errors = errors.into_iter().map(|(server, error)| (server.as_str(), error));
        errors.filter(|(server, _)| is_news(server) && reported.insert(*server)).collect()
    }
}
