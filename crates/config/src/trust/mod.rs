//! The trust store, `trust.json`: which project definitions the person accepted or refused.
//!
//! A cloned repository must not be able to start programs. So a definition is trusted only with
//! exactly the accepted content, in its folder; after any change the person must decide again. A
//! refusal also applies to exactly the refused content. Values that may be secrets are stored as
//! keyed hashes.
//!
//! `subject` collects the fields and files of a definition, `fingerprint` is their stored form,
//! `as_written` renders values, `command_words` finds the files that a command names.

mod as_written;
mod command_words;
mod fingerprint;
mod subject;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::env::Env;
use crate::named_files::NamedFiles;
use crate::problem::Problem;
use crate::server::Definition;
use crate::source::Level;
use crate::store::{self, StoreError, StoreErrorKind, private_file};

pub use as_written::value_as_written;
pub use fingerprint::{Fingerprint, FingerprintDifference};
use subject::AgreementId;
pub use subject::{EnvFile, TrustSubject, UsedFile};

/// The stored trust decisions of one person.
#[derive(Debug, Default)]
pub struct TrustStore {
    path: Option<PathBuf>,
    file: TrustFile,
    /// The file could not be read, so it must not be replaced.
    is_unreadable: bool,
}

/// The trust decision about a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// It is not from a project, so it needs no trust.
    NotNeeded,
    /// The person accepted it with its current content.
    Accepted,
    /// There is no decision.
    Unknown,
    /// The person accepted it, but it changed since then.
    Changed(Vec<FingerprintDifference>),
    /// The person refused it with its current content.
    Refused,
}

