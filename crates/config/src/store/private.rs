//! Files that are only for their owner: what is trusted, and credentials.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use super::error::StoreError;
use super::write::write;

/// Replaces a file of Wharf's own; it ends up readable by its owner alone, whatever it was before.
pub fn write_private(path: &Path, text: &str) -> Result<(), StoreError> {
    restrict(path);
    write(path, text)
}

/// Takes the access of others away before anything new is in the file.
#[cfg(unix)]
fn restrict(path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    let is_open = path.metadata().is_ok_and(|about| about.permissions().mode() & 0o077 != 0);
    if is_open {
        // If it cannot be done, writing will say why.
        drop(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)));
    }
}

#[cfg(not(unix))]
fn restrict(_path: &Path) {}

/// Returns a text that nobody can guess, for keys and references.
///
/// Fails where the system has no randomness to give: anything else could be guessed.
pub fn random_id() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().fold(String::with_capacity(32), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    }))
}
