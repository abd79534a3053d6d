//! Names for servers' records that give nothing away: keyed hashes, with a random key beside them.
//!
//! What identifies a server's configuration holds secrets, and a plain hash of a short secret can be
//! guessed. The key is made when it is first needed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use wharf_config::{Secret, store};

use super::files;

/// How many characters a key has.
const KEY_LENGTH: usize = 64;

/// A folder whose records are found by what they are about.
#[derive(Debug)]
pub(super) struct KeyedFolder {
    folder: Option<PathBuf>,
    key: OnceLock<Option<Secret>>,
}

impl KeyedFolder {
    /// Nothing is read or made until it is needed.
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, key: OnceLock::new() }
    }

    /// Uses a folder without making anything in it: without a key there are no names.
    pub(super) fn as_it_is(folder: &Path) -> Self {
        let key = OnceLock::from(read_key(&folder.join("key")).key());
        Self { folder: Some(folder.to_owned()), key }
    }

    /// Returns the folder, if there is one.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the name of what is about something; nothing if there is no folder or no key to be had.
    pub(super) fn name(&self, about: &[&str]) -> Option<String> {
        let folder = self.folder.as_ref()?;
        let key = self.key.get_or_init(|| key_in(folder)).as_ref()?;
        let mut mac = Hmac::<Sha256>::new_from_slice(key.expose().as_bytes()).ok()?;
        for part in about {
            // With its length in front, no part can be mistaken for the beginning of the next.
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        let hash = mac.finalize().into_bytes();
        Some(hash.iter().take(20).fold(String::with_capacity(40), |mut name, byte| {
            let _infallible = write!(name, "{byte:02x}");
            name
        }))
    }
}

/// Reads the key of a folder, or makes one. A damaged one is replaced, but not one that only cannot be
/// read now: everything that is named after it would be lost.
fn key_in(folder: &Path) -> Option<Secret> {
    let path = folder.join("key");
    let key = format!(
        "{}{}",
        store::private_file::random_id().ok()?,
        store::private_file::random_id().ok()?
    );
    match read_key(&path) {
        Read::Key(key) => return Some(key),
        Read::Unreadable => return None,
        Read::Missing if files::put_new(&path, key.as_bytes()).is_ok() => {
            return Some(Secret::new(key));
        }
        // Another process has just made one.
        Read::Missing => {}
        Read::Damaged => files::put(&path, key.as_bytes()).ok()?,
    }
    read_key(&path).key()
}

enum Read {
    Key(Secret),
    Missing,
    Damaged,
    Unreadable,
}

impl Read {
    fn key(self) -> Option<Secret> {
        match self {
            Self::Key(key) => Some(key),
            _ => None,
        }
    }
}

fn read_key(path: &Path) -> Read {
    match store::read(path) {
        Ok(Some(text)) => {
            let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
            let is_key = text.len() == KEY_LENGTH && is_hex;
            if is_key { Read::Key(Secret::new(text)) } else { Read::Damaged }
        }
        Ok(None) => Read::Missing,
        Err(_) => Read::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_things_have_the_same_name_and_others_have_another() {
        let folder = tempfile::tempdir().unwrap();
        let open = || KeyedFolder::new(Some(folder.path().join("cache")));
        let (one, other) = (open(), open());
        let name = one.name(&["server", "secret"]).unwrap();
        assert_eq!(other.name(&["server", "secret"]).unwrap(), name);
        assert_ne!(one.name(&["servers", "ecret"]).unwrap(), name);
        let elsewhere = tempfile::tempdir().unwrap();
        let stranger = KeyedFolder::new(Some(elsewhere.path().to_owned()));
        assert_ne!(stranger.name(&["server", "secret"]).unwrap(), name);
    }

    #[test]
    fn a_damaged_key_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        files::put(&folder.path().join("key"), b"short").unwrap();
        let open = || KeyedFolder::new(Some(folder.path().to_owned())).name(&["a"]);
        assert!(open().is_some());
        assert_eq!(open(), open());
    }

    #[test]
    fn who_only_looks_makes_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let look = || KeyedFolder::as_it_is(folder.path()).name(&["a"]);
        assert_eq!(look(), None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let made = KeyedFolder::new(Some(folder.path().to_owned())).name(&["a"]);
        assert_eq!(look(), made);
    }

    #[test]
    fn a_key_that_cannot_be_read_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("key")).unwrap();
        assert_eq!(KeyedFolder::new(Some(folder.path().to_owned())).name(&["a"]), None);
        assert!(folder.path().join("key").is_dir());
    }

    #[test]
    fn without_a_folder_there_is_no_name() {
        assert_eq!(KeyedFolder::new(None).name(&["a"]), None);
        let folder = tempfile::tempdir().unwrap();
        files::put(&folder.path().join("file"), b"").unwrap();
        assert_eq!(KeyedFolder::new(Some(folder.path().join("file"))).name(&["a"]), None);
    }
}
