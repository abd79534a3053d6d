//! Checks what a credential is bound to, whatever a store returned.

use wharf_config::{Credential, ServerUrl};

/// Tells whether a credential is bound to this address.
pub(crate) fn is_for_resource(found: &Credential, resource: &str) -> bool {
    is_same_resource(&found.resource, resource)
}

/// Tells whether a text that a credential is bound to means this address.
pub(crate) fn is_same_resource(bound_to: &str, resource: &str) -> bool {
    let bound_to = bound_to.parse::<ServerUrl>().ok();
    bound_to.and_then(|url| url.resource()).as_deref() == Some(resource)
}
