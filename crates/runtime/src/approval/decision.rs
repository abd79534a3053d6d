//! Whether a call may run: settings first, then remembered answers, then the host's approver.
//!
//! What a server claims about a tool loosens nothing unless the claim is live and pinned. A person
//! who types a call is not asked about it, but even they are held by `deny` and by withheld tools.
//! Without somebody to ask, the answer is no.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use wharf_config::Approval;
use wharf_config::text::clip;
use wharf_protocol::Json;
use wharf_protocol::transport::BoxFuture;
use wharf_protocol::view::ToolHints;

use super::remembered::Remembered;
use crate::call::bounded;
use crate::call::{CallError, Reason};

/// Asks a person, or whoever decides for them.
pub trait Approver: Send + Sync + 'static {
    /// Returns the answer to one request. The future is dropped when the caller gives up.
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'_, Answer>;
}

/// A call that needs somebody's yes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The server.
    pub server: String,
    /// The tool, as the server calls it.
    pub tool: String,
    /// The arguments in full: what they are must be shown, not what somebody says about them.
    pub arguments: Json,
    /// What the server claims about the tool, as it came.
    pub annotations: Option<Json>,
    /// The same, read.
    pub hints: ToolHints,
    /// The program whose file defines the server.
    pub provider_name: String,
}

/// What somebody said to an [`ApprovalRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This once.
    Yes,
    /// No; the reason is for the model to see.
    No {
        /// Why.
        reason: Option<String>,
    },
    /// Always for this tool.
    AlwaysTool(Lasting),
    /// Always for every tool of this server.
    AlwaysServer(Lasting),
}

/// How long an answer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasting {
    /// Until this session ends.
    Session,
    /// Until the definition or the tool changes.
    ForGood,
}

/// Who wants to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Caller {
    /// A person who typed the call.
    Person,
    /// A model, or a program on its behalf.
    #[default]
    Agent,
}

/// A call before it may run, with everything that decides about it.
#[derive(Debug, Clone)]
pub(crate) struct Proposal {
    /// What would be asked.
    pub(crate) request: ApprovalRequest,
    /// What the settings say about this tool.
    pub(crate) policy: Approval,
    /// The tool has changed, and changed tools wait for a person.
    pub(crate) is_withheld: bool,
    /// Identifies the definition of the server, whatever it is.
    pub(crate) definition: String,
    /// Identifies the tool as it is pinned, if the running server listed it and it is unchanged.
    pub(crate) pin: Option<String>,
}

/// Decides about calls.
pub(crate) struct Approvals {
    approver: Option<Arc<dyn Approver>>,
    remembered: Arc<Remembered>,
    /// How the host can be started so that it does not ask, for example ``the flag `--yes` ``.
    way_out: Option<String>,
}

impl Approvals {
    /// Makes decisions with these answers and, if there is one, this approver.
    pub(crate) fn new(remembered: Remembered, approver: Option<Arc<dyn Approver>>) -> Self {
        Self { approver, remembered: Arc::new(remembered), way_out: None }
    }

    /// Returns the answers that count for more than one call.
    pub(crate) fn remembered(&self) -> &Arc<Remembered> {
        &self.remembered
    }

    /// Names what the person can do at the host to allow calls without being asked.
    #[must_use]
    pub(crate) fn with_way_out(mut self, way_out: impl Into<String>) -> Self {
        self.way_out = Some(way_out.into());
        self
    }

    /// Says whether a call may run; an error says why not.
    ///
    /// Waits for the approver. Dropping the future takes the question back.
    pub(crate) async fn decide(&self, caller: Caller, call: Proposal) -> Result<(), CallError> {
        if let Some(no) = settled_no(&call) {
            return Err(no);
        }
        if caller == Caller::Person || runs_unasked(&call) || self.is_remembered(&call).await {
            return Ok(());
        }
        let Some(approver) = &self.approver else { return Err(self.nobody_to_ask(&call)) };
        let asking = AssertUnwindSafe(async { approver.approve(call.request.clone()).await });
        // An approver that panics has not said yes; that costs this call and nothing else.
        let Ok(answer) = asking.catch_unwind().await else {
            let message = "the call was not approved: the approver failed";
            return Err(CallError::not_run(Reason::Denied, message));
        };
        match answer {
            Answer::Yes => Ok(()),
            Answer::No { reason } => Err(refused(reason.as_deref())),
            Answer::AlwaysTool(lasting) => {
                self.remember(call, Scope::Tool, lasting).await;
                Ok(())
            }
            Answer::AlwaysServer(lasting) => {
                self.remember(call, Scope::Server, lasting).await;
                Ok(())
            }
        }
    }

