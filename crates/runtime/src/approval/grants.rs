//! Grants: which calls are approved, per server and tool. Each grant is bound to the definition of
//! its server and to the pins of its tools.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use wharf_config::time::unix_seconds;

use super::approver::ApprovalLifetime;
use super::decision::{GrantScope, ProposedCall};
use super::revoke::RememberedApproval;

/// All grants of a session, or of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Grants {
    pub(super) version: u32,
    pub(super) grants: Vec<Grant>,
}

/// The approvals for one definition of a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Grant {
    server: String,
    definition: String,
    /// Covers every tool of the server.
    #[serde(default)]
    everything: bool,
    /// Covered tools: raw name → pin.
    #[serde(default)]
    tools: BTreeMap<String, String>,
    /// When it was last extended, in seconds since 1970. Older files call it `given`.
    #[serde(default, alias = "given")]
    pub(super) extended_at: u64,
}

/// How grants apply to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GrantCheck {
    NotCovered,
    /// The tool was covered, but has changed since.
    Lapsed,
    Covered,
    /// The server is covered, and the tool has no pin yet: the first call pins it.
    CoveredUnpinned,
}

impl GrantCheck {
    pub(super) fn is_covered(self) -> bool {
        matches!(self, Self::Covered | Self::CoveredUnpinned)
    }
}

impl Grants {
    /// Tells whether there is something to revoke.
    pub(super) fn covers(&self, server: &str, tool: Option<&str>) -> bool {
        self.grants.iter().any(|grant| grant.server == server && grant.covers(tool))
    }

    /// Removes grants and returns them.
    pub(super) fn revoke(&mut self, server: &str, tool: Option<&str>) -> Self {
        let (taken, mut kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.grants)
            .into_iter()
            .partition(|grant| grant.server == server && grant.covers(tool));
        let taken = taken.into_iter().map(|mut grant| {
            let Some(tool) = tool else { return grant };
            let mut rest = grant.clone();
            // A revoked tool must not be covered by the approval of its server.
            rest.everything = false;
            rest.tools.remove(tool);
            grant.tools.retain(|name, _| name == tool);
            grant.everything = false;
            grant.tools.entry(tool.to_owned()).or_default();
            if !rest.tools.is_empty() {
                kept.push(rest);
            }
            grant
        });
        let taken = Self { version: self.version, grants: taken.collect() };
        self.grants = kept;
        taken
    }

    /// Returns the grants for display, without their hashes.
    pub(super) fn to_remembered(&self, lifetime: ApprovalLifetime) -> Vec<RememberedApproval> {
        let remembered = self.grants.iter().map(|grant| RememberedApproval {
            server: grant.server.clone(),
            everything: grant.everything,
            tools: grant.tools.keys().cloned().collect(),
            lifetime,
        });
        // A grant without tools covers nothing.
        remembered
            .filter(|remembered| remembered.everything || !remembered.tools.is_empty())
            .collect()
    }

    pub(super) fn check(&self, call: &ProposedCall) -> GrantCheck {
        let Some(pin) = &call.pin else { return GrantCheck::NotCovered };
        let grant = self.grants.iter().find(|grant| grant.is_for(call));
        match grant.map(|grant| (grant.everything, grant.tools.get(&call.request.tool))) {
            Some((_, Some(known))) if known == pin => GrantCheck::Covered,
            Some((_, Some(_))) => GrantCheck::Lapsed,
            Some((true, None)) => GrantCheck::CoveredUnpinned,
            _ => GrantCheck::NotCovered,
        }
    }

    /// Like [`Grants::check`], and pins the tool if it has no pin yet.
    pub(super) fn check_and_pin(&mut self, call: &ProposedCall) -> GrantCheck {
        let check = self.check(call);
        if check == GrantCheck::CoveredUnpinned {
            self.pin(call);
        }
        check
    }

    pub(super) fn add(&mut self, call: &ProposedCall, scope: GrantScope) {
        if !self.grants.iter().any(|grant| grant.is_for(call)) {
            self.grants.push(Grant::of(call));
        }
        for grant in self.grants.iter_mut().filter(|grant| grant.is_for(call)) {
            grant.everything |= scope == GrantScope::Server;
            grant.extended_at = unix_seconds(SystemTime::now());
        }
        self.pin(call);
    }

    /// Removes the pin of a tool, because a newer approval is stored in the file.
    pub(super) fn unpin(&mut self, call: &ProposedCall) {
        for grant in self.grants.iter_mut().filter(|grant| grant.is_for(call)) {
            grant.tools.remove(&call.request.tool);
        }
    }

    fn pin(&mut self, call: &ProposedCall) {
        let Some(pin) = &call.pin else { return };
        if let Some(grant) = self.grants.iter_mut().find(|grant| grant.is_for(call)) {
            grant.tools.insert(call.request.tool.clone(), pin.clone());
        }
    }
}

impl Grant {
    pub(super) fn of(call: &ProposedCall) -> Self {
        Self {
            server: call.request.server.clone(),
            definition: call.definition.clone(),
            everything: false,
            tools: BTreeMap::new(),
            extended_at: 0,
        }
    }

    /// Tells whether it covers a tool; without one, any grant does.
    fn covers(&self, tool: Option<&str>) -> bool {
        match tool {
            Some(tool) => self.everything || self.tools.contains_key(tool),
            None => true,
        }
    }

    fn is_for(&self, call: &ProposedCall) -> bool {
        self.server == call.request.server && self.definition == call.definition
    }
}
