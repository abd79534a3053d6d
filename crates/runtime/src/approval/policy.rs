//! An approver that decides by rules over servers and tools, and passes the rest on.

use std::sync::Arc;

use wharf_protocol::transport::BoxFuture;

use super::approver::{ApprovalAnswer, ApprovalRequest, Approver, DenyAll};
use crate::tools::pattern::ToolPattern;

/// What a rule does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyAction {
    /// The call runs.
    Allow,
    /// The call does not run.
    Deny,
    /// The approver behind the policy decides.
    Ask,
}

/// Approves calls by rules; the first rule that matches decides.
///
/// A pattern is `server/tool`, or `server` for all of its tools; both parts are globs over raw
/// names. A slash in the name of a server is written `\/`. A call that no rule matches goes to the approver of [`ApprovalPolicy::otherwise`], and
/// without one is denied.
///
/// ```
/// use wharf::{AllowAll, ApprovalPolicy};
///
/// let policy = ApprovalPolicy::new()
///     .allow("docs/read_*")
///     .deny("docs/delete_*")
///     .allow("search");
/// # let _: &dyn wharf::Approver = &policy;
/// ```
#[derive(Clone)]
pub struct ApprovalPolicy {
    rules: Vec<(ToolPattern, PolicyAction)>,
    otherwise: Arc<dyn Approver>,
}

impl Default for ApprovalPolicy {
    fn default() -> Self {
        Self { rules: Vec::new(), otherwise: Arc::new(DenyAll) }
    }
}

impl ApprovalPolicy {
    /// Creates a policy without rules, which denies every call that needs approval.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule that allows calls.
    #[must_use]
    pub fn allow(self, pattern: &str) -> Self {
        self.rule(pattern, PolicyAction::Allow)
    }

    /// Adds a rule that denies calls. A pattern with a mistake denies more, see
    /// [`ApprovalPolicy::rule`].
    #[must_use]
    pub fn deny(self, pattern: &str) -> Self {
        self.rule(pattern, PolicyAction::Deny)
    }

    /// Adds a rule that passes calls to the approver of [`ApprovalPolicy::otherwise`].
    #[must_use]
    pub fn ask(self, pattern: &str) -> Self {
        self.rule(pattern, PolicyAction::Ask)
    }

    /// Adds a rule.
    ///
    /// A part that is not a valid glob, such as `{delete`, fails safe. In a rule that allows, it
    /// matches only the same text. In a rule that denies or asks, `docs/{delete` matches all tools
    /// of `docs`, and with a mistake in the part of the server the rule matches every call.
    #[must_use]
    pub fn rule(mut self, pattern: &str, action: PolicyAction) -> Self {
        let pattern = match action {
            PolicyAction::Allow => ToolPattern::new(pattern),
            PolicyAction::Deny | PolicyAction::Ask => ToolPattern::restricting(pattern),
        };
        self.rules.push((pattern, action));
        self
    }

    /// Sets the approver of calls that no rule allows or denies.
    #[must_use]
    pub fn otherwise(mut self, approver: impl Approver) -> Self {
        self.otherwise = Arc::new(approver);
        self
    }
}

impl Approver for ApprovalPolicy {
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        let mut rules = self.rules.iter();
        let rule = rules.find(|(pattern, _)| pattern.matches(&request.server, &request.tool));
        match rule.map(|(_, action)| *action) {
            Some(PolicyAction::Allow) => Box::pin(std::future::ready(ApprovalAnswer::Yes)),
            Some(PolicyAction::Deny) => {
                Box::pin(std::future::ready(ApprovalAnswer::no("a rule of the host denies it")))
            }
            Some(PolicyAction::Ask) | None => self.otherwise.approve(request),
        }
    }
}

impl std::fmt::Debug for ApprovalPolicy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ApprovalPolicy").field("rules", &self.rules).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::approver::AllowAll;
    use super::*;

    async fn answer(policy: &ApprovalPolicy, server: &str, tool: &str) -> ApprovalAnswer {
        policy.approve(ApprovalRequest::new(server, tool, "{}".parse().unwrap())).await
    }

    #[tokio::test]
    async fn the_first_rule_that_matches_decides() {
        let policy = ApprovalPolicy::new()
            .deny("docs/delete_*")
            .allow("docs")
            .ask("git/*")
            .allow("search/find")
            .otherwise(AllowAll);
        let denied = ApprovalAnswer::no("a rule of the host denies it");
        for (server, tool, expected) in [
            ("docs", "delete_all", &denied),
            ("docs", "read", &ApprovalAnswer::Yes),
            ("git", "push", &ApprovalAnswer::Yes),
            ("search", "find", &ApprovalAnswer::Yes),
            ("other", "x", &ApprovalAnswer::Yes),
        ] {
            assert_eq!(answer(&policy, server, tool).await, *expected, "{server}/{tool}");
        }
    }

    #[tokio::test]
    async fn a_mistake_in_a_pattern_never_allows_a_call() {
        let denied = ApprovalAnswer::no("a rule of the host denies it");
        let policy = ApprovalPolicy::new().deny("docs/{delete").allow("docs").allow("git");
        assert_eq!(answer(&policy, "docs", "delete").await, denied);
        assert_eq!(answer(&policy, "docs", "read").await, denied);
        assert_eq!(answer(&policy, "git", "push").await, ApprovalAnswer::Yes);
        let policy = ApprovalPolicy::new().deny("{docs/delete").allow("*");
        assert_eq!(answer(&policy, "git", "push").await, denied);
        let policy = ApprovalPolicy::new().allow("docs/{read");
        assert_eq!(answer(&policy, "docs", "read").await, ApprovalAnswer::No { reason: None });
    }

    #[tokio::test]
    async fn a_call_that_no_rule_matches_is_denied_without_another_approver() {
        let policy = ApprovalPolicy::new().allow("docs/read");
        assert_eq!(answer(&policy, "docs", "write").await, ApprovalAnswer::No { reason: None });
    }
}
