//! The approver of a host: what it is asked, what it may answer, and approvers without a prompt.
//!
//! A closure is an approver, too. An approver that panics has not approved.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde::Serialize;
use wharf_protocol::Json;
use wharf_protocol::transport::BoxFuture;
use wharf_protocol::view::ToolHints;

use crate::call_context::CallContext;

/// Approves calls: asks a person, or decides by rules of the host.
///
/// A closure that takes an [`ApprovalRequest`] and returns a future is an approver:
///
/// ```
/// use wharf::{ApprovalAnswer, ApprovalRequest};
///
/// let approver = async |request: ApprovalRequest| match request.tool.as_str() {
///     "delete" => ApprovalAnswer::no("deleting is not allowed here"),
///     _ => ApprovalAnswer::Yes,
/// };
/// # fn takes(_: impl wharf::Approver) {}
/// # takes(move |request| approver(request));
/// ```
pub trait Approver: Send + Sync + 'static {
    /// Returns the answer to one request. The future is dropped when the call is cancelled.
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer>;
}

impl<F, A> Approver for F
where
    F: Fn(ApprovalRequest) -> A + Send + Sync + 'static,
    A: Future<Output = ApprovalAnswer> + Send + 'static,
{
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        Box::pin(self(request))
    }
}

impl Approver for Arc<dyn Approver> {
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        (**self).approve(request)
    }
}

/// Approves every call that the settings do not deny.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

impl Approver for AllowAll {
    fn approve(&self, _: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        Box::pin(std::future::ready(ApprovalAnswer::Yes))
    }
}

/// Approves no call: only calls run that need no approval.
#[derive(Debug, Clone, Copy, Default)]
pub struct DenyAll;

impl Approver for DenyAll {
    fn approve(&self, _: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        Box::pin(std::future::ready(ApprovalAnswer::No { reason: None }))
    }
}

/// A call that needs approval.
#[derive(Clone)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The server.
    pub server: String,
    /// The raw name of the tool.
    pub tool: String,
    /// The arguments in full: the approver must show these, not a summary by the model.
    pub arguments: Json,
    /// The annotations of the tool, unchanged. They are claims of the server.
    pub annotations: Option<Json>,
    /// The hints read from the annotations.
    pub hints: ToolHints,
    /// Whether the tool is listed live and unchanged since it was pinned. Hints of other tools are
    /// worth nothing: the tool may have changed. Those of a pinned one are still claims.
    pub is_pinned: bool,
    /// The program whose file defines the server.
    pub provider_name: String,
    /// Who calls, if the host has said so.
    pub context: Option<CallContext>,
}

/// Shows only the length of the arguments: they may be secret.
impl fmt::Debug for ApprovalRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.arguments.as_str().len();
        formatter
            .debug_struct("ApprovalRequest")
            .field("server", &self.server)
            .field("tool", &self.tool)
            .field("arguments", &format_args!("{length} bytes"))
            .field("hints", &self.hints)
            .field("provider_name", &self.provider_name)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

impl ApprovalRequest {
    /// Creates a request for a tool without annotations and pin, for the tests of an approver.
    pub fn new(server: impl Into<String>, tool: impl Into<String>, arguments: Json) -> Self {
        Self {
            server: server.into(),
            tool: tool.into(),
            arguments,
            annotations: None,
            hints: ToolHints::default(),
            is_pinned: false,
            provider_name: String::new(),
            context: None,
        }
    }
}

/// The answer to an [`ApprovalRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Yes, for this call only.
    Yes,
    /// No. The model gets the reason.
    No {
        /// The reason, if there is one.
        reason: Option<String>,
    },
    /// Yes, for this and later calls of this tool.
    AlwaysTool(ApprovalLifetime),
    /// Yes, for this and later calls of every tool of this server.
    AlwaysServer(ApprovalLifetime),
}

impl ApprovalAnswer {
    /// Returns a no with a reason for the model.
    pub fn no(reason: impl Into<String>) -> Self {
        Self::No { reason: Some(reason.into()) }
    }
}

/// How long an approval counts.
///
/// An approval counts only where the approver that gave it decides. An answer of the runtime's
/// approver counts for the runtime and for the views that use this approver, but not instead of an
/// approver of a view: that one is asked for itself. If several approvers must agree to a call, no
/// answer counts for later calls unless all have agreed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalLifetime {
    /// As long as the view that made the call, for that view and the views made from it. For a call
    /// of the runtime itself, the same as [`ApprovalLifetime::Session`].
    View,
    /// Until the runtime ends. From an approver of a view: as long as the view that the approver
    /// was set for, for that view and the views made from it.
    Session,
    /// Until the definition or the tool changes, also in later runs. From an approver of a view: the
    /// same as [`ApprovalLifetime::Session`], and
    /// [`Event::Problem`](crate::Event::Problem) says so.
    Permanent,
}

/// Who makes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallOrigin {
    /// A person who typed the call.
    Person,
    /// A model, or a program on its behalf.
    #[default]
    Agent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_debug_output_of_a_request_has_only_the_length_of_the_arguments() {
        let arguments = r#"{"password":"hunter2"}"#.parse().unwrap();
        let rendered = format!("{:?}", ApprovalRequest::new("fs", "read", arguments));
        assert!(rendered.contains("22 bytes") && !rendered.contains("hunter2"), "{rendered}");
    }
}
