//! Protocol violations of servers, as far as Wharf can go on after them.
//!
//! Only violations that the protocol layer notices are collected while a server is used. All others
//! are found on request, in the `initialize` or `server/discover` result and in the lists.

use wharf_config::ServerName;
use wharf_protocol::Peer;
use wharf_protocol::era::Era;
use wharf_protocol::view::{DiscoverResult, InitializeResult, ListEntry, ProtocolViolation};

use crate::connections::ServerSnapshot;
use crate::runtime::Runtime;
use crate::scoped_requests::CollectedList;

/// The maximum number of violations of one server.
const MAX_SHOWN: usize = 20;

/// The maximum number of characters of one violation.
const MAX_TEXT: usize = 300;

impl ServerSnapshot {
    /// Returns the violations noticed so far, and those in its server information and tool list.
    ///
    /// There are at most twenty; a last line says that there are more. Parts of them are untrusted
    /// text of the server.
    pub fn violations(&self) -> Vec<String> {
        self.violations_with(Vec::new())
    }

    /// The same, with the violations in its other lists.
    fn violations_with(&self, more: Vec<String>) -> Vec<String> {
        let Some(peer) = &self.peer else { return Vec::new() };
        let noticed = peer.violations().into_iter().map(|violation| violation.to_string());
        let introduced =
            violations_in_profile(peer).into_iter().map(|violation| violation.to_string());
        let tools = self.server_tools.iter().flat_map(|tools| tools.listed());
        let tools = tools.flat_map(ListEntry::violations).map(|violation| violation.to_string());
        let all = noticed.chain(introduced).chain(tools.take(MAX_SHOWN + 1)).chain(more);
        let mut found: Vec<String> = Vec::new();
        for text in all.map(|text| self.secrets.redact_start(&text, MAX_TEXT)) {
            if found.contains(&text) {
                continue;
            }
            if found.len() == MAX_SHOWN {
                found.push("and more like these".to_owned());
                break;
            }
            found.push(text);
        }
        found
    }
}

impl Runtime {
    /// Requests all lists of the connected servers and returns the violations of each server.
    ///
    /// Servers without violations are omitted.
    pub async fn violations(&self) -> Vec<(ServerName, Vec<String>)> {
        let (resources, templates, prompts) =
            tokio::join!(self.resources(None), self.resource_templates(None), self.prompts(None));
        let snapshot = self.snapshot();
        let found = snapshot.servers().filter_map(|server| {
            let name = &server.name;
            let mut more = violations_in_list(&resources, name);
            more.extend(violations_in_list(&templates, name));
            more.extend(violations_in_list(&prompts, name));
            let violations = server.violations_with(more);
            (!violations.is_empty()).then(|| (name.clone(), violations))
        });
        found.collect()
    }
}

fn violations_in_list<T: ListEntry>(
    collected: &CollectedList<T>,
    server: &ServerName,
) -> Vec<String> {
    let own = collected.items.iter().filter(|(name, _)| name == server);
    let violations = own.flat_map(|(_, entry)| entry.violations());
    violations.take(MAX_SHOWN + 1).map(|violation| violation.to_string()).collect()
}

fn violations_in_profile(peer: &Peer) -> Vec<ProtocolViolation> {
    let answer = peer.profile().raw.clone();
    match peer.era() {
        Era::Legacy => InitializeResult::read(answer).all_violations(),
        Era::Modern => DiscoverResult::read(answer).all_violations(),
    }
}
