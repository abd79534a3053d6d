//! Texts in the keychain, by name.
//!
//! The keychain of Windows has a limit for the size of an entry, so a longer text is stored in
//! parts: the new parts first, then the entry that names them, then the old parts go. A process
//! that is killed in between leaves the old text readable.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use keyring_core::{CredentialStore, Entry, Error};
use wharf_config::Secret;

use super::{KeychainError, system, time_limit};

/// The name of the program in the keychain.
const SERVICE: &str = "wharf";

/// How long one call may take; the person may have to unlock the keychain.
const LIMIT: Duration = Duration::from_secs(30);

/// What the entry of a text in parts begins with. Other entries are JSON.
const PARTS: &str = "parts";

/// The keychain of the person.
#[derive(Clone)]
pub(in crate::credentials) struct Keychain {
    store: Arc<CredentialStore>,
    max_value: Option<usize>,
}

impl Keychain {
    /// Opens the keychain of this system.
    pub(in crate::credentials) fn open() -> Result<Self, KeychainError> {
        let store = time_limit::run(LIMIT, || Ok(system::open()?))?;
        Ok(Self { store, max_value: system::MAX_VALUE })
    }

    /// Returns the text of this name.
    pub(in crate::credentials) fn read(&self, name: &str) -> Result<Secret, KeychainError> {
        let (keychain, name) = (self.clone(), name.to_owned());
        time_limit::run(LIMIT, move || keychain.read_now(&name))
    }

    /// Stores a text under this name, and replaces the one that is there.
    pub(in crate::credentials) fn write(
        &self,
        name: &str,
        text: &Secret,
    ) -> Result<(), KeychainError> {
        let (keychain, name, text) = (self.clone(), name.to_owned(), text.clone());
        time_limit::run(LIMIT, move || keychain.write_now(&name, text.expose()))
    }

    /// Removes the text of this name, if there is one.
    pub(in crate::credentials) fn remove(&self, name: &str) -> Result<(), KeychainError> {
        let (keychain, name) = (self.clone(), name.to_owned());
        time_limit::run(LIMIT, move || {
            let parts = keychain.parts(&name);
            keychain.remove_entry(&name)?;
            parts.iter().try_for_each(|part| keychain.remove_entry(part))
        })
    }

    fn read_now(&self, name: &str) -> Result<Secret, KeychainError> {
        let head = self.entry(name)?.get_secret()?;
        let parts = part_names(name, &head);
        let mut bytes = if parts.is_empty() { head } else { Vec::new() };
        for part in parts {
            bytes.extend(self.entry(&part)?.get_secret()?);
        }
        let text = String::from_utf8(bytes).map_err(|_| Error::BadEncoding(Vec::new()))?;
        Ok(Secret::new(text))
    }

    fn write_now(&self, name: &str, text: &str) -> Result<(), KeychainError> {
        let old = self.parts(name);
        match self.max_value.filter(|max| text.len() > *max) {
            None => self.entry(name)?.set_secret(text.as_bytes())?,
            Some(max) => {
                let chunks: Vec<&[u8]> = text.as_bytes().chunks(max).collect();
                // Another generation than the old parts, which must stay readable until the end.
                let generation =
                    if old.iter().any(|part| part.contains(".a.")) { 'b' } else { 'a' };
                let head = format!("{PARTS} {generation} {}", chunks.len());
                for (part, chunk) in part_names(name, head.as_bytes()).iter().zip(chunks) {
                    self.entry(part)?.set_secret(chunk)?;
                }
                self.entry(name)?.set_secret(head.as_bytes())?;
            }
        }
        // What is left over does no harm.
        for part in old {
            drop(self.remove_entry(&part));
        }
        Ok(())
    }

    /// Returns the names of the parts that the entry has now.
    fn parts(&self, name: &str) -> Vec<String> {
        let head = self.entry(name).and_then(|entry| Ok(entry.get_secret()?));
        head.map(|head| part_names(name, &head)).unwrap_or_default()
    }

    fn remove_entry(&self, name: &str) -> Result<(), KeychainError> {
        match self.entry(name)?.delete_credential() {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn entry(&self, name: &str) -> Result<Entry, KeychainError> {
        Ok(self.store.build(SERVICE, name, None)?)
    }
}

/// Returns the names of the parts that the entry of a text lists; none if it is the text itself.
fn part_names(name: &str, head: &[u8]) -> Vec<String> {
    let words = std::str::from_utf8(head).unwrap_or_default();
    let [PARTS, generation, count] = words.split(' ').collect::<Vec<_>>()[..] else {
        return Vec::new();
    };
    let count: usize = count.parse().unwrap_or_default();
    (0..count).map(|part| format!("{name}.{generation}.{part}")).collect()
}

impl fmt::Debug for Keychain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keychain").finish_non_exhaustive()
    }
}

#[cfg(test)]
impl Keychain {
    /// Makes a keychain in memory, with this limit for the size of an entry.
    pub(in crate::credentials) fn in_memory(max_value: Option<usize>) -> Self {
        let store = keyring_core::mock::Store::new().unwrap();
        Self { store, max_value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(length: usize) -> Secret {
        let text: String = ('a'..='z').cycle().take(length).collect();
        Secret::new(text)
    }

    #[test]
    fn a_text_of_any_length_is_read_as_it_was_written() {
        for max in [None, Some(10)] {
            let keychain = Keychain::in_memory(max);
            for length in [0, 1, 10, 11, 20, 95, 3] {
                keychain.write("one", &text(length)).unwrap();
                let found = keychain.read("one").unwrap();
                assert_eq!(found.expose(), text(length).expose(), "{length} of {max:?}");
            }
        }
    }

    #[test]
    fn a_removed_text_leaves_no_part() {
        let keychain = Keychain::in_memory(Some(10));
        keychain.write("one", &text(25)).unwrap();
        let parts = keychain.parts("one");
        assert_eq!(parts.len(), 3);
        keychain.remove("one").unwrap();
        assert_eq!(keychain.read("one").unwrap_err(), KeychainError::Missing);
        for part in parts {
            assert_eq!(keychain.read(&part).unwrap_err(), KeychainError::Missing);
        }
        keychain.remove("one").unwrap();
    }

    #[test]
    fn the_old_text_is_readable_until_the_new_one_is_complete() {
        let keychain = Keychain::in_memory(Some(10));
        keychain.write("one", &text(25)).unwrap();
        let old = keychain.parts("one");
        keychain.write("one", &text(35)).unwrap();
        let new = keychain.parts("one");
        assert!(old.iter().all(|part| !new.contains(part)), "{old:?} {new:?}");
    }
}
