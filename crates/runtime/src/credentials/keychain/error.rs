//! Why the keychain of the system could not be used.

#[cfg(feature = "keychain")]
use std::time::Duration;

#[cfg(feature = "keychain")]
use keyring_core::Error;

/// Why the keychain could not be used. No message has a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::credentials) enum KeychainError {
    /// It is locked, or the person refused.
    #[cfg(feature = "keychain")]
    #[error("the keychain refused access: {0}")]
    Refused(String),
    /// It did not answer.
    #[cfg(feature = "keychain")]
    #[error("the keychain did not answer within {0:?}")]
    TimedOut(Duration),
    /// It has no entry of this name.
    #[cfg(feature = "keychain")]
    #[error("the keychain no longer has the credential")]
    Missing,
    /// There is none, or it failed.
    #[error("the keychain cannot be used: {0}")]
    Failed(String),
}

#[cfg(feature = "keychain")]
impl From<Error> for KeychainError {
    fn from(error: Error) -> Self {
        match error {
            Error::NoStorageAccess(reason) => Self::Refused(reason.to_string()),
            Error::NoEntry => Self::Missing,
            // These contain the secret.
            Error::BadEncoding(_) | Error::BadDataFormat(..) => {
                Self::Failed("it returned data that is not a text".to_owned())
            }
            Error::PlatformFailure(reason) => Self::Failed(reason.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}
