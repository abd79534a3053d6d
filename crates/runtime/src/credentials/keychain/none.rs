//! The keychain of a program that was built without one.

use wharf_config::Secret;

use super::KeychainError;

/// There is no keychain, so there is no value of this type.
#[derive(Debug, Clone)]
pub(in crate::credentials) enum Keychain {}

impl Keychain {
    pub(in crate::credentials) fn open() -> Result<Self, KeychainError> {
        Err(KeychainError::Failed("this program was built without one".to_owned()))
    }

    pub(in crate::credentials) fn read(&self, _: &str) -> Result<Secret, KeychainError> {
        match *self {}
    }

    pub(in crate::credentials) fn write(&self, _: &str, _: &Secret) -> Result<(), KeychainError> {
        match *self {}
    }

    pub(in crate::credentials) fn remove(&self, _: &str) -> Result<(), KeychainError> {
        match *self {}
    }
}
