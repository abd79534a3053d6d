//! Decides whether a call may run: settings first, then stored approvals, then the host's approver.
//!
//! Annotations of a tool count only if the tool is live and pinned. A call that a person typed
//! needs no approval, but `deny` and withheld tools also apply to it. Without an approver, a call
//! that needs approval is denied. A call of a view needs the agreement of the approver of the view,
//! and of those of the views that it was made from. Each of them agrees by an earlier answer of its
//! own or is asked, and an answer is stored only when all have agreed.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use wharf_config::text::clip;
use wharf_config::{Approval, Problem, ServerName};

use super::approval_store::{ApprovalStore, ApprovalStoreError};
use super::approver::{ApprovalAnswer, ApprovalLifetime, ApprovalRequest, Approver, CallOrigin};
use super::grants::GrantCheck;
use super::view_approver::{GrantedViews, ViewApprover};
use crate::call::clip_message;
use crate::call::{CallError, CallErrorReason};
use crate::event::{Event, EventSender};

/// A call that has not been approved yet, with everything that decides about it.
#[derive(Debug, Clone)]
pub(crate) struct ProposedCall {
    /// What the approver would be asked.
    pub(crate) request: ApprovalRequest,
    /// The approval policy of this tool.
    pub(crate) policy: Approval,
    /// The tool is new or has changed, and pins are enforced.
    pub(crate) is_withheld: bool,
    /// A hash that identifies the definition of the server.
    pub(crate) definition: String,
    /// Whether the hash identifies it in later runs, too, so that an approval can be stored.
    pub(crate) is_definition_lasting: bool,
    /// A hash of the tool, if the connected server listed it and it matches its pin.
    pub(crate) pin: Option<String>,
}

/// Decides about the calls of a runtime, or of a view.
#[derive(Clone)]
pub(crate) struct Approvals {
    store: Arc<ApprovalStore>,
    /// The approvals that count for one view each.
    views: Arc<GrantedViews>,
    /// All of these must agree; the first decides for the runtime or the view itself.
    approvers: Vec<Arc<ViewApprover>>,
    /// How the host can be told not to ask, for example ``the flag `--yes` ``. Part of a hint.
    bypass_hint: Option<Arc<str>>,
    /// Gets a problem for each answer that could not be stored.
    events: EventSender,
}

impl Approvals {
    /// Uses these stored approvals and, if there is one, this approver.
    pub(crate) fn new(
        store: ApprovalStore,
        approver: Option<Arc<dyn Approver>>,
        events: EventSender,
    ) -> Self {
        let approvers = vec![ViewApprover::of_runtime(approver)];
        let (store, views) = (Arc::new(store), Arc::default());
        Self { store, views, approvers, bypass_hint: None, events }
    }

    /// Returns the approvals of a view of the runtime. The approver of the view replaces that of
    /// the runtime.
    pub(crate) fn of_view(&self, approver: Option<Arc<dyn Approver>>) -> Self {
        match approver {
            Some(own) => Self { approvers: vec![ViewApprover::of_view(own)], ..self.clone() },
            None => self.of_narrower_view(None),
        }
    }

    /// Returns the approvals of a view that is made from the view of these. Its own approver can
    /// deny more calls, and allow no more.
    pub(crate) fn of_narrower_view(&self, approver: Option<Arc<dyn Approver>>) -> Self {
        let own = approver.map(ViewApprover::of_view).into_iter();
        let above = self.approvers.iter().map(ViewApprover::in_view_below);
        Self { approvers: own.chain(above).collect(), ..self.clone() }
    }

    /// Returns the stored approvals.
    pub(crate) fn store(&self) -> &Arc<ApprovalStore> {
        &self.store
    }

    /// Returns the approvals that count for one view each.
    pub(super) fn views(&self) -> &Arc<GrantedViews> {
        &self.views
    }

    /// Sets the text that tells a person how to allow calls without being asked.
    #[must_use]
    pub(crate) fn with_bypass_hint(mut self, bypass_hint: &str) -> Self {
        self.bypass_hint = Some(bypass_hint.into());
        self
    }