    async fn is_remembered(&self, call: &Proposal) -> bool {
        let (remembered, call) = (Arc::clone(&self.remembered), call.clone());
        // A search that broke off found nothing, so the approver is asked.
        tokio::task::spawn_blocking(move || remembered.allow(&call)).await.unwrap_or(false)
    }

    async fn remember(&self, call: Proposal, scope: Scope, lasting: Lasting) {
        let remembered = Arc::clone(&self.remembered);
        // Another process may hold the lock for a while.
        let kept = tokio::task::spawn_blocking(move || remembered.add(&call, scope, lasting)).await;
        match kept {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "an answer counts for this session only"),
            Err(error) => tracing::warn!(%error, "an answer was not remembered"),
        }
    }

    fn nobody_to_ask(&self, call: &Proposal) -> CallError {
        let ApprovalRequest { server, tool, .. } = &call.request;
        let (server, tool) = (clip(server, 100), clip(tool, 100));
        let mut hint = format!(
            "to allow it, write \"approval\": \"never\" into the entry of \"{server}\", or \
             \"toolApproval\": {{\"{tool}\": \"never\"}} for this tool alone"
        );
        if let Some(way_out) = &self.way_out {
            hint = format!("{hint}, or use {way_out}");
        }
        let message = "the call needs approval, and there is nobody to ask";
        CallError::not_run(Reason::Denied, message).with_hint(hint)
    }
}

/// How far an answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Tool,
    Server,
}

fn settled_no(call: &Proposal) -> Option<CallError> {
    let server = clip(&call.request.server, 100);
    if call.policy == Approval::Deny {
        let error = CallError::not_run(Reason::Denied, "the settings deny this tool");
        return Some(error.with_hint(format!(
            "its entry says \"deny\", in \"approval\" or \"toolApproval\" of \"{server}\""
        )));
    }
    call.is_withheld.then(|| {
        let message = "the tool is new or has changed since it was agreed to";
        let hint = "it can be called once somebody has seen the change and accepted the tool";
        CallError::not_run(Reason::Withheld, message).with_hint(hint)
    })
}

fn runs_unasked(call: &Proposal) -> bool {
    match call.policy {
        Approval::Never => true,
        Approval::Writes => call.pin.is_some() && call.request.hints.read_only == Some(true),
        Approval::Ask | Approval::Deny => false,
    }
}

