//! Keys of records: HMACs of a server's identity, with a random secret in the same folder.
//!
//! The configuration of a server contains secrets, and a plain hash of a short secret can be
//! guessed. The secret for the HMAC is created when it is first needed.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use wharf_config::Secret;
use wharf_config::store::{self, StoreError, private_file};

use super::server_identity::ServerIdentity;

/// The length of a secret in characters.
const SECRET_LENGTH: usize = 64;

/// Computes the keys of the records in one folder.
#[derive(Debug)]
pub(super) struct RecordKeys {
    folder: Option<PathBuf>,
    secret: OnceLock<Option<Secret>>,
}

/// The key of a server's record. Without a hash nothing is stored or found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordKey {
    pub(super) server: String,
    pub(super) hash: Option<String>,
}

impl RecordKeys {
    /// Uses a folder. The secret is read or created when it is first needed.
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, secret: OnceLock::new() }
    }

    /// Uses a secret that only this process has, for records that are kept in memory.
    pub(super) fn in_memory() -> Self {
        let secret = new_secret().map(Secret::new);
        Self { folder: None, secret: OnceLock::from(secret) }
    }

    /// Uses a folder without creating a secret in it: without a secret there are no hashes.
    pub(super) fn read_only(folder: &Path) -> Self {
        let secret = OnceLock::from(read_secret(&folder.join("key")).ok().flatten());
        Self { folder: Some(folder.to_owned()), secret }
    }

    /// Returns the folder, if there is one.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the key of a server's record. In a folder, there is none for a server that could not
    /// be identified in a later run.
    pub(super) fn key(&self, kind: &str, server: &ServerIdentity<'_>) -> RecordKey {
        let parts = [kind, server.name, server.configuration.expose(), &server.credential];
        let has_key = server.is_lasting || self.folder.is_none();
        let hash = has_key.then(|| self.hash(&parts)).flatten();
        RecordKey { server: server.name.to_owned(), hash }
    }

    /// Returns a hash of texts; `None` without a secret.
    pub(super) fn hash(&self, parts: &[&str]) -> Option<String> {
        let stored = || self.folder.as_deref().and_then(read_or_create_secret);
        let secret = self.secret.get_or_init(stored).as_ref()?;
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes()).ok()?;
        for part in parts {
            // The length prefix keeps different lists of parts from having the same bytes.
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        Some(private_file::hex(&mac.finalize().into_bytes()[..20]))
    }
}

/// Reads the secret of a folder, or creates one. A damaged secret is replaced. An unreadable one
/// is kept, because all records would be lost with it.
fn read_or_create_secret(folder: &Path) -> Option<Secret> {
    let path = folder.join("key");
    if let Some(secret) = read_secret(&path).ok()? {
        return Some(secret);
    }
    let new = new_secret()?;
    let is_made = private_file::create(&path, new.as_bytes()).is_ok();
    // If it could not be created, another process was faster, or the file is damaged.
    if !is_made && read_secret(&path).ok()?.is_none() {
        private_file::replace(&path, new.as_bytes()).ok()?;
    }
    read_secret(&path).ok()?
}

fn new_secret() -> Option<String> {
    Some(format!("{}{}", private_file::random_id().ok()?, private_file::random_id().ok()?))
}

/// Reads a secret; `None` if it is missing or damaged.
fn read_secret(path: &Path) -> Result<Option<Secret>, StoreError> {
    let is_secret = |text: &String| {
        text.len() == SECRET_LENGTH && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    Ok(store::read(path)?.filter(is_secret).map(Secret::new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_equal_hashes_and_different_texts_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let open = || RecordKeys::new(Some(folder.path().join("cache")));
        let (one, other) = (open(), open());
        let hash = one.hash(&["server", "secret"]).unwrap();
        assert_eq!(other.hash(&["server", "secret"]).unwrap(), hash);
        assert_ne!(one.hash(&["servers", "ecret"]).unwrap(), hash);
        let elsewhere = tempfile::tempdir().unwrap();
        let elsewhere_keys = RecordKeys::new(Some(elsewhere.path().to_owned()));
        assert_ne!(elsewhere_keys.hash(&["server", "secret"]).unwrap(), hash);
    }

    #[test]
    fn a_damaged_secret_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        private_file::replace(&folder.path().join("key"), b"short").unwrap();
        let open = || RecordKeys::new(Some(folder.path().to_owned())).hash(&["a"]);
        assert!(open().is_some());
        assert_eq!(open(), open());
    }

    #[test]
    fn reading_creates_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let look = || RecordKeys::read_only(folder.path()).hash(&["a"]);
        assert_eq!(look(), None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let made = RecordKeys::new(Some(folder.path().to_owned())).hash(&["a"]);
        assert_eq!(look(), made);
    }

    #[test]
    fn a_secret_that_cannot_be_read_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("key")).unwrap();
        assert_eq!(RecordKeys::new(Some(folder.path().to_owned())).hash(&["a"]), None);
        assert!(folder.path().join("key").is_dir());
    }

    #[test]
    fn a_secret_in_memory_is_valid_for_one_process() {
        let (one, other) = (RecordKeys::in_memory(), RecordKeys::in_memory());
        assert!(one.hash(&["a"]).is_some() && one.hash(&["a"]) == one.hash(&["a"]));
        assert_ne!(one.hash(&["a"]), other.hash(&["a"]));
    }

    #[test]
    fn without_a_folder_there_is_no_hash() {
        assert_eq!(RecordKeys::new(None).hash(&["a"]), None);
        let folder = tempfile::tempdir().unwrap();
        private_file::replace(&folder.path().join("file"), b"").unwrap();
        assert_eq!(RecordKeys::new(Some(folder.path().join("file"))).hash(&["a"]), None);
    }
}
