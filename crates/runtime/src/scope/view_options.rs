//! What a view is made of: patterns of servers and tools, an approver, a limit, a call context.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::approval::Approver;
use crate::call_context::CallContext;
use crate::tools::pattern::{NamePattern, ToolPattern};

/// The options of a [`View`](crate::View).
#[derive(Clone, Default)]
pub struct ViewOptions {
    pub(super) servers: Option<Arc<[NamePattern]>>,
    pub(super) tools: Option<Arc<[ToolPattern]>>,
    pub(super) approver: Option<Arc<dyn Approver>>,
    pub(super) max_call: Option<Duration>,
    pub(super) context: Option<CallContext>,
}

impl ViewOptions {
    /// Creates options that change nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows only servers whose name matches one of these globs.
    #[must_use]
    pub fn servers<'a>(mut self, patterns: impl IntoIterator<Item = &'a str>) -> Self {
        self.servers = Some(patterns.into_iter().map(NamePattern::new).collect());
        self
    }

    /// Allows only tools that match one of these patterns: `server/tool`, or `server` for all of
    /// its tools; both parts are globs over raw names.
    ///
    /// Resources, prompts, completions, instructions and raw requests of a server belong to the
    /// view only if one pattern allows all of its tools: `server` or `server/*`.
    #[must_use]
    pub fn tools<'a>(mut self, patterns: impl IntoIterator<Item = &'a str>) -> Self {
        self.tools = Some(patterns.into_iter().map(ToolPattern::new).collect());
        self
    }

    /// Sets the approver of calls. In a view of the runtime it replaces that of the runtime; in a
    /// view of a view it is asked first, and those of the views above must agree, too.
    ///
    /// What other approvers have approved for the session or for good does not count for it, and
    /// what it approves counts only where it decides: in this view and in views made from it. A view
    /// without its own approver shares that of the view or runtime that it was made from, with
    /// everything that was approved there. See [`ApprovalLifetime`](crate::ApprovalLifetime).
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Limits the whole duration of each call, approval included, and of each other request.
    #[must_use]
    pub fn max_call(mut self, limit: Duration) -> Self {
        self.max_call = Some(limit);
        self
    }

    /// Sets the context of calls and other requests.
    #[must_use]
    pub fn context(mut self, context: CallContext) -> Self {
        self.context = Some(context);
        self
    }
}

/// Shows the patterns and the context.
impl fmt::Debug for ViewOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ViewOptions")
            .field("servers", &self.servers)
            .field("tools", &self.tools)
            .field("max_call", &self.max_call)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}
