//! Reads an ordinary page: an object with an array of objects in it.
//!
//! Whatever is not ordinary ends the reading, and `odd` begins again.

use super::{Entry, Rejected, named};
use crate::{Json, scan};

/// A page in pieces.
pub(super) struct Pieces<'a, T> {
    pub(super) items: Vec<T>,
    pub(super) rejected: Vec<Rejected>,
    pub(super) cursor: Option<&'a str>,
    pub(super) ttl: Option<&'a str>,
    pub(super) scope: Option<&'a str>,
    pub(super) meta: Option<&'a str>,
}

impl<T> Default for Pieces<'_, T> {
    fn default() -> Self {
        let (items, rejected) = (Vec::new(), Vec::new());
        Self { items, rejected, cursor: None, ttl: None, scope: None, meta: None }
    }
}

impl<T> Pieces<'_, T> {
    pub(super) fn add(&mut self, entry: Result<T, Rejected>) {
        match entry {
            Ok(item) => self.items.push(item),
            Err(rejected) => self.rejected.push(rejected),
        }
    }
}

/// Reads a page; `None` if it is not an ordinary one.
pub(super) fn read<T: Entry>(page: &Json) -> Option<Pieces<'_, T>> {
    let keys = [T::LIST, "nextCursor", "ttlMs", "cacheScope", "_meta"];
    let [list, cursor, ttl, scope, meta] = crate::view::fields::find(page.as_str(), keys);
    let mut pieces = Pieces { cursor, ttl, scope, meta, ..Pieces::default() };
    let mut entries = scan::items(list?);
    for (_, entry) in &mut entries {
        if !entry.starts_with('{') {
            return None;
        }
        let name = scan::member(entry, T::KEY).map(|name| page.part_at(name));
        pieces.add(named(page.part_at(entry), name.as_ref(), None));
    }
    // The list may be kept for long, so it should not keep room for twice as many.
    pieces.items.shrink_to_fit();
    entries.is_complete().then_some(pieces)
}
