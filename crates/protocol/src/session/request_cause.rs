//! [`RequestCause`]: a value of the host that belongs to a request.
//!
//! While a server works on a request, it may send requests of its own (elicitation, sampling,
//! roots). The handler of the host then gets the cause, so that a host with many sessions knows
//! which of them to ask. The value never leaves the program.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A value of the host that belongs to a request; clones are cheap and share it.
///
/// Two causes are equal if their values have the same type and are equal.
///
/// ```
/// use wharf_protocol::peer::RequestCause;
///
/// let cause = RequestCause::new("session 7");
/// assert_eq!(cause.downcast_ref::<&str>(), Some(&"session 7"));
/// assert_eq!(cause.downcast_ref::<u64>(), None);
/// ```
#[derive(Clone)]
pub struct RequestCause(Arc<dyn CauseValue>);

/// A value that can be compared with a value of any type.
trait CauseValue: Any + Send + Sync {
    fn is_equal(&self, other: &dyn Any) -> bool;
}

impl<T: Any + PartialEq + Send + Sync> CauseValue for T {
    fn is_equal(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>() == Some(self)
    }
}

impl RequestCause {
    /// Creates a cause from a value of the host.
    pub fn new<T: Any + PartialEq + Send + Sync>(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// Returns the value, if it has this type.
    pub fn downcast_ref<T: Any>(&self) -> Option<&T> {
        self.value().downcast_ref()
    }

    fn value(&self) -> &dyn Any {
        &*self.0
    }
}

impl PartialEq for RequestCause {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_equal(other.value())
    }
}

/// Does not print the value: it may be secret.
impl fmt::Debug for RequestCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestCause(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_with_equal_values_are_equal() {
        assert_eq!(RequestCause::new(7_u32), RequestCause::new(7_u32));
        assert_ne!(RequestCause::new(7_u32), RequestCause::new(8_u32));
        assert_ne!(RequestCause::new(7_u32), RequestCause::new(7_u64));
    }

    #[test]
    fn the_debug_output_does_not_show_the_value() {
        assert_eq!(format!("{:?}", RequestCause::new("secret")), "RequestCause(…)");
    }
}