    /// Returns an error with the reason if a call may not run.
    ///
    /// Waits for the approver. Dropping the future cancels the request to it.
    pub(crate) async fn decide(
        &self,
        caller: CallOrigin,
        call: ProposedCall,
    ) -> Result<(), CallError> {
        if let Some(no) = denied_by_settings(&call) {
            return Err(no);
        }
        if caller == CallOrigin::Person || is_allowed_by_policy(&call) {
            return Ok(());
        }
        let mut answers = Vec::new();
        for approver in &self.approvers {
            if !self.has_approved_earlier(approver, &call).await
                && let Some((scope, lifetime)) = self.ask(approver, &call).await?
            {
                answers.push((approver, scope, lifetime));
            }
        }
        // An answer to a call that another approver denies must not count for the next call.
        for (approver, scope, lifetime) in answers {
            if let Err(error) = self.remember(approver, &call, scope, lifetime).await {
                self.report(&call, &error);
            }
        }
        Ok(())
    }

    /// Asks an approver, and returns for what else its yes counts.
    async fn ask(
        &self,
        own: &ViewApprover,
        call: &ProposedCall,
    ) -> Result<Option<(GrantScope, ApprovalLifetime)>, CallError> {
        let Some(approver) = &own.approver else { return Err(self.no_approver(call)) };
        let approval = AssertUnwindSafe(async { approver.approve(call.request.clone()).await });
        // An approver that panics has not approved; only this call fails.
        let Ok(answer) = approval.catch_unwind().await else {
            let message = "the call was not approved: the approver panicked";
            return Err(CallError::not_run(CallErrorReason::Denied, message));
        };
        match answer {
            ApprovalAnswer::Yes => Ok(None),
            ApprovalAnswer::No { reason } => Err(denied(reason.as_deref())),
            ApprovalAnswer::AlwaysTool(lifetime) => Ok(Some((GrantScope::Tool, lifetime))),
            ApprovalAnswer::AlwaysServer(lifetime) => Ok(Some((GrantScope::Server, lifetime))),
        }
    }

    /// Tells whether an earlier answer of this approver covers a call.
    async fn has_approved_earlier(&self, own: &Arc<ViewApprover>, call: &ProposedCall) -> bool {
        match own.check(call) {
            GrantCheck::NotCovered if own.owner().is_runtime() => self.is_stored(call).await,
            check => check.is_covered(),
        }
    }

    /// Tells whether an answer of the runtime's approver for the session or for good covers a call.
    async fn is_stored(&self, call: &ProposedCall) -> bool {
        if !self.store.has_file() {
            return self.store.allow(call);
        }
        let (store, call) = (Arc::clone(&self.store), call.clone());
        // If the task fails, nothing was found and the approver is asked.
        tokio::task::spawn_blocking(move || store.allow(&call)).await.unwrap_or(false)
    }

    async fn remember(
        &self,
        own: &Arc<ViewApprover>,
        call: &ProposedCall,
        scope: GrantScope,
        lifetime: ApprovalLifetime,
    ) -> Result<(), ApprovalStoreError> {
        if call.pin.is_none() {
            return Err(ApprovalStoreError::NotPinned);
        }
        if lifetime == ApprovalLifetime::View && !own.is_runtime() {
            self.views.add(own, call, scope);
            return Ok(());
        }
        let owner = own.owner();
        own.unpin_below(owner, call);
        if !owner.is_runtime() {
            self.views.add(owner, call, scope);
            return match lifetime {
                ApprovalLifetime::Permanent => Err(ApprovalStoreError::OfView),
                ApprovalLifetime::View | ApprovalLifetime::Session => Ok(()),
            };
        }
        let (store, call) = (Arc::clone(&self.store), call.clone());
        // Another process may hold the lock for a while.
        let kept = tokio::task::spawn_blocking(move || store.add(&call, scope, lifetime)).await;
        // The task is never aborted; it only fails while the program ends.
        kept.unwrap_or(Ok(()))
    }

    /// Reports an approval that counts for less than the approver said.
    fn report(&self, call: &ProposedCall, error: &ApprovalStoreError) {
        let scope = match error {
            ApprovalStoreError::NotPinned => "this call",
            ApprovalStoreError::OfView => "this view",
            _ => "this session",
        };
        let server = ServerName::new(call.request.server.as_str());
        tracing::warn!(%server, scope, %error, "an approval was not stored");
        let message = format!("the approval counts for {scope} only: {error}");
        let problem = Problem::warning("approval-not-stored", message).of_server(server.as_str());
        self.events.send(Event::Problem { server: Some(server), problem });
    }

    fn no_approver(&self, call: &ProposedCall) -> CallError {
        let ApprovalRequest { server, tool, .. } = &call.request;
        let (server, tool) = (clip(server, 100), clip(tool, 100));
        let mut hint = format!(
            "to allow it, write \"approval\": \"never\" into the entry of \"{server}\", or \
             \"toolApproval\": {{\"{tool}\": \"never\"}} for this tool alone"
        );
        if let Some(bypass_hint) = &self.bypass_hint {
            hint = format!("{hint}, or use {bypass_hint}");
        }
        let message = "the call needs approval, but no approver is available";
        CallError::not_run(CallErrorReason::Denied, message).with_hint(hint)
    }
}

