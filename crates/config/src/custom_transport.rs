//! A transport that the embedding program brings: a handle to what this crate knows nothing about.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::secret::Secret;

/// A handle to a server in this process, or to a transport of the embedding program.
///
/// This crate carries the handle and compares it; the crate that connects servers finds out what it
/// is. Clones are equal, and two handles that were made apart are not.
///
/// ```
/// use std::sync::Arc;
/// use wharf_config::CustomTransport;
///
/// let transport = CustomTransport::new(Arc::new(5_u8), CustomTransport::IN_PROCESS);
/// assert_eq!(transport, transport.clone());
/// assert_eq!(transport.downcast::<u8>().as_deref(), Some(&5));
/// assert!(transport.downcast::<String>().is_none());
/// assert_ne!(transport, CustomTransport::new(Arc::new(5_u8), CustomTransport::IN_PROCESS));
/// ```
#[derive(Clone)]
pub struct CustomTransport {
    handle: Arc<dyn Any + Send + Sync>,
    word: &'static str,
    identity: Option<Secret>,
}

impl CustomTransport {
    /// The word for a server that runs in this process.
    pub const IN_PROCESS: &str = "in-process";

    /// The word for a server behind a transport of the program.
    pub const CUSTOM: &str = "custom";

    /// Makes a handle. The word is the kind of the transport in output.
    pub fn new(handle: Arc<dyn Any + Send + Sync>, word: &'static str) -> Self {
        Self { handle, word, identity: None }
    }

    /// Sets what is behind the transport, such as `ssh staging.example`. Two servers with the same
    /// name and the same text are the same one for everything that is stored: cached tools, pins
    /// and permanent approvals. Another account or machine needs another text.
    ///
    /// Without it, nothing of the server is stored beyond the runtime that connects it. The text is
    /// stored only as a keyed hash.
    #[must_use]
    pub fn with_identity(self, identity: impl Into<Secret>) -> Self {
        Self { identity: Some(identity.into()), ..self }
    }

    /// Returns what is behind the transport, if the program has said so.
    pub fn identity(&self) -> Option<&Secret> {
        self.identity.as_ref()
    }

    /// Returns the word used in output.
    pub fn word(&self) -> &'static str {
        self.word
    }

    /// Returns what the handle was made of, if it is of this type.
    pub fn downcast<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(&self.handle).downcast().ok()
    }

    /// Returns a number that only clones of this handle have, while one of them exists.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.handle).cast::<()>().addr()
    }
}

impl PartialEq for CustomTransport {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address() && self.identity == other.identity
    }
}

impl Eq for CustomTransport {}

impl fmt::Debug for CustomTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CustomTransport").field(&self.word).finish()
    }
}
