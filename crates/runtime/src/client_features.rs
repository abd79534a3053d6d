//! The MCP client features that a host provides to servers: elicitation, sampling, roots.
//!
//! Each feature is optional. Only features that the host provides are declared to servers as client
//! capabilities.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use wharf_config::ServerName;
use wharf_protocol::envelope::RpcError;
use wharf_protocol::transport::BoxFuture;
use wharf_protocol::view::send::{
    ElicitationAnswer, ElicitationSupport, RootEntry, RootsSupport, SamplingAnswer, SamplingSupport,
};
use wharf_protocol::view::{ClientCapabilities, Elicitation, Sampling};

use crate::call_context::CallContext;

/// Answers elicitation requests of servers by asking the user.
///
/// ```
/// use wharf::protocol::view::send::{ElicitationAnswer, ElicitationSupport};
/// use wharf::{BoxFuture, CallContext, ElicitationRequest, Elicitor, Runtime};
///
/// /// Declines everything, and says who was asked.
/// struct Decline;
///
/// impl Elicitor for Decline {
///     fn support(&self) -> ElicitationSupport {
///         ElicitationSupport { form: true, url: false }
///     }
///
///     fn elicit(&self, request: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer> {
///         let who = request.context.as_ref().map_or("nobody", CallContext::label);
///         println!("{} asks {who}", request.server);
///         Box::pin(std::future::ready(ElicitationAnswer::Decline))
///     }
/// }
///
/// let builder = Runtime::builder().elicitor(Decline);
/// # drop(builder);
/// ```
pub trait Elicitor: Send + Sync + 'static {
    /// Returns the supported elicitation modes: forms, URLs, or both. URLs are declared to servers
    /// only by builds with the feature `http`.
    fn support(&self) -> ElicitationSupport;

    /// Asks the user. Dropped when the server cancels the request or the session ends.
    fn elicit(&self, request: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer>;
}

/// An elicitation request of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ElicitationRequest {
    /// The server.
    pub server: ServerName,
    /// What it asks: untrusted text.
    pub elicitation: Elicitation,
    /// Who made the call that caused the request. `None` if the host gave no context, or if calls
    /// of several contexts are running and the server does not say which one it asks for.
    pub context: Option<CallContext>,
}

impl ElicitationRequest {
    /// Creates a request without a context.
    pub fn new(server: impl Into<ServerName>, elicitation: Elicitation) -> Self {
        Self { server: server.into(), elicitation, context: None }
    }
}

/// Answers sampling requests of servers with a model.
pub trait Sampler: Send + Sync + 'static {
    /// Returns what the sampling supports, such as tools.
    fn support(&self) -> SamplingSupport;

    /// Runs the model; an error is sent to the server.
    fn sample(&self, request: SamplingRequest) -> BoxFuture<'_, Result<SamplingAnswer, RpcError>>;
}

/// A sampling request of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SamplingRequest {
    /// The server.
    pub server: ServerName,
    /// What the model is to answer: untrusted text.
    pub sampling: Sampling,
    /// Who made the call that caused the request, as in [`ElicitationRequest::context`].
    pub context: Option<CallContext>,
}

impl SamplingRequest {
    /// Creates a request without a context.
    pub fn new(server: impl Into<ServerName>, sampling: Sampling) -> Self {
        Self { server: server.into(), sampling, context: None }
    }
}

/// The client features that the host provides.
#[derive(Clone, Default)]
pub struct ClientFeatures {
    /// Answers elicitation requests.
    pub elicitor: Option<Arc<dyn Elicitor>>,
    /// Answers sampling requests.
    pub sampler: Option<Arc<dyn Sampler>>,
    /// The roots: folders that servers may work in.
    pub roots: Vec<RootEntry>,
}

/// Shows which features there are.
impl fmt::Debug for ClientFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientFeatures")
            .field("elicitor", &self.elicitor.is_some())
            .field("sampler", &self.sampler.is_some())
            .field("roots", &self.roots.len())
            .finish()
    }
}

impl ClientFeatures {
    /// Returns the client capabilities to declare. A feature that panics is not declared.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities {
            roots: (!self.roots.is_empty()).then_some(RootsSupport { list_changed: false }),
            sampling: self.sampler.as_ref().and_then(|it| unless_panicked(|| it.support())),
            elicitation: self
                .elicitor
                .as_ref()
                .and_then(|it| unless_panicked(|| elicitation_support(&**it))),
            ..ClientCapabilities::default()
        }
    }
}

/// Returns the elicitation modes that are declared to servers. A person must see the host of a URL,
/// and a build without the feature `http` has no parser to find it.
pub(crate) fn elicitation_support(elicitor: &dyn Elicitor) -> ElicitationSupport {
    let support = elicitor.support();
    ElicitationSupport { url: support.url && cfg!(feature = "http"), ..support }
}

fn unless_panicked<T>(support: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(support)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct DeclinesAll;

    impl Elicitor for DeclinesAll {
        fn support(&self) -> ElicitationSupport {
            ElicitationSupport { form: true, url: true }
        }

        fn elicit(&self, _request: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer> {
            Box::pin(std::future::ready(ElicitationAnswer::Decline))
        }
    }

    #[test]
    fn url_elicitation_is_declared_only_if_urls_can_be_parsed() {
        let elicitor: Option<Arc<dyn Elicitor>> = Some(Arc::new(DeclinesAll));
        let features = ClientFeatures { elicitor, ..ClientFeatures::default() };
        let expected = ElicitationSupport { form: true, url: cfg!(feature = "http") };
        assert_eq!(features.capabilities().elicitation, Some(expected));
    }
}