/// What an approval covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GrantScope {
    Tool,
    Server,
}

fn denied_by_settings(call: &ProposedCall) -> Option<CallError> {
    let server = clip(&call.request.server, 100);
    if call.policy == Approval::Deny {
        let error = CallError::not_run(CallErrorReason::Denied, "the settings deny this tool");
        return Some(error.with_hint(format!(
            "to allow it, write \"ask\" instead of \"deny\" in \"approval\" or \"toolApproval\" of \
             \"{server}\""
        )));
    }
    call.is_withheld.then(|| {
        let message = "the tool is new or has changed since it was accepted";
        let hint = "a person must accept the change before the tool can be called";
        CallError::not_run(CallErrorReason::Withheld, message).with_hint(hint)
    })
}

fn is_allowed_by_policy(call: &ProposedCall) -> bool {
    match call.policy {
        Approval::Never => true,
        Approval::Writes => call.pin.is_some() && call.request.hints.read_only == Some(true),
        Approval::Ask | Approval::Deny => false,
    }
}

fn denied(reason: Option<&str>) -> CallError {
    let message = match reason.map(clip_message).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("the call was not approved: {reason}"),
        None => "the call was not approved".to_owned(),
    };
    CallError::not_run(CallErrorReason::Denied, message)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Mutex;

    use wharf_protocol::transport::BoxFuture;
    use wharf_protocol::view::ToolHints;

    use super::*;

    /// Returns its answers in order, and fails the test when asked too often.
    struct ScriptedApprover(Mutex<Vec<ApprovalAnswer>>);

    impl Approver for ScriptedApprover {
        fn approve(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
            assert_eq!(request.arguments.as_str(), r#"{"path":"/"}"#, "the arguments are complete");
            let answer = self.0.lock().unwrap().remove(0);
            Box::pin(async move { answer })
        }
    }

    fn with_answers(
        answers: Vec<ApprovalAnswer>,
        home: Option<&Path>,
    ) -> (Approvals, Arc<ScriptedApprover>) {
        let script = Arc::new(ScriptedApprover(Mutex::new(answers)));
        let approver: Arc<dyn Approver> = Arc::clone(&script) as _;
        (Approvals::new(ApprovalStore::new(home), Some(approver), EventSender::default()), script)
    }

    fn new_approvals(home: Option<&Path>) -> Approvals {
        Approvals::new(ApprovalStore::new(home), None, EventSender::default())
    }

    fn without_approver() -> Approvals {
        new_approvals(None).with_bypass_hint("the flag `--yes`")
    }

    fn call(policy: Approval) -> ProposedCall {
        ProposedCall {
            request: ApprovalRequest {
                server: "fs".into(),
                tool: "read".into(),
                arguments: r#"{"path":"/"}"#.parse().unwrap(),
                annotations: None,
                hints: ToolHints { read_only: Some(true), ..ToolHints::default() },
                is_pinned: true,
                provider_name: "Claude Code".into(),
                context: None,
            },
            policy,
            is_withheld: false,
            definition: "d1".into(),
            is_definition_lasting: true,
            pin: Some("p1".into()),
        }
    }

    fn other_tool(mut call: ProposedCall, tool: &str) -> ProposedCall {
        call.request.tool = tool.into();
        call
    }

    async fn outcome(approvals: &Approvals, caller: CallOrigin, call: ProposedCall) -> String {
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
    async fn settings_are_checked_first() {
        use Approval::{Ask, Deny, Never, Writes};
        let mut rows = Vec::new();
        for caller in [CallOrigin::Person, CallOrigin::Agent] {
            for policy in [Ask, Writes, Never, Deny] {
                let text = outcome(&without_approver(), caller, call(policy)).await;
                rows.push(format!("{caller:?} {policy:?} {text}"));
            }
            let withheld = ProposedCall { is_withheld: true, ..call(Never) };
            rows.push(format!(
                "{caller:?} withheld {}",
                outcome(&without_approver(), caller, withheld).await
            ));
        }
        insta::assert_snapshot!(rows.join("\n"), @r#"
        Person Ask runs
        Person Writes runs
        Person Never runs
        Person Deny Denied: the settings deny this tool | to allow it, write "ask" instead of "deny" in "approval" or "toolApproval" of "fs"
        Person withheld Withheld: the tool is new or has changed since it was accepted | a person must accept the change before the tool can be called
        Agent Ask Denied: the call needs approval, but no approver is available | to allow it, write "approval": "never" into the entry of "fs", or "toolApproval": {"read": "never"} for this tool alone, or use the flag `--yes`
        Agent Writes runs
        Agent Never runs
        Agent Deny Denied: the settings deny this tool | to allow it, write "ask" instead of "deny" in "approval" or "toolApproval" of "fs"
        Agent withheld Withheld: the tool is new or has changed since it was accepted | a person must accept the change before the tool can be called
        "#);
    }

    #[tokio::test]
    async fn a_read_only_hint_counts_only_if_live_and_pinned() {
        let mut loud = call(Approval::Writes);
        loud.request.hints.read_only = None;
        let cached = ProposedCall { pin: None, ..call(Approval::Writes) };
        for asked in [loud, cached] {
            assert!(
                outcome(&without_approver(), CallOrigin::Agent, asked).await.starts_with("Denied")
            );
        }
    }

    #[tokio::test]
    async fn a_denial_reaches_the_model_with_its_reason() {
        let no = |reason: Option<&str>| ApprovalAnswer::No { reason: reason.map(Into::into) };
        let (approvals, _) = with_answers(
            vec![no(Some("use the other\nfolder")), no(None), ApprovalAnswer::Yes],
            None,
        );
        let mut rows = Vec::new();
        for _ in 0..3 {
            rows.push(outcome(&approvals, CallOrigin::Agent, call(Approval::Ask)).await);
        }
        insta::assert_snapshot!(rows.join("\n"), @r"
        Denied: the call was not approved: use the other\nfolder | -
        Denied: the call was not approved | -
        runs
        ");
    }

    #[tokio::test]
    async fn an_always_answer_counts_until_the_definition_or_the_tool_changes() {
        let home = tempfile::tempdir().unwrap();
        for lifetime in [ApprovalLifetime::Session, ApprovalLifetime::Permanent] {
            let (approvals, script) = with_answers(
                vec![
                    ApprovalAnswer::AlwaysTool(lifetime),
                    ApprovalAnswer::Yes,
                    ApprovalAnswer::Yes,
                    ApprovalAnswer::Yes,
                ],
                Some(home.path()),
            );
            let ask = |call| outcome(&approvals, CallOrigin::Agent, call);
            ask(call(Approval::Ask)).await;
            for _ in 0..5 {
                assert_eq!(ask(call(Approval::Ask)).await, "runs");
            }
            // Each of these calls asks the approver, which uses up one answer.
            ask(ProposedCall { definition: "d2".into(), ..call(Approval::Ask) }).await;
            ask(ProposedCall { pin: Some("p2".into()), ..call(Approval::Ask) }).await;
            ask(other_tool(call(Approval::Ask), "write")).await;
            assert!(script.0.lock().unwrap().is_empty());
        }
        let later = new_approvals(Some(home.path()));
        assert_eq!(outcome(&later, CallOrigin::Agent, call(Approval::Ask)).await, "runs");
        let changed = ProposedCall { pin: Some("p2".into()), ..call(Approval::Ask) };
        assert!(outcome(&later, CallOrigin::Agent, changed).await.starts_with("Denied"));
        let cached = ProposedCall { pin: None, ..call(Approval::Ask) };
        assert!(outcome(&later, CallOrigin::Agent, cached).await.starts_with("Denied"));
    }

    #[tokio::test]
    async fn an_always_answer_for_a_server_covers_its_unchanged_tools() {
        let home = tempfile::tempdir().unwrap();
        let (approvals, _) = with_answers(
            vec![ApprovalAnswer::AlwaysServer(ApprovalLifetime::Permanent)],
            Some(home.path()),
        );
        outcome(&approvals, CallOrigin::Agent, call(Approval::Ask)).await;
        let write = other_tool(call(Approval::Ask), "write");
        assert_eq!(outcome(&approvals, CallOrigin::Agent, write.clone()).await, "runs");
        for _ in 0..2 {
            let later = new_approvals(Some(home.path()));
            assert_eq!(outcome(&later, CallOrigin::Agent, write.clone()).await, "runs");
            let changed = ProposedCall { pin: Some("p2".into()), ..write.clone() };
            assert!(outcome(&later, CallOrigin::Agent, changed).await.starts_with("Denied"));
            let denied = ProposedCall { policy: Approval::Deny, ..write.clone() };
            assert!(outcome(&later, CallOrigin::Agent, denied).await.starts_with("Denied"));
        }
    }
}