impl Trust {
    /// Tells whether the definition may be expanded and used.
    pub fn allows_use(&self) -> bool {
        matches!(self, Self::NotNeeded | Self::Accepted)
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct TrustFile {
    version: u32,
    /// The key of the hashes; random, so that equal secrets have different hashes on each machine.
    key: String,
    folders: BTreeMap<String, FolderTrust>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct FolderTrust {
    /// The folder itself is trusted: servers of user files may run in it.
    #[serde(default)]
    folder: bool,
    /// The accepted definitions.
    #[serde(default)]
    servers: ByFile,
    /// The refused definitions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    refused: ByFile,
}

/// Fingerprints by file, relative to the folder, and by server.
type ByFile = BTreeMap<String, BTreeMap<String, Fingerprint>>;

impl FolderTrust {
    fn is_empty(&self) -> bool {
        !self.folder && self.servers.is_empty() && self.refused.is_empty()
    }
}

impl TrustStore {
    /// Reads the decisions. If the file cannot be read, there are none, and a problem is returned.
    pub fn load(env: &Env) -> (Self, Option<Problem>) {
        let Some(path) = env.wharf_home().map(|home| home.join("trust.json")) else {
            return (Self::default(), None);
        };
        let (file, problem) = match store::read(&path) {
            Ok(Some(text)) => match serde_json::from_str(&text) {
                Ok(file) => (file, None),
                Err(error) => {
                    let line = u32::try_from(error.line()).unwrap_or(1);
                    let message = "the trust file is malformed; nothing is trusted";
                    let problem =
                        Problem::error("trust-store", message).in_file(&path).on_line(line);
                    let problem = problem.hint("correct the file, or delete it and trust again");
                    (TrustFile::default(), Some(problem))
                }
            },
            Ok(None) => (TrustFile::default(), None),
            Err(error) => (TrustFile::default(), Some(error.as_problem())),
        };
        let is_unreadable = problem.is_some();
        (Self { path: Some(path), file, is_unreadable }, problem)
    }

    /// Returns the decision about a definition.
    pub(crate) fn check(&self, definition: &Definition, env: &Env, files: &NamedFiles) -> Trust {
        if definition.source.level != Level::Project {
            return Trust::NotNeeded;
        }
        let agreement_id = AgreementId::of(definition);
        let folder = self.file.folders.get(&agreement_id.folder);
        let find = |all: &'_ ByFile| all.get(&agreement_id.file)?.get(&agreement_id.name).cloned();
        let agreed = folder.and_then(|folder| find(&folder.servers));
        let refused = folder.and_then(|folder| find(&folder.refused));
        if agreed.is_none() && refused.is_none() {
            return Trust::Unknown;
        }
        let subject = TrustSubject::with_files(definition, env, files);
        let now = Fingerprint::of(&subject.observed, &self.key());
        match agreed {
            Some(agreed) if agreed == now => Trust::Accepted,
            _ if refused.is_some_and(|refused| refused == now) => Trust::Refused,
            Some(agreed) => Trust::Changed(agreed.differences(&now)),
            None => Trust::Unknown,
        }
    }

    /// Tells whether one of these folders, or any definition in it, is trusted.
    pub fn trusts_folder(&self, folders: &[PathBuf]) -> bool {
        folders.iter().any(|folder| {
            let known = self.file.folders.get(&folder_key(folder));
            known.is_some_and(|known| known.folder || !known.servers.is_empty())
        })
    }

    /// Accepts a definition, with the content in the subject.
    pub fn accept(&mut self, subject: &TrustSubject) {
        self.ensure_key();
        let fingerprint = Fingerprint::of(&subject.observed, &self.key());
        let AgreementId { folder, file, name } = &subject.agreement_id;
        let folder = self.file.folders.entry(folder.clone()).or_default();
        folder.servers.entry(file.clone()).or_default().insert(name.clone(), fingerprint);
        remove(&mut folder.refused, name, Some(file));
    }

    /// Refuses a definition, with the content in the subject. Content that was accepted earlier
    /// stays accepted, in case the definition is changed back.
    pub fn refuse(&mut self, subject: &TrustSubject) {
        self.ensure_key();
        let fingerprint = Fingerprint::of(&subject.observed, &self.key());
        let AgreementId { folder, file, name } = &subject.agreement_id;
        let folder = self.file.folders.entry(folder.clone()).or_default();
        folder.refused.entry(file.clone()).or_default().insert(name.clone(), fingerprint);
    }

    /// Trusts a folder: servers of user files may run in it.
    pub fn accept_folder(&mut self, folder: &Path) {
        self.ensure_key();
        self.file.folders.entry(folder_key(folder)).or_default().folder = true;
    }

    /// Revokes the trust in a name in these folders; returns whether there was any.
    pub fn revoke(&mut self, name: &str, folders: &[PathBuf]) -> bool {
        let mut found = false;
        for folder in folders {
            let Some(known) = self.file.folders.get_mut(&folder_key(folder)) else { continue };
            found |= remove(&mut known.servers, name, None);
        }
        found
    }

    /// Revokes the trust in all definitions of these folders; returns their names.
    pub fn revoke_all(&mut self, folders: &[PathBuf]) -> Vec<String> {
        let mut names = Vec::new();
        for folder in folders {
            if let Some(known) = self.file.folders.get_mut(&folder_key(folder)) {
                let servers = std::mem::take(&mut known.servers);
                names.extend(servers.into_values().flat_map(BTreeMap::into_keys));
            }
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Revokes the trust in a folder itself; returns whether there was any.
    pub fn revoke_folder(&mut self, folder: &Path) -> bool {
        let known = self.file.folders.get_mut(&folder_key(folder));
        known.is_some_and(|known| std::mem::take(&mut known.folder))
    }

    /// Writes the decisions. The caller holds the lock. A file that could not be read is not
    /// replaced, because the person may still repair it.
    pub fn save(&mut self) -> Result<(), StoreError> {
        self.file.version = 1;
        self.file.folders.retain(|_, folder| !folder.is_empty());
        let Some(path) = &self.path else { return Ok(()) };
        if self.is_unreadable {
            return Err(StoreError::new(path, StoreErrorKind::Malformed));
        }
        if self.file.key.is_empty() && !self.file.folders.is_empty() {
            let why =
                private_file::random_id().err().unwrap_or_else(|| std::io::ErrorKind::Other.into());
            return Err(StoreError::new(path, StoreErrorKind::NoRandomness(why)));
        }
        let mut text = serde_json::to_string_pretty(&self.file).unwrap_or_default();
        text.push('\n');
        private_file::write(path, &text)
    }

    fn key(&self) -> Vec<u8> {
        self.file.key.as_bytes().to_vec()
    }

    fn ensure_key(&mut self) {
        if self.file.key.is_empty() {
            // Without a key, `save` fails.
            self.file.key = private_file::random_id().unwrap_or_default();
        }
    }
}

/// Removes a name from one file or from all files; returns whether it was there.
fn remove(all: &mut ByFile, name: &str, only: Option<&String>) -> bool {
    let mut found = false;
    for (_, servers) in all.iter_mut().filter(|(file, _)| only.is_none_or(|only| only == *file)) {
        found |= servers.remove(name).is_some();
    }
    all.retain(|_, servers| !servers.is_empty());
    found
}

/// Returns the key of a folder. Windows ignores case, and a drive may be typed as `c:` or `C:`.
fn folder_key(folder: &Path) -> String {
    let text = folder.to_string_lossy();
    if cfg!(windows) { text.to_lowercase() } else { text.into_owned() }
}
