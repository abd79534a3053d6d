//! The call context: who the host says is calling.
//!
//! A view, or one call, has a context. It reaches the approver, the elicitor and the sampler, and the
//! span and the event of a call, so that a host with many sessions can route each question to the
//! session that caused it. It is never sent to a server.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// The host's name for the caller of a call: an id for code, and a label for people.
///
/// ```
/// let context = wharf::CallContext::new("agent-7", "research");
/// assert_eq!((context.id(), context.label()), ("agent-7", "research"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallContext {
    id: Arc<str>,
    label: Arc<str>,
}

impl CallContext {
    /// Creates a context. `id` is what the host looks up; `label` is what a person reads.
    pub fn new(id: impl Into<Arc<str>>, label: impl Into<Arc<str>>) -> Self {
        Self { id: id.into(), label: label.into() }
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the label.
    pub fn label(&self) -> &str {
        &self.label
    }
}

/// Serializes as `{ "id": …, "label": … }`.
impl Serialize for CallContext {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("CallContext", 2)?;
        fields.serialize_field("id", &*self.id)?;
        fields.serialize_field("label", &*self.label)?;
        fields.end()
    }
}
