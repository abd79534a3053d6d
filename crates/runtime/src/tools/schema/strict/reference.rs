//! Resolves references inside one schema: `#`, `#/$defs/…` and any other JSON pointer into it.

use std::collections::HashMap;

use super::parsed_values::{Keywords, ParsedValues};
use crate::arguments::local_reference::{json_pointer, pointer_keys};

/// The maximum number of bytes that references may add: nested references can grow exponentially.
const MAX_BYTES: usize = 128 * 1024;

/// The references of one schema.
pub(super) struct References<'a> {
    root: &'a str,
    known: HashMap<String, Option<&'a str>>,
    /// The targets that are being written, to detect recursion.
    open: Vec<&'a str>,
    budget: usize,
}

impl<'a> References<'a> {
    pub(super) fn new(root: &'a str) -> Self {
        Self { root, known: HashMap::new(), open: vec![root], budget: MAX_BYTES }
    }

    /// Returns the schema that a reference points to, and marks it as being expanded until
    /// `close_to`; `None` for a reference to another document.
    pub(super) fn follow(
        &mut self,
        reference: &str,
        parsed: &mut ParsedValues<'a>,
    ) -> Option<Keywords<'a>> {
        let reference: String = serde_json::from_str(reference).ok()?;
        if !reference.starts_with('#') {
            return None;
        }
        let Some(pointer) = json_pointer(&reference) else { return Some(Vec::new()) };
        let root = self.root;
        let found = self.known.entry(pointer.clone().into_owned());
        let target = *found.or_insert_with(|| resolve(root, &pointer, parsed));
        let Some(target) = target else { return Some(Vec::new()) };
        let Some(members) = parsed.object(target) else { return Some(Vec::new()) };
        let is_open = self.open.iter().any(|open| std::ptr::eq(*open, target));
        if is_open || self.budget < target.len() {
            // The type alone is correct, and ends the recursion.
            return Some(
                members.get("type").map(|kind| ("type".into(), kind)).into_iter().collect(),
            );
        }
        self.budget -= target.len();
        self.open.push(target);
        Some(members.members().clone())
    }

    /// Returns the number of open references.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Closes the references that were opened since `depth()` returned `depth`.
    pub(super) fn close_to(&mut self, depth: usize) {
        self.open.truncate(depth);
    }
}

/// Returns the value that a JSON pointer leads to.
fn resolve<'a>(root: &'a str, pointer: &str, parsed: &mut ParsedValues<'a>) -> Option<&'a str> {
    let mut at = root;
    for key in pointer_keys(pointer) {
        at = match parsed.object(at) {
            Some(members) => members.get(&key)?,
            None => parsed.items(at)?.get(key.parse::<usize>().ok()?).copied()?,
        };
    }
    Some(at)
}
