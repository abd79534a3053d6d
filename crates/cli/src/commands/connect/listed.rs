//! How a listing of many servers ends: what is told about those that could not be asked, and the
//! exit code.

use std::collections::BTreeSet;
use std::sync::Arc;

use wharf::call::CallError;
use wharf::{ServerSnapshot, Snapshot};
use wharf_config::ServerName;
use wharf_config::text::clean;

use super::late::Late;
use super::trouble::{Trouble, of_server, say, troubles};
use crate::commands::failure::next_step;
use crate::commands::{Exit, Failure, Invocation};
use crate::ui::{Lines, phrase, style};

/// The servers as they stood when a listing was made.
pub(crate) struct Listed {
    /// How they stood.
    pub(crate) snapshot: Arc<Snapshot>,
    /// Those that were not waited for.
    pub(crate) late: Vec<Late>,
    /// Whether the listing is that of one server, which was named.
    pub(crate) is_named: bool,
}

impl Listed {
    /// Returns what went wrong: servers that are not there, and lists that did not come.
    pub(crate) fn errors<'a>(
        &self,
        errors: impl IntoIterator<Item = &'a (ServerName, CallError)>,
    ) -> Vec<Trouble> {
        let mut all = troubles(&self.snapshot);
        all.extend(self.late.iter().map(Late::trouble));
        for (server, error) in self.own(errors) {
            all.push(Trouble::new(server, error.in_one_line()));
        }
        all
    }

    /// Says what went wrong.
    pub(crate) fn say<'a>(
        &self,
        errors: impl IntoIterator<Item = &'a (ServerName, CallError)>,
        invocation: &Invocation,
    ) {
        say(&self.snapshot, self.spoiler(), invocation);
        self.late.iter().for_each(|late| late.say(invocation));
        for (server, error) in self.own(errors) {
            let mut lines = Lines::default();
            let (label, name) = (style::odd("warning:"), phrase::quoted(server));
            lines.add(format!("{label} {name}: {}", clean(&error.in_one_line())));
            lines.hint("  ", error.hint.as_deref());
            lines.hint("  ", next_step(server, error).as_deref());
            invocation.ui.notice(lines.into_text().trim_end());
        }
    }

    /// The listing was made; only a server that was named, or is required, can spoil it.
    pub(crate) fn outcome(&self) -> Result<Exit, Failure> {
        self.spoiler().and_then(of_server).map_or(Ok(Exit::Fine), Err)
    }

    /// Tells whether there is nothing to show but why.
    pub(crate) fn has_only_failed(&self) -> bool {
        self.is_named && self.spoiler().is_some()
    }

    fn spoiler(&self) -> Option<&ServerSnapshot> {
        let named = self.snapshot.servers().filter(|_| self.is_named);
        let mut counting = named.chain(self.snapshot.missing_required()).map(|server| &**server);
        counting.find(|server| of_server(server).is_some())
    }

    /// Leaves out what the snapshot tells already, and a server's second complaint.
    fn own<'a>(
        &self,
        errors: impl IntoIterator<Item = &'a (ServerName, CallError)>,
    ) -> Vec<(&'a str, &'a CallError)> {
        let mut told = BTreeSet::new();
        let is_news = |server: &str| {
            let view = self.snapshot.server(server);
            view.is_none_or(|view| of_server(view).is_none())
        };
        let errors = errors.into_iter().map(|(server, error)| (server.as_str(), error));
        errors.filter(|(server, _)| is_news(server) && told.insert(*server)).collect()
    }
}
