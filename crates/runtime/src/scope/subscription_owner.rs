//! The owner of subscriptions to resources: the runtime, or a view. They count until it is dropped.

use std::sync::{Arc, Weak};

#[derive(Debug, Default)]
pub(crate) struct SubscriptionOwner(Arc<()>);

impl SubscriptionOwner {
    /// Returns a handle that does not keep the owner.
    pub(crate) fn downgrade(&self) -> Weak<()> {
        Arc::downgrade(&self.0)
    }

    /// Tells whether a handle is of this owner.
    pub(crate) fn is(&self, owner: &Weak<()>) -> bool {
        owner.as_ptr() == Arc::as_ptr(&self.0)
    }
}
