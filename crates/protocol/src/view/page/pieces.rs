//! Reads an ordinary page: an object with an array of objects in it.
//!
//! Whatever is not ordinary ends the reading, and `odd` begins again.

use super::{Entry, Found, Rejected, named};
use crate::{Json, scan};

/// A page in pieces.
pub(super) struct Pieces<'a, T> {
    pub(super) items: Vec<T>,
    pub(super) rejected: Vec<Rejected>,
    pub(super) cursor: Option<&'a str>,
    pub(super) ttl: Option<&'a str>,
    pub(super) scope: Option<&'a str>,
    pub(super) meta: Option<&'a str>,
    /// How many more entries there may be, good or bad.
    pub(super) room: usize,
    /// There were more entries than that, and they were not read.
    pub(super) is_cut: bool,
}

impl<T> Pieces<'_, T> {
    /// Begins a page with at most so many entries.
    pub(super) fn with_room(room: usize) -> Self {
        Self {
            items: Vec::new(),
            rejected: Vec::new(),
            cursor: None,
            ttl: None,
            scope: None,
            meta: None,
            room,
            is_cut: false,
        }
    }

    /// Tells whether there is room for another entry, and takes note that there was one if not.
    pub(super) fn has_room(&mut self) -> bool {
        self.is_cut = self.items.len() + self.rejected.len() >= self.room;
        !self.is_cut
    }

    pub(super) fn add(&mut self, entry: Result<T, Rejected>) {
        match entry {
            Ok(item) => self.items.push(item),
            Err(rejected) => self.rejected.push(rejected),
        }
    }
}

/// Reads a page in one pass; `None` if it is not an ordinary one.
///
/// What comes after the last entry that there is room for is not looked at.
pub(super) fn read<T: Entry>(page: &Json, room: usize) -> Option<Pieces<'_, T>> {
    let mut pieces = Pieces::with_room(room);
    let mut has_list = false;
    let mut walk = scan::members(page.as_str());
    while let Some(key) = walk.next_key() {
        if scan::is_key(key, T::LIST) {
            (pieces.items, pieces.rejected) = (Vec::new(), Vec::new());
            let mut list = walk.enter(b'[')?;
            while list.next_key().is_some() {
                if !pieces.has_room() {
                    pieces.items.shrink_to_fit();
                    return Some(pieces);
                }
                pieces.add(entry(page, &mut list)?);
            }
            walk.leave(&list)?;
            has_list = true;
            continue;
        }
        let value = Some(walk.value()?);
        match key {
            "\"nextCursor\"" => pieces.cursor = value,
            "\"ttlMs\"" => pieces.ttl = value,
            "\"cacheScope\"" => pieces.scope = value,
            "\"_meta\"" => pieces.meta = value,
            // The odd way decodes keys.
            _ if key.contains('\\') => return None,
            _ => {}
        }
    }
    // The list may be kept for long, so it should not keep room for twice as many.
    pieces.items.shrink_to_fit();
    (has_list && walk.is_complete()).then_some(pieces)
}

/// Reads the next entry of a list; `None` if it is no object.
fn entry<T: Entry>(page: &Json, list: &mut scan::Walk<'_>) -> Option<Result<T, Rejected>> {
    let mut members = list.enter(b'{')?;
    let mut found = Found::default();
    for (key, value) in &mut members {
        if scan::is_key(key, T::KEY) {
            found.name = Some(value);
        } else if let Some(part) = T::PARTS.iter().position(|part| scan::is_key(key, part)) {
            found.parts[part] = Some(value);
        }
    }
    let whole = list.leave(&members)?;
    Some(named(page, whole, &found, None))
}
