//! The keychain of the operating system: Secret Service on Linux, Keychain on macOS, Credential
//! Manager on Windows.
//!
//! `entries` stores texts under names, `system` opens the keychain of this system, `time_limit`
//! bounds every call: a keychain may wait for the person, or never answer. `none` takes their place
//! in a program that was built without the feature `keychain`.

#[cfg(feature = "keychain")]
mod entries;
mod error;
#[cfg(not(feature = "keychain"))]
mod none;
#[cfg(feature = "keychain")]
mod system;
#[cfg(feature = "keychain")]
mod time_limit;

#[cfg(feature = "keychain")]
pub(super) use self::entries::Keychain;
pub(super) use self::error::KeychainError;
#[cfg(not(feature = "keychain"))]
pub(super) use self::none::Keychain;
