//! Stores approvals that count for more than one call: for the session, or in `approvals.json`.
//!
//! An approval is bound to the definition of the server and to the pin of the tool, and lapses
//! when one of them changes. An approval for a whole server pins each tool when it is first
//! called, so that a tool that changes later needs approval again.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use wharf_config::store::{self, LOCK_TIMEOUT, StoreError, WriteLock};

use super::approver::ApprovalLifetime;
use super::decision::{GrantScope, ProposedCall};
use super::grants::{GrantCheck, Grants};
use super::revoke::RememberedApproval;

/// How many definitions have stored approvals; the oldest are removed.
const MAX_GRANTS: usize = 500;

/// The approvals of one session, and the folder of those that are stored.
pub(crate) struct ApprovalStore {
    home: Option<PathBuf>,
    session: Mutex<Grants>,
    /// Pins that could not be added to the file. They allow nothing by themselves, because another
    /// process may change the file; they only detect a tool that has changed since.
    unwritten: Mutex<Grants>,
}

/// Why an approval could not be stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApprovalStoreError {
    #[error("there is no folder to store approvals in")]
    NoHome,
    #[error("the tool is not pinned, so the approval cannot be bound to it")]
    NotPinned,
    #[error("only answers of the runtime's own approver are stored")]
    OfView,
    #[error("the transport of this server has no identity, so the approval cannot be bound to it")]
    NoIdentity,
    #[error("\"approvals.json\" is malformed (line {line})")]
    Malformed { line: usize },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ApprovalStore {
    /// Stores approvals for this session and, if there is a home folder (`WHARF_HOME`), in a file.
    pub(crate) fn new(home: Option<&Path>) -> Self {
        let home = home.map(Path::to_owned);
        Self { home, session: Mutex::default(), unwritten: Mutex::default() }
    }

    /// Tells whether approvals are stored in a file, so that reading them takes time.
    pub(super) fn has_file(&self) -> bool {
        self.home.is_some()
    }

    /// Tells whether an earlier approval covers a call.
    ///
    /// The file is read each time, because another process may revoke an approval. Blocks the
    /// thread while another process holds the lock.
    pub(super) fn allow(&self, call: &ProposedCall) -> bool {
        let session = self.session().check_and_pin(call);
        if session != GrantCheck::NotCovered {
            return session.is_covered();
        }
        // A malformed file approves nothing.
        match self.read().unwrap_or_default().check(call) {
            GrantCheck::CoveredUnpinned => self.check_and_pin(call),
            stored => stored.is_covered(),
        }
    }

    /// Pins a tool under the approval of its whole server, and tells whether that approval still
    /// covers the call: it may have been revoked since it was read.
    fn check_and_pin(&self, call: &ProposedCall) -> bool {
        if self.unwritten().check(call) == GrantCheck::Lapsed {
            return false;
        }
        let mut stored = GrantCheck::NotCovered;
        let Err(error) = self.change(|grants| stored = grants.check_and_pin(call)) else {
            return stored.is_covered();
        };
        tracing::warn!(%error, "a tool could not be added to a stored approval");
        // The pin counts for this session, as long as the file covers the server.
        let is_allowed = self.read().unwrap_or_default().check(call).is_covered();
        if is_allowed {
            self.unwritten().add(call, GrantScope::Tool);
        }
        is_allowed
    }

    /// Adds an approval. One that cannot be written to the file counts for the session.
    ///
    /// Blocks the thread while another process holds the lock.
    pub(super) fn add(
        &self,
        call: &ProposedCall,
        scope: GrantScope,
        lifetime: ApprovalLifetime,
    ) -> Result<(), ApprovalStoreError> {
        if call.pin.is_none() {
            return Err(ApprovalStoreError::NotPinned);
        }
        let kept = match lifetime {
            ApprovalLifetime::View | ApprovalLifetime::Session => Ok(()),
            ApprovalLifetime::Permanent if !call.is_definition_lasting => {
                Err(ApprovalStoreError::NoIdentity)
            }
            ApprovalLifetime::Permanent => self.change(|grants| grants.add(call, scope)),
        };
        if lifetime != ApprovalLifetime::Permanent || kept.is_err() {
            self.session().add(call, scope);
        } else {
            self.session().unpin(call);
        }
        kept
    }

    /// Returns all approvals, stored ones first. Blocks the thread while the file is read.
    pub(crate) fn all(&self) -> Result<Vec<RememberedApproval>, ApprovalStoreError> {
        let mut all = self.read()?.to_remembered(ApprovalLifetime::Permanent);
        all.extend(self.session().to_remembered(ApprovalLifetime::Session));
        Ok(all)
    }

    /// Revokes the approvals of a server, or of one of its tools, and returns them.
    ///
    /// Blocks the thread while another process holds the lock.
    pub(crate) fn revoke(
        &self,
        server: &str,
        tool: Option<&str>,
    ) -> Result<Vec<RememberedApproval>, ApprovalStoreError> {
        // Approvals of the session are revoked even if the file cannot be changed.
        let session = self.session().revoke(server, tool).to_remembered(ApprovalLifetime::Session);
        self.unwritten().revoke(server, tool);
        let mut taken = Vec::new();
        if self.read()?.covers(server, tool) {
            self.change(|grants| {
                taken = grants.revoke(server, tool).to_remembered(ApprovalLifetime::Permanent);
            })?;
        }
        taken.extend(session);
        Ok(taken)
    }

    fn session(&self) -> MutexGuard<'_, Grants> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unwritten(&self) -> MutexGuard<'_, Grants> {
        self.unwritten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> Result<Grants, ApprovalStoreError> {
        let Some(home) = &self.home else { return Ok(Grants::default()) };
        match store::read(&file_in(home))? {
            None => Ok(Grants::default()),
            Some(text) => serde_json::from_str(&text)
                .map_err(|error| ApprovalStoreError::Malformed { line: error.line() }),
        }
    }

    fn change(&self, change: impl FnOnce(&mut Grants)) -> Result<(), ApprovalStoreError> {
        let home = self.home.as_ref().ok_or(ApprovalStoreError::NoHome)?;
        let _lock = WriteLock::acquire(&home.join("run"), LOCK_TIMEOUT)?;
        // A malformed file is not replaced, so that a person can repair it.
        let mut grants = self.read()?;
        change(&mut grants);
        grants.version = 1;
        grants.grants.sort_by_key(|grant| std::cmp::Reverse(grant.extended_at));
        grants.grants.truncate(MAX_GRANTS);
        let text = serde_json::to_string_pretty(&grants).unwrap_or_default();
        store::private_file::write(&file_in(home), &text)?;
        Ok(())
    }
}

fn file_in(home: &Path) -> PathBuf {
    home.join("approvals.json")
}

#[cfg(test)]
mod tests {
    use wharf_config::Approval;

    use super::super::approver::ApprovalRequest;
    use super::super::grants::Grant;
    use super::*;

    fn call(tool: &str, definition: &str) -> ProposedCall {
        ProposedCall {
            request: ApprovalRequest::new("fs", tool, "{}".parse().unwrap()),
            policy: Approval::Ask,
            is_withheld: false,
            definition: definition.into(),
            is_definition_lasting: true,
            pin: Some("p".into()),
        }
    }

    #[test]
    fn the_file_holds_identifiers_and_only_its_owner_can_read_it() {
        let home = tempfile::tempdir().unwrap();
        let remembered = ApprovalStore::new(Some(home.path()));
        remembered.add(&call("read", "d1"), GrantScope::Tool, ApprovalLifetime::Permanent).unwrap();
        remembered
            .add(&call("write", "d2"), GrantScope::Server, ApprovalLifetime::Permanent)
            .unwrap();
        assert!(remembered.allow(&call("delete", "d2")));
        let path = file_in(home.path());
        let text = store::read(&path).unwrap().unwrap();
        let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
        for grant in file["grants"].as_array_mut().unwrap() {
            grant.as_object_mut().unwrap().remove("extended_at");
        }
        file["grants"].as_array_mut().unwrap().sort_by_key(ToString::to_string);
        let expected = r#"{"grants":[{"definition":"d1","everything":false,"server":"fs","tools":{"read":"p"}},{"definition":"d2","everything":true,"server":"fs","tools":{"delete":"p","write":"p"}}],"version":1}"#;
        assert_eq!(file, serde_json::from_str::<serde_json::Value>(expected).unwrap());
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_malformed_file_allows_nothing_and_is_not_changed() {
        let home = tempfile::tempdir().unwrap();
        let remembered = ApprovalStore::new(Some(home.path()));
        for damaged in ["{\n oops", "[]", r#"{"version":1}"#] {
            store::write(&file_in(home.path()), damaged).unwrap();
            assert!(!remembered.allow(&call("read", "d")));
            let kept = remembered.add(
                &call("other", damaged),
                GrantScope::Tool,
                ApprovalLifetime::Permanent,
            );
            assert!(matches!(kept, Err(ApprovalStoreError::Malformed { .. })));
            assert!(remembered.revoke("nobody", None).is_err());
            assert_eq!(store::read(&file_in(home.path())).unwrap().unwrap(), damaged);
            assert!(remembered.allow(&call("other", damaged)), "it counts for the session");
        }
    }

    #[test]
    fn without_a_pin_or_a_home_folder_nothing_is_stored() {
        let nowhere = ApprovalStore::new(None);
        let kept = nowhere.add(&call("read", "d"), GrantScope::Tool, ApprovalLifetime::Permanent);
        assert!(matches!(kept, Err(ApprovalStoreError::NoHome)));
        let cached = ProposedCall { pin: None, ..call("cached", "d") };
        let kept = nowhere.add(&cached, GrantScope::Server, ApprovalLifetime::Session);
        assert!(matches!(kept, Err(ApprovalStoreError::NotPinned)));
        assert!(!nowhere.allow(&cached));
    }

    #[test]
    fn a_tool_that_changed_in_this_session_is_not_covered_by_the_file() {
        let home = tempfile::tempdir().unwrap();
        let remembered = ApprovalStore::new(Some(home.path()));
        remembered
            .add(&call("write", "d"), GrantScope::Server, ApprovalLifetime::Permanent)
            .unwrap();
        remembered.add(&call("read", "d"), GrantScope::Tool, ApprovalLifetime::Session).unwrap();
        let changed = ProposedCall { pin: Some("q".into()), ..call("read", "d") };
        assert!(!remembered.allow(&changed));
        remembered.add(&changed, GrantScope::Tool, ApprovalLifetime::Permanent).unwrap();
        assert!(remembered.allow(&changed) && !remembered.allow(&call("read", "d")));
    }

    /// Renders approvals, one per line.
    fn render(all: &[RememberedApproval]) -> String {
        let line = |it: &RememberedApproval| {
            let every = if it.everything { " everything" } else { "" };
            format!("{} {:?}{every} {}", it.server, it.lifetime, it.tools.join(","))
        };
        all.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn approvals_can_be_revoked() {
        let home = tempfile::tempdir().unwrap();
        let remembered = ApprovalStore::new(Some(home.path()));
        assert!(remembered.revoke("fs", None).unwrap().is_empty());
        assert!(!file_in(home.path()).exists(), "an unchanged file is not written");
        for (tool, lifetime) in [
            ("read", ApprovalLifetime::Permanent),
            ("list", ApprovalLifetime::Permanent),
            ("write", ApprovalLifetime::Session),
        ] {
            remembered.add(&call(tool, "d"), GrantScope::Tool, lifetime).unwrap();
        }
        assert_eq!(render(&remembered.all().unwrap()), "fs Permanent list,read\nfs Session write");
        assert!(remembered.revoke("other", None).unwrap().is_empty());
        assert!(remembered.revoke("fs", Some("other")).unwrap().is_empty());
        assert_eq!(render(&remembered.revoke("fs", Some("read")).unwrap()), "fs Permanent read");
        assert!(!remembered.allow(&call("read", "d")) && remembered.allow(&call("list", "d")));
        let rest = render(&remembered.revoke("fs", None).unwrap());
        assert_eq!(rest, "fs Permanent list\nfs Session write");
        assert!(!remembered.allow(&call("list", "d")) && !remembered.allow(&call("write", "d")));
        assert!(remembered.all().unwrap().is_empty());
    }

    #[test]
    fn a_revoked_tool_is_no_longer_covered_by_a_server_approval() {
        let home = tempfile::tempdir().unwrap();
        let remembered = ApprovalStore::new(Some(home.path()));
        remembered
            .add(&call("list", "d"), GrantScope::Server, ApprovalLifetime::Permanent)
            .unwrap();
        assert!(remembered.allow(&call("read", "d")));
        assert_eq!(render(&remembered.all().unwrap()), "fs Permanent everything list,read");
        assert_eq!(render(&remembered.revoke("fs", Some("read")).unwrap()), "fs Permanent read");
        assert!(!remembered.allow(&call("read", "d")));
        assert!(remembered.allow(&call("list", "d")), "the tool that was called stays approved");
        assert!(!remembered.allow(&call("new", "d")));
    }

    #[test]
    fn an_approval_that_was_revoked_after_it_was_read_stays_revoked() {
        let home = tempfile::tempdir().unwrap();
        let (remembered, other) =
            (ApprovalStore::new(Some(home.path())), ApprovalStore::new(Some(home.path())));
        remembered
            .add(&call("list", "d"), GrantScope::Server, ApprovalLifetime::Permanent)
            .unwrap();
        let changed = ProposedCall { pin: Some("q".into()), ..call("write", "d") };
        assert!(other.allow(&call("write", "d")));
        assert!(!remembered.check_and_pin(&changed), "the other process pinned another version");
        assert!(other.allow(&call("write", "d")));
        other.revoke("fs", Some("read")).unwrap();
        assert!(!remembered.check_and_pin(&call("read", "d")));
        assert!(!other.allow(&call("read", "d")));
        assert_eq!(render(&other.all().unwrap()), "fs Permanent list,write");
    }

    #[test]
    fn an_unwritable_pin_counts_while_the_file_covers_the_server() {
        let home = tempfile::tempdir().unwrap();
        let (remembered, other) =
            (ApprovalStore::new(Some(home.path())), ApprovalStore::new(Some(home.path())));
        remembered
            .add(&call("list", "d"), GrantScope::Server, ApprovalLifetime::Permanent)
            .unwrap();
        let changed = ProposedCall { pin: Some("q".into()), ..call("read", "d") };
        // With a file in place of its folder, the lock cannot be acquired.
        let (run, aside) = (home.path().join("run"), home.path().join("aside"));
        std::fs::rename(&run, &aside).unwrap();
        std::fs::File::create(&run).unwrap();
        assert!(remembered.allow(&call("read", "d")) && remembered.allow(&call("read", "d")));
        assert!(!remembered.allow(&changed));
        std::fs::remove_file(&run).unwrap();
        std::fs::rename(&aside, &run).unwrap();
        assert!(!remembered.allow(&changed), "not even when the pin can be written again");
        other.revoke("fs", Some("read")).unwrap();
        assert!(!remembered.allow(&call("read", "d")), "another process has revoked it");
    }

    #[test]
    fn the_oldest_approvals_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let remembered = ApprovalStore::new(Some(home.path()));
        let old = (0..MAX_GRANTS + 7).map(|it| Grant::of(&call("read", &it.to_string())));
        let file = Grants { version: 1, grants: old.collect() };
        store::write(&file_in(home.path()), &serde_json::to_string(&file).unwrap()).unwrap();
        remembered
            .add(&call("read", "new"), GrantScope::Tool, ApprovalLifetime::Permanent)
            .unwrap();
        assert_eq!(remembered.read().unwrap().grants.len(), MAX_GRANTS);
        assert!(remembered.allow(&call("read", "new")));
    }
}
