//! Opens the keychain of this system.

use std::sync::Arc;

use keyring_core::{CredentialStore, Error};

/// The largest value of one entry, where the system has a limit.
pub(super) const MAX_VALUE: Option<usize> = if cfg!(windows) { Some(2560) } else { None };

/// Opens the keychain. On Linux this connects to the session bus.
pub(super) fn open() -> Result<Arc<CredentialStore>, Error> {
    #[cfg(target_os = "linux")]
    let store: Arc<CredentialStore> = zbus_secret_service_keyring_store::Store::new()?;
    #[cfg(target_os = "macos")]
    let store: Arc<CredentialStore> = apple_native_keyring_store::keychain::Store::new()?;
    #[cfg(windows)]
    let store: Arc<CredentialStore> = windows_native_keyring_store::Store::new()?;
    #[cfg(any(target_os = "linux", target_os = "macos", windows))]
    return Ok(store);
    #[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
    Err(Error::NotSupportedByStore("there is no keychain for this system".to_owned()))
}
