//! A transport that the embedding program brings: a handle to what this crate knows nothing about.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

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
}

impl CustomTransport {
    /// The word for a server that runs in this process.
    pub const IN_PROCESS: &str = "in-process";

    /// The word for a server behind a transport of the program.
    pub const CUSTOM: &str = "custom";

    /// Makes a handle. The word is the kind of the transport in output.
    pub fn new(handle: Arc<dyn Any + Send + Sync>, word: &'static str) -> Self {
        Self { handle, word }
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
        self.address() == other.address()
    }
}

impl Eq for CustomTransport {}

impl fmt::Debug for CustomTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CustomTransport").field(&self.word).finish()
    }
}
