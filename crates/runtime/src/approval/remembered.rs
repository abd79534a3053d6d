//! Answers that count for more than one call: for the session, or for good in `approvals.json`.
//!
//! An answer is bound to the definition of the server and to the tool as it was pinned; when one of
//! them changes it lapses by itself. What "always for this server" covers is pinned tool by tool as
//! it is used, so that a tool that changes later asks again.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use wharf_config::store::{self, LOCK_TIMEOUT, StoreError, WriteLock};

use super::decision::{Lasting, Proposal, Scope};
use super::grants::{Grants, Say};
use super::revoke::RememberedApproval;

/// How many definitions are remembered; the oldest go.
const MOST_GRANTS: usize = 500;

/// The answers of one session, and where those for good are.
pub(crate) struct Remembered {
    home: Option<PathBuf>,
    session: Mutex<Grants>,
    /// How tools were when an answer in the file covered them and could not be bound to that. They
    /// allow nothing: the file may be changed by others.
    unwritten: Mutex<Grants>,
}

/// Why an answer could not be kept for good.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeepError {
    #[error("there is no folder to keep answers in")]
    NoHome,
    #[error("the tool is not pinned, so there is nothing to bind the answer to")]
    NotPinned,
    #[error("\"approvals.json\" is not what it should be (line {line})")]
    Damaged { line: usize },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Remembered {
    /// Remembers in this session and, in a folder such as `WHARF_HOME`, for good.
    pub(crate) fn new(home: Option<&Path>) -> Self {
        let home = home.map(Path::to_owned);
        Self { home, session: Mutex::default(), unwritten: Mutex::default() }
    }

    /// Tells whether an earlier answer covers a call.
    ///
    /// The file is read each time, because an answer may be taken back in another process. Blocks the
    /// thread while another process changes files.
    pub(super) fn allow(&self, call: &Proposal) -> bool {
        let session = self.session().claim(call);
        if session != Say::Nothing {
            return session.is_yes();
        }
        // An answer whose record is damaged was not given.
        match self.read().unwrap_or_default().say(call) {
            Say::YesAndPin => self.claim(call),
            stored => stored.is_yes(),
        }
    }

    /// Binds an answer in the file that covers every tool to how this one is now, and tells whether
    /// it still covers the call: it may have been taken back since it was read.
    fn claim(&self, call: &Proposal) -> bool {
        if self.unwritten().say(call) == Say::Lapsed {
            return false;
        }
        let mut stored = Say::Nothing;
        let Err(error) = self.change(|grants| stored = grants.claim(call)) else {
            return stored.is_yes();
        };
        tracing::warn!(%error, "a tool could not be added to a remembered answer");
        // It counts as it is now, for this session and for as long as the file says yes.
        let is_allowed = self.read().unwrap_or_default().say(call).is_yes();
        if is_allowed {
            self.unwritten().add(call, Scope::Tool);
        }
        is_allowed
    }

    /// Remembers a yes. An answer for good that cannot be stored counts for the session.
    ///
    /// Blocks the thread while another process changes files.
    pub(super) fn add(
        &self,
        call: &Proposal,
        scope: Scope,
        lasting: Lasting,
    ) -> Result<(), KeepError> {
        if call.pin.is_none() {
            return Err(KeepError::NotPinned);
        }
        let kept = match lasting {
            Lasting::Session => Ok(()),
            Lasting::ForGood => self.change(|grants| grants.add(call, scope)),
        };
        if lasting == Lasting::Session || kept.is_err() {
            self.session().add(call, scope);
        } else {
            self.session().unpin(call);
        }
        kept
    }

    /// Returns all answers, those for good first. Blocks the thread for as long as the disk takes.
    pub(crate) fn all(&self) -> Result<Vec<RememberedApproval>, KeepError> {
        let mut all = self.read()?.told(Lasting::ForGood);
        all.extend(self.session().told(Lasting::Session));
        Ok(all)
    }

    /// Takes back what was answered about a server, or about one of its tools, and returns what that
    /// was.
    ///
    /// Blocks the thread while another process changes files.
    pub(crate) fn forget(
        &self,
        server: &str,
        tool: Option<&str>,
    ) -> Result<Vec<RememberedApproval>, KeepError> {
        // What counts for the session goes, even if the file cannot be changed.
        let session = self.session().forget(server, tool).told(Lasting::Session);
        self.unwritten().forget(server, tool);
        let mut taken = Vec::new();
        if self.read()?.covers(server, tool) {
            self.change(|grants| taken = grants.forget(server, tool).told(Lasting::ForGood))?;
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

    fn read(&self) -> Result<Grants, KeepError> {
        let Some(home) = &self.home else { return Ok(Grants::default()) };
        match store::read(&file_in(home))? {
            None => Ok(Grants::default()),
            Some(text) => serde_json::from_str(&text)
                .map_err(|error| KeepError::Damaged { line: error.line() }),
        }
    }

    fn change(&self, change: impl FnOnce(&mut Grants)) -> Result<(), KeepError> {
        let home = self.home.as_ref().ok_or(KeepError::NoHome)?;
        let _lock = WriteLock::acquire(&home.join("run"), LOCK_TIMEOUT)?;
        // What cannot be read is not replaced: somebody may want to mend it.
        let mut grants = self.read()?;
        change(&mut grants);
        grants.version = 1;
        grants.grants.sort_by_key(|grant| std::cmp::Reverse(grant.given));
        grants.grants.truncate(MOST_GRANTS);
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
    use wharf_protocol::view::ToolHints;

    use super::super::decision::ApprovalRequest;
    use super::super::grants::Grant;
    use super::*;

    fn call(tool: &str, definition: &str) -> Proposal {
        Proposal {
            request: ApprovalRequest {
                server: "fs".into(),
                tool: tool.into(),
                arguments: "{}".parse().unwrap(),
                annotations: None,
                hints: ToolHints::default(),
                provider_name: String::new(),
            },
            policy: Approval::Ask,
            is_withheld: false,
            definition: definition.into(),
            pin: Some("p".into()),
        }
    }

    #[test]
    fn the_file_holds_identities_and_is_for_its_owner_alone() {
        let home = tempfile::tempdir().unwrap();
        let remembered = Remembered::new(Some(home.path()));
        remembered.add(&call("read", "d1"), Scope::Tool, Lasting::ForGood).unwrap();
        remembered.add(&call("write", "d2"), Scope::Server, Lasting::ForGood).unwrap();
        assert!(remembered.allow(&call("delete", "d2")));
        let path = file_in(home.path());
        let text = store::read(&path).unwrap().unwrap();
        let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
        for grant in file["grants"].as_array_mut().unwrap() {
            grant.as_object_mut().unwrap().remove("given");
        }
        file["grants"].as_array_mut().unwrap().sort_by_key(ToString::to_string);
        insta::assert_snapshot!(file, @r#"{"version":1,"grants":[{"server":"fs","definition":"d1","everything":false,"tools":{"read":"p"}},{"server":"fs","definition":"d2","everything":true,"tools":{"delete":"p","write":"p"}}]}"#);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_damaged_file_allows_nothing_and_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let remembered = Remembered::new(Some(home.path()));
        for damaged in ["{\n oops", "[]", r#"{"version":1}"#] {
            store::write(&file_in(home.path()), damaged).unwrap();
            assert!(!remembered.allow(&call("read", "d")));
            let kept = remembered.add(&call("other", damaged), Scope::Tool, Lasting::ForGood);
            assert!(matches!(kept, Err(KeepError::Damaged { .. })));
            assert!(remembered.forget("nobody", None).is_err());
            assert_eq!(store::read(&file_in(home.path())).unwrap().unwrap(), damaged);
            assert!(remembered.allow(&call("other", damaged)), "counts for the session");
        }
    }

    #[test]
    fn without_a_pin_or_a_home_nothing_is_kept_for_good() {
        let nowhere = Remembered::new(None);
        let kept = nowhere.add(&call("read", "d"), Scope::Tool, Lasting::ForGood);
        assert!(matches!(kept, Err(KeepError::NoHome)));
        let cached = Proposal { pin: None, ..call("cached", "d") };
        let kept = nowhere.add(&cached, Scope::Server, Lasting::Session);
        assert!(matches!(kept, Err(KeepError::NotPinned)));
        assert!(!nowhere.allow(&cached));
    }

    #[test]
    fn a_tool_that_changed_in_this_session_is_not_covered_by_the_file() {
        let home = tempfile::tempdir().unwrap();
        let remembered = Remembered::new(Some(home.path()));
        remembered.add(&call("write", "d"), Scope::Server, Lasting::ForGood).unwrap();
        remembered.add(&call("read", "d"), Scope::Tool, Lasting::Session).unwrap();
        let changed = Proposal { pin: Some("q".into()), ..call("read", "d") };
        assert!(!remembered.allow(&changed));
        remembered.add(&changed, Scope::Tool, Lasting::ForGood).unwrap();
        assert!(remembered.allow(&changed) && !remembered.allow(&call("read", "d")));
    }

    /// Shows answers, one a line.
    fn shown(all: &[RememberedApproval]) -> String {
        let line = |it: &RememberedApproval| {
            let every = if it.everything { " everything" } else { "" };
            format!("{} {:?}{every} {}", it.server, it.lasting, it.tools.join(","))
        };
        all.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn answers_can_be_taken_back() {
        let home = tempfile::tempdir().unwrap();
        let remembered = Remembered::new(Some(home.path()));
        assert!(remembered.forget("fs", None).unwrap().is_empty());
        assert!(!file_in(home.path()).exists(), "nothing is written for nothing");
        for (tool, lasting) in
            [("read", Lasting::ForGood), ("list", Lasting::ForGood), ("write", Lasting::Session)]
        {
            remembered.add(&call(tool, "d"), Scope::Tool, lasting).unwrap();
        }
        assert_eq!(shown(&remembered.all().unwrap()), "fs ForGood list,read\nfs Session write");
        assert!(remembered.forget("other", None).unwrap().is_empty());
        assert!(remembered.forget("fs", Some("other")).unwrap().is_empty());
        assert_eq!(shown(&remembered.forget("fs", Some("read")).unwrap()), "fs ForGood read");
        assert!(!remembered.allow(&call("read", "d")) && remembered.allow(&call("list", "d")));
        let rest = shown(&remembered.forget("fs", None).unwrap());
        assert_eq!(rest, "fs ForGood list\nfs Session write");
        assert!(!remembered.allow(&call("list", "d")) && !remembered.allow(&call("write", "d")));
        assert!(remembered.all().unwrap().is_empty());
    }

    #[test]
    fn a_tool_that_is_taken_out_does_not_come_back_with_all_the_others() {
        let home = tempfile::tempdir().unwrap();
        let remembered = Remembered::new(Some(home.path()));
        remembered.add(&call("list", "d"), Scope::Server, Lasting::ForGood).unwrap();
        assert!(remembered.allow(&call("read", "d")));
        assert_eq!(shown(&remembered.all().unwrap()), "fs ForGood everything list,read");
        assert_eq!(shown(&remembered.forget("fs", Some("read")).unwrap()), "fs ForGood read");
        assert!(!remembered.allow(&call("read", "d")));
        assert!(remembered.allow(&call("list", "d")), "what was used stays");
        assert!(!remembered.allow(&call("new", "d")));
    }

    #[test]
    fn what_was_taken_back_since_it_was_read_stays_taken_back() {
        let home = tempfile::tempdir().unwrap();
        let (remembered, other) =
            (Remembered::new(Some(home.path())), Remembered::new(Some(home.path())));
        remembered.add(&call("list", "d"), Scope::Server, Lasting::ForGood).unwrap();
        let changed = Proposal { pin: Some("q".into()), ..call("write", "d") };
        assert!(other.allow(&call("write", "d")));
        assert!(!remembered.claim(&changed), "the other was first, and it has changed since");
        assert!(other.allow(&call("write", "d")));
        other.forget("fs", Some("read")).unwrap();
        assert!(!remembered.claim(&call("read", "d")));
        assert!(!other.allow(&call("read", "d")));
        assert_eq!(shown(&other.all().unwrap()), "fs ForGood list,write");
    }

    #[test]
    fn what_cannot_be_written_down_counts_while_the_file_says_yes() {
        let home = tempfile::tempdir().unwrap();
        let (remembered, other) =
            (Remembered::new(Some(home.path())), Remembered::new(Some(home.path())));
        remembered.add(&call("list", "d"), Scope::Server, Lasting::ForGood).unwrap();
        let changed = Proposal { pin: Some("q".into()), ..call("read", "d") };
        // Where a file is in place of its folder, there is no lock to be had.
        let (run, aside) = (home.path().join("run"), home.path().join("aside"));
        std::fs::rename(&run, &aside).unwrap();
        std::fs::File::create(&run).unwrap();
        assert!(remembered.allow(&call("read", "d")) && remembered.allow(&call("read", "d")));
        assert!(!remembered.allow(&changed));
        std::fs::remove_file(&run).unwrap();
        std::fs::rename(&aside, &run).unwrap();
        assert!(!remembered.allow(&changed), "neither when it could be written");
        other.forget("fs", Some("read")).unwrap();
        assert!(!remembered.allow(&call("read", "d")), "it was taken back elsewhere");
    }

    #[test]
    fn the_oldest_answers_go() {
        let home = tempfile::tempdir().unwrap();
        let remembered = Remembered::new(Some(home.path()));
        let old = (0..MOST_GRANTS + 7).map(|it| Grant::of(&call("read", &it.to_string())));
        let file = Grants { version: 1, grants: old.collect() };
        store::write(&file_in(home.path()), &serde_json::to_string(&file).unwrap()).unwrap();
        remembered.add(&call("read", "new"), Scope::Tool, Lasting::ForGood).unwrap();
        assert_eq!(remembered.read().unwrap().grants.len(), MOST_GRANTS);
        assert!(remembered.allow(&call("read", "new")));
    }
}
