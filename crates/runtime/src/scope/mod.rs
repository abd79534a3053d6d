//! The scope of a call, which views narrow: its tools, its approver, its limit and its context.
//!
//! A runtime has a scope that allows everything. Each view adds its patterns to those of the scope
//! that it was made from, so a lookup needs no lock and no list of tools.

mod subscription_owner;
mod view_options;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use wharf_config::text::clip;

use crate::approval::Approvals;
use crate::call::{CallError, CallErrorReason};
use crate::call_context::CallContext;
use crate::tools::Tool;
use crate::tools::pattern::{NamePattern, ToolPattern};

pub(crate) use subscription_owner::SubscriptionOwner;
pub use view_options::ViewOptions;

/// What applies to the calls of a runtime or of a view.
pub(crate) struct Scope {
    pub(crate) approvals: Approvals,
    pub(crate) context: Option<CallContext>,
    /// The limit for a whole call, approval included.
    pub(crate) max_call: Option<Duration>,
    patterns: Option<ScopePatterns>,
    /// Owns the subscriptions to resources.
    pub(crate) subscriptions: SubscriptionOwner,
}

/// The patterns of one view, and of the views that it was made from.
#[derive(Clone)]
struct ScopePatterns {
    servers: Option<Arc<[NamePattern]>>,
    tools: Option<Arc<[ToolPattern]>>,
    above: Option<Arc<Self>>,
}

impl ScopePatterns {
    fn allows(&self, server: &str, tool: &str) -> bool {
        let is_matched = |patterns: &Arc<[ToolPattern]>| {
            patterns.iter().any(|pattern| pattern.matches(server, tool))
        };
        self.allows_name(server)
            && self.tools.as_ref().is_none_or(is_matched)
            && self.above.as_ref().is_none_or(|above| above.allows(server, tool))
    }

    fn allows_server(&self, server: &str) -> bool {
        let is_matched = |patterns: &Arc<[ToolPattern]>| {
            patterns.iter().any(|pattern| pattern.matches_server(server))
        };
        self.allows_name(server)
            && self.tools.as_ref().is_none_or(is_matched)
            && self.above.as_ref().is_none_or(|above| above.allows_server(server))
    }

    fn allows_whole_server(&self, server: &str) -> bool {
        let is_matched = |patterns: &Arc<[ToolPattern]>| {
            patterns.iter().any(|pattern| pattern.matches_whole_server(server))
        };
        self.allows_name(server)
            && self.tools.as_ref().is_none_or(is_matched)
            && self.above.as_ref().is_none_or(|above| above.allows_whole_server(server))
    }

    fn allows_name(&self, server: &str) -> bool {
        let servers = self.servers.as_ref();
        servers.is_none_or(|patterns| patterns.iter().any(|pattern| pattern.matches(server)))
    }
}

impl Scope {
    /// Makes the scope of a runtime, which allows everything.
    pub(crate) fn of_runtime(approvals: Approvals) -> Self {
        let subscriptions = SubscriptionOwner::default();
        Self { approvals, context: None, max_call: None, patterns: None, subscriptions }
    }

    /// Makes the scope of a view of the runtime with this scope.
    pub(crate) fn of_view(&self, options: ViewOptions) -> Self {
        let approvals = self.approvals.of_view(options.approver.clone());
        self.narrowed(options, approvals)
    }

    /// Makes the scope of a view of the view with this scope.
    pub(crate) fn of_narrower_view(&self, options: ViewOptions) -> Self {
        let approvals = self.approvals.of_narrower_view(options.approver.clone());
        self.narrowed(options, approvals)
    }

    fn narrowed(&self, options: ViewOptions, approvals: Approvals) -> Self {
        let ViewOptions { servers, tools, max_call, context, .. } = options;
        let above = self.patterns.clone();
        let patterns = if servers.is_none() && tools.is_none() {
            above
        } else {
            Some(ScopePatterns { servers, tools, above: above.map(Arc::new) })
        };
        Self {
            approvals,
            context: context.or_else(|| self.context.clone()),
            max_call: self.max_call.into_iter().chain(max_call).min(),
            patterns,
            subscriptions: SubscriptionOwner::default(),
        }
    }

    /// Tells whether a tool may be shown and called.
    pub(crate) fn allows(&self, tool: &Tool) -> bool {
        self.allows_tool(tool.server().as_str(), tool.tool())
    }

    /// Tells whether a tool may be shown and called; both names are raw.
    pub(crate) fn allows_tool(&self, server: &str, tool: &str) -> bool {
        self.patterns.as_ref().is_none_or(|patterns| patterns.allows(server, tool))
    }

    /// Tells whether at least some tools of a server may be shown and called.
    pub(crate) fn allows_server(&self, server: &str) -> bool {
        self.patterns.as_ref().is_none_or(|patterns| patterns.allows_server(server))
    }

    /// Tells whether all tools of a server are allowed by one pattern. Only then do its resources,
    /// prompts and all other requests belong to the scope.
    pub(crate) fn allows_whole_server(&self, server: &str) -> bool {
        self.patterns.as_ref().is_none_or(|patterns| patterns.allows_whole_server(server))
    }

    /// Tells whether it allows every server and tool.
    pub(crate) fn allows_everything(&self) -> bool {
        self.patterns.is_none()
    }

    /// Returns the error for a request other than a tool call to a server that is not in the scope,
    /// or not as a whole. A server that is not in the scope looks like one that does not exist, so a
    /// view does not tell what else there is.
    pub(crate) fn check_whole_server(&self, server: &str) -> Result<(), CallError> {
        if self.allows_whole_server(server) {
            return Ok(());
        }
        let name = clip(server, 100);
        if !self.allows_server(server) {
            let message = format!("there is no server \"{name}\"");
            return Err(CallError::not_run(CallErrorReason::UnknownTool, message));
        }
        let message = format!(
            "only some tools of server \"{name}\" belong to this view, and nothing else of it does"
        );
        Err(CallError::not_run(CallErrorReason::Denied, message))
    }
}

/// Shows the patterns, the limit and the context.
impl fmt::Debug for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut scope = formatter.debug_struct("Scope");
        let mut patterns = self.patterns.as_ref();
        while let Some(ScopePatterns { servers, tools, above }) = patterns {
            scope.field("servers", servers).field("tools", tools);
            patterns = above.as_deref();
        }
        scope.field("max_call", &self.max_call).field("context", &self.context);
        scope.finish_non_exhaustive()
    }
}