fn refused(reason: Option<&str>) -> CallError {
    let message = match reason.map(bounded).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("the call was not approved: {reason}"),
        None => "the call was not approved".to_owned(),
    };
    CallError::not_run(Reason::Denied, message)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Mutex;

    use super::*;

    /// Gives its answers one after the other, and fails the test when asked too often.
    struct Script(Mutex<Vec<Answer>>);

    impl Approver for Script {
        fn approve(&self, request: ApprovalRequest) -> BoxFuture<'_, Answer> {
            assert_eq!(request.arguments.as_str(), r#"{"path":"/"}"#, "shown in full");
            let answer = self.0.lock().unwrap().remove(0);
            Box::pin(async move { answer })
        }
    }

    fn asking(answers: Vec<Answer>, home: Option<&Path>) -> (Approvals, Arc<Script>) {
        let script = Arc::new(Script(Mutex::new(answers)));
        let approver: Arc<dyn Approver> = Arc::clone(&script) as _;
        (Approvals::new(Remembered::new(home), Some(approver)), script)
    }

    fn silent() -> Approvals {
        Approvals::new(Remembered::new(None), None).with_way_out("the flag `--yes`")
    }

    fn call(policy: Approval) -> Proposal {
        Proposal {
            request: ApprovalRequest {
                server: "fs".into(),
                tool: "read".into(),
                arguments: r#"{"path":"/"}"#.parse().unwrap(),
                annotations: None,
                hints: ToolHints { read_only: Some(true), ..ToolHints::default() },
                provider_name: "Claude Code".into(),
            },
            policy,
            is_withheld: false,
            definition: "d1".into(),
            pin: Some("p1".into()),
        }
    }

    fn other_tool(mut call: Proposal, tool: &str) -> Proposal {
        call.request.tool = tool.into();
        call
    }

    async fn told(approvals: &Approvals, caller: Caller, call: Proposal) -> String {
        match approvals.decide(caller, call).await {
            Ok(()) => "runs".to_owned(),
            Err(error) => {
                assert!(error.outcome_known && !error.retryable);
                let hint = error.hint.as_deref().unwrap_or("-");
                format!("{:?}: {error} | {hint}", error.reason)
            }
        }
    }

    #[tokio::test]
    async fn settings_decide_first() {
        use Approval::{Ask, Deny, Never, Writes};
        let mut rows = Vec::new();
        for caller in [Caller::Person, Caller::Agent] {
            for policy in [Ask, Writes, Never, Deny] {
                let text = told(&silent(), caller, call(policy)).await;
                rows.push(format!("{caller:?} {policy:?} {text}"));
            }
            let withheld = Proposal { is_withheld: true, ..call(Never) };
            rows.push(format!("{caller:?} withheld {}", told(&silent(), caller, withheld).await));
        }
        insta::assert_snapshot!(rows.join("\n"), @r#"
        Person Ask runs
        Person Writes runs
        Person Never runs
        Person Deny Denied: the settings deny this tool | its entry says "deny", in "approval" or "toolApproval" of "fs"
        Person withheld Withheld: the tool is new or has changed since it was agreed to | it can be called once somebody has seen the change and accepted the tool
        Agent Ask Denied: the call needs approval, and there is nobody to ask | to allow it, write "approval": "never" into the entry of "fs", or "toolApproval": {"read": "never"} for this tool alone, or use the flag `--yes`
        Agent Writes runs
        Agent Never runs
        Agent Deny Denied: the settings deny this tool | its entry says "deny", in "approval" or "toolApproval" of "fs"
        Agent withheld Withheld: the tool is new or has changed since it was agreed to | it can be called once somebody has seen the change and accepted the tool
        "#);
    }

    #[tokio::test]
    async fn a_claim_to_read_only_counts_live_and_pinned() {
        let mut loud = call(Approval::Writes);
        loud.request.hints.read_only = None;
        let cached = Proposal { pin: None, ..call(Approval::Writes) };
        for asked in [loud, cached] {
            assert!(told(&silent(), Caller::Agent, asked).await.starts_with("Denied"));
        }
    }

    #[tokio::test]
    async fn a_no_reaches_the_model_with_its_reason() {
        let no = |reason: Option<&str>| Answer::No { reason: reason.map(Into::into) };
        let (approvals, _) =
            asking(vec![no(Some("use the other\nfolder")), no(None), Answer::Yes], None);
        let mut rows = Vec::new();
        for _ in 0..3 {
            rows.push(told(&approvals, Caller::Agent, call(Approval::Ask)).await);
        }
        insta::assert_snapshot!(rows.join("\n"), @r"
        Denied: the call was not approved: use the other\nfolder | -
        Denied: the call was not approved | -
        runs
        ");
    }

    #[tokio::test]
    async fn always_counts_until_something_changes() {
        let home = tempfile::tempdir().unwrap();
        for lasting in [Lasting::Session, Lasting::ForGood] {
            let (approvals, script) = asking(
                vec![Answer::AlwaysTool(lasting), Answer::Yes, Answer::Yes, Answer::Yes],
                Some(home.path()),
            );
            let ask = |call| told(&approvals, Caller::Agent, call);
            ask(call(Approval::Ask)).await;
            for _ in 0..5 {
                assert_eq!(ask(call(Approval::Ask)).await, "runs");
            }
            // Each of these is asked for, and uses up one answer.
            ask(Proposal { definition: "d2".into(), ..call(Approval::Ask) }).await;
            ask(Proposal { pin: Some("p2".into()), ..call(Approval::Ask) }).await;
            ask(other_tool(call(Approval::Ask), "write")).await;
            assert!(script.0.lock().unwrap().is_empty());
        }
        let later = Approvals::new(Remembered::new(Some(home.path())), None);
        assert_eq!(told(&later, Caller::Agent, call(Approval::Ask)).await, "runs");
        let changed = Proposal { pin: Some("p2".into()), ..call(Approval::Ask) };
        assert!(told(&later, Caller::Agent, changed).await.starts_with("Denied"));
        let cached = Proposal { pin: None, ..call(Approval::Ask) };
        assert!(told(&later, Caller::Agent, cached).await.starts_with("Denied"));
    }

    #[tokio::test]
    async fn always_for_a_server_covers_its_tools_as_they_are() {
        let home = tempfile::tempdir().unwrap();
        let (approvals, _) =
            asking(vec![Answer::AlwaysServer(Lasting::ForGood)], Some(home.path()));
        told(&approvals, Caller::Agent, call(Approval::Ask)).await;
        let write = other_tool(call(Approval::Ask), "write");
        assert_eq!(told(&approvals, Caller::Agent, write.clone()).await, "runs");
        for _ in 0..2 {
            let later = Approvals::new(Remembered::new(Some(home.path())), None);
            assert_eq!(told(&later, Caller::Agent, write.clone()).await, "runs");
            let changed = Proposal { pin: Some("p2".into()), ..write.clone() };
            assert!(told(&later, Caller::Agent, changed).await.starts_with("Denied"));
            let denied = Proposal { policy: Approval::Deny, ..write.clone() };
            assert!(told(&later, Caller::Agent, denied).await.starts_with("Denied"));
        }
    }
}
