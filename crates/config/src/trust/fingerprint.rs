//! What exactly was agreed to, in the form that is kept: every field as written, values that may be
//! secret only as keyed hashes.

use std::collections::{BTreeMap, BTreeSet};

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::subject::ObservedField;
use crate::secret::REDACTED;
use crate::store::private_file::hex;

/// A definition as it was when it was agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(BTreeMap<String, StoredField>);

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum StoredField {
    Plain(String),
    Hashed {
        hash: String,
        /// The text with its literal parts hidden, where there is more to show: `Bearer ${TOKEN}`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<String>,
    },
}

/// A field that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FingerprintDifference {
    /// The field, such as `args[1]`.
    pub field: String,
    /// What it was, if it was there.
    pub before: Option<String>,
    /// What it is, if it is there.
    pub after: Option<String>,
}

impl Fingerprint {
    /// Makes the form that is kept of what was seen.
    pub(super) fn of(observed: &BTreeMap<String, ObservedField>, key: &[u8]) -> Self {
        let stored_field = |observed: &ObservedField| match observed {
            ObservedField::Plain(text) => StoredField::Plain(text.clone()),
            ObservedField::MaybeSecret { text, shown } => {
                let shown = (shown != REDACTED).then(|| shown.clone());
                StoredField::Hashed { hash: keyed_hash(key, text.expose().as_bytes()), shown }
            }
            ObservedField::FileContents(text) => {
                StoredField::Hashed { hash: keyed_hash(key, text.as_bytes()), shown: None }
            }
        };
        Self(observed.iter().map(|(field, seen)| (field.clone(), stored_field(seen))).collect())
    }

    /// Lists what changed from this one to a later one; secrets show only that they did.
    pub(super) fn differences(&self, later: &Self) -> Vec<FingerprintDifference> {
        let fields: BTreeSet<&String> = self.0.keys().chain(later.0.keys()).collect();
        let changed = fields.into_iter().filter(|field| self.0.get(*field) != later.0.get(*field));
        let show = |item: Option<&StoredField>| item.map(StoredField::show);
        changed
            .map(|field| FingerprintDifference {
                field: field.clone(),
                before: show(self.0.get(field)),
                after: show(later.0.get(field)),
            })
            .collect()
    }
}

/// Hashes decide alone: a record that was made before placeholders were kept still counts.
impl PartialEq for StoredField {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Plain(own), Self::Plain(theirs))
            | (Self::Hashed { hash: own, .. }, Self::Hashed { hash: theirs, .. }) => own == theirs,
            _ => false,
        }
    }
}

impl Eq for StoredField {}

impl StoredField {
    fn show(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Hashed { shown, .. } => shown.clone().unwrap_or_else(|| REDACTED.to_owned()),
        }
    }
}

fn keyed_hash(key: &[u8], bytes: &[u8]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
    mac.update(bytes);
    hex(&mac.finalize().into_bytes())
}
