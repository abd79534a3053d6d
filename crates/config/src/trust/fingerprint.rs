//! The trust fingerprint of a definition, as stored in `trust.json`: fields before expansion, and
//! keyed hashes of values that may be secrets.

use std::collections::{BTreeMap, BTreeSet};

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::subject::ObservedField;
use crate::secret::REDACTED;
use crate::store::private_file::hex;

/// The fields of a definition at the time of the decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(BTreeMap<String, StoredField>);

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum StoredField {
    Plain(String),
    Hashed {
        hash: String,
        /// The text with its literal parts redacted, if anything else is in it: `Bearer ${TOKEN}`.
        #[serde(default, rename = "shown", skip_serializing_if = "Option::is_none")]
        redacted: Option<String>,
    },
}

/// A field that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FingerprintDifference {
    /// The field, such as `args[1]`.
    pub field: String,
    /// The old value, if the field existed.
    pub before: Option<String>,
    /// The new value, if the field exists.
    pub after: Option<String>,
}

impl Fingerprint {
    /// Makes a fingerprint of the observed fields.
    pub(super) fn of(observed: &BTreeMap<String, ObservedField>, key: &[u8]) -> Self {
        let stored_field = |observed: &ObservedField| match observed {
            ObservedField::Plain(text) => StoredField::Plain(text.clone()),
            ObservedField::MaybeSecret { text, redacted } => {
                let redacted = (redacted != REDACTED).then(|| redacted.clone());
                StoredField::Hashed { hash: keyed_hash(key, text.expose().as_bytes()), redacted }
            }
            ObservedField::FileContents(text) => {
                StoredField::Hashed { hash: keyed_hash(key, text.as_bytes()), redacted: None }
            }
        };
        Self(observed.iter().map(|(field, seen)| (field.clone(), stored_field(seen))).collect())
    }

    /// Lists the fields that differ in a later fingerprint; values that may be secrets are
    /// redacted.
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

/// Compares hashes only: records without the redacted text stay valid.
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
            Self::Hashed { redacted, .. } => {
                redacted.clone().unwrap_or_else(|| REDACTED.to_owned())
            }
        }
    }
}

fn keyed_hash(key: &[u8], bytes: &[u8]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
    mac.update(bytes);
    hex(&mac.finalize().into_bytes())
}
