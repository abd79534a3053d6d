//! How one call is made, and which tool it names.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use wharf_protocol::Json;

use crate::approval::CallOrigin;
use crate::call::PhaseTracker;
use crate::call_context::CallContext;
use crate::tools::Tool;

/// How one call is made; [`ToolCall`](super::ToolCall) has a method for each field.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// Who calls: an agent needs approval, a person who typed the call does not.
    pub caller: CallOrigin,
    /// How long connecting may take, and then how long the server may be silent; without it, its
    /// entry decides. The approver is not limited.
    pub idle_timeout: Option<Duration>,
    /// The limit for the whole call, from the lookup of the tool until the result, approval
    /// included. Without it, the setting `call.max_ms` limits everything except the approval.
    pub deadline: Option<Duration>,
    /// Receives the parameters of each `notifications/progress` as they came, which is untrusted
    /// text. Called in the task that reads the connection, so it must not block.
    pub progress: Option<Arc<dyn Fn(Json) + Send + Sync>>,
    /// Records how far the call has come; for one call at a time.
    pub phase_tracker: PhaseTracker,
    /// Members for `_meta`.
    pub meta: Vec<(String, Json)>,
    /// Who calls, for the approver, the elicitor, the sampler and events; without it, the context
    /// of the view.
    pub context: Option<CallContext>,
}

/// Shows no `_meta`, because it may be secret.
impl fmt::Debug for CallOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CallOptions")
            .field("caller", &self.caller)
            .field("idle_timeout", &self.idle_timeout)
            .field("deadline", &self.deadline)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

/// The tool of a call: a name or an alias that is looked up once, or a tool that was looked up
/// already.
#[derive(Debug, Clone)]
pub enum ToolRef<'a> {
    /// A name, or an alias such as `server/tool`.
    Name(&'a str),
    /// A tool of this runtime.
    Tool(Arc<Tool>),
}

impl<'a> From<&'a str> for ToolRef<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl<'a> From<&'a String> for ToolRef<'a> {
    fn from(name: &'a String) -> Self {
        Self::Name(name)
    }
}

impl From<&Arc<Tool>> for ToolRef<'_> {
    fn from(tool: &Arc<Tool>) -> Self {
        Self::Tool(Arc::clone(tool))
    }
}

impl From<Arc<Tool>> for ToolRef<'_> {
    fn from(tool: Arc<Tool>) -> Self {
        Self::Tool(tool)
    }
}
