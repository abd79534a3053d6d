//! What a host can do for servers: ask the person, let a model speak, name folders.
//!
//! Each port is optional, and what is declared to servers follows from which are there: a server is
//! never told of something that nobody would answer.

use std::sync::Arc;

use wharf_config::ServerName;
use wharf_protocol::envelope::RpcError;
use wharf_protocol::transport::BoxFuture;
use wharf_protocol::view::send::{
    ElicitationAnswer, ElicitationSupport, RootEntry, RootsSupport, SamplingAnswer, SamplingSupport,
};
use wharf_protocol::view::{ClientCapabilities, Elicitation, Sampling};

/// Asks the person what a server wants to know.
pub trait Elicitor: Send + Sync + 'static {
    /// Says which questions can be asked: forms, pages in a browser, or both.
    fn support(&self) -> ElicitationSupport;

    /// Asks. Dropped when the server takes the question back or the session ends.
    fn elicit(&self, server: ServerName, question: Elicitation)
    -> BoxFuture<'_, ElicitationAnswer>;
}

/// Lets a model answer a server.
pub trait Sampler: Send + Sync + 'static {
    /// Says what a server may ask of the model.
    fn support(&self) -> SamplingSupport;

    /// Lets the model speak; the error goes to the server.
    fn sample(
        &self,
        server: ServerName,
        request: Sampling,
    ) -> BoxFuture<'_, Result<SamplingAnswer, RpcError>>;
}

/// What the host does for servers.
#[derive(Clone, Default)]
pub struct ClientFeatures {
    /// Asks the person.
    pub elicitor: Option<Arc<dyn Elicitor>>,
    /// Lets a model speak.
    pub sampler: Option<Arc<dyn Sampler>>,
    /// The folders that servers may work in.
    pub roots: Vec<RootEntry>,
}

impl ClientFeatures {
    /// Returns what servers are told about us.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities {
            roots: (!self.roots.is_empty()).then_some(RootsSupport { list_changed: false }),
            sampling: self.sampler.as_ref().map(|sampler| sampler.support()),
            elicitation: self.elicitor.as_ref().map(|elicitor| elicitor.support()),
            ..ClientCapabilities::default()
        }
    }
}
