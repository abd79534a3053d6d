//! What exactly was agreed to, in the form that is kept: every field as written, values that may be
//! secret only as keyed hashes.

use std::collections::{BTreeMap, BTreeSet};

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::subject::Observed;
use crate::secret::MASK;
use crate::store::private_file::hex;

/// A definition as it was when it was agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(BTreeMap<String, Item>);

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Item {
    Shown(String),
    Hashed {
        hash: String,
        /// The text with its literal parts hidden, where there is more to show: `Bearer ${TOKEN}`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<String>,
    },
}

/// A field that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The field, such as `args[1]`.
    pub field: String,
    /// What it was, if it was there.
    pub before: Option<String>,
    /// What it is, if it is there.
    pub after: Option<String>,
}

impl Fingerprint {
    /// Makes the form that is kept of what was seen.
    pub(super) fn of(observed: &BTreeMap<String, Observed>, key: &[u8]) -> Self {
        let item = |observed: &Observed| match observed {
            Observed::Shown(text) => Item::Shown(text.clone()),
            Observed::Hidden { text, shown } => {
                let shown = (shown != MASK).then(|| shown.clone());
                Item::Hashed { hash: keyed_hash(key, text.expose().as_bytes()), shown }
            }
            Observed::Contents(text) => {
                Item::Hashed { hash: keyed_hash(key, text.as_bytes()), shown: None }
            }
        };
        Self(observed.iter().map(|(field, seen)| (field.clone(), item(seen))).collect())
    }

    /// Lists what changed from this one to a later one; secrets show only that they did.
    pub(super) fn differences(&self, later: &Self) -> Vec<Difference> {
        let fields: BTreeSet<&String> = self.0.keys().chain(later.0.keys()).collect();
        let changed = fields.into_iter().filter(|field| self.0.get(*field) != later.0.get(*field));
        let show = |item: Option<&Item>| item.map(Item::show);
        changed
            .map(|field| Difference {
                field: field.clone(),
                before: show(self.0.get(field)),
                after: show(later.0.get(field)),
            })
            .collect()
    }
}

/// Hashes decide alone: a record that was made before placeholders were kept still counts.
impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Shown(own), Self::Shown(theirs))
            | (Self::Hashed { hash: own, .. }, Self::Hashed { hash: theirs, .. }) => own == theirs,
            _ => false,
        }
    }
}

impl Eq for Item {}

impl Item {
    fn show(&self) -> String {
        match self {
            Self::Shown(text) => text.clone(),
            Self::Hashed { shown, .. } => shown.clone().unwrap_or_else(|| MASK.to_owned()),
        }
    }
}

fn keyed_hash(key: &[u8], bytes: &[u8]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
    mac.update(bytes);
    hex(&mac.finalize().into_bytes())
}
