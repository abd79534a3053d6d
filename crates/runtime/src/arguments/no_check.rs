//! Argument validation in a build without the feature `schema-validation`: only the server checks
//! the arguments.

use wharf_protocol::Json;

use super::invalid_arguments::InvalidArguments;

/// Accepts every object.
#[derive(Debug)]
pub(crate) struct ArgumentCheck;

impl ArgumentCheck {
    /// Ignores the schema.
    pub(crate) fn new(_: &Json) -> Self {
        Self
    }

    /// Checks that the arguments are an object.
    #[expect(clippy::unused_self, reason = "the same function as with validation")]
    pub(crate) fn check(&self, arguments: &Json) -> Result<(), InvalidArguments> {
        if arguments.is_object() { Ok(()) } else { Err(InvalidArguments::not_an_object(arguments)) }
    }
}
