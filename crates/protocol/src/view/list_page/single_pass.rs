//! Reads a regular page in one pass: an object with an array of objects.
//!
//! If the page is irregular, reading stops and `lenient` starts from the beginning.

use super::{EntryMembers, ListEntry, RejectedEntry, build_entry};
use crate::{Json, scan};

/// The unparsed members of a page, and its entries.
pub(super) struct RawPage<'a, T> {
    pub(super) items: Vec<T>,
    pub(super) rejected: Vec<RejectedEntry>,
    pub(super) cursor: Option<&'a str>,
    pub(super) ttl: Option<&'a str>,
    pub(super) scope: Option<&'a str>,
    pub(super) meta: Option<&'a str>,
    /// How many entries are read at most, valid or not.
    pub(super) limit: usize,
    /// There were more entries than the limit, and they were not read.
    pub(super) is_truncated: bool,
}

impl<T> RawPage<'_, T> {
    /// Starts a page with at most this many entries.
    pub(super) fn with_limit(limit: usize) -> Self {
        Self {
            items: Vec::new(),
            rejected: Vec::new(),
            cursor: None,
            ttl: None,
            scope: None,
            meta: None,
            limit,
            is_truncated: false,
        }
    }

    /// Tells whether another entry may be added; if not, marks the page as truncated.
    pub(super) fn has_room(&mut self) -> bool {
        self.is_truncated = self.items.len() + self.rejected.len() >= self.limit;
        !self.is_truncated
    }

    pub(super) fn add(&mut self, entry: Result<T, RejectedEntry>) {
        match entry {
            Ok(item) => self.items.push(item),
            Err(rejected) => self.rejected.push(rejected),
        }
    }
}

/// Reads a page in one pass; `None` if it is irregular.
///
/// Text after the last entry within the limit is not read.
pub(super) fn read<T: ListEntry>(page: &Json, limit: usize) -> Option<RawPage<'_, T>> {
    let mut raw_page = RawPage::with_limit(limit);
    let mut has_list = false;
    let mut cursor = scan::members(page.as_str());
    while let Some(key) = cursor.next_key() {
        if scan::is_key(key, T::LIST) {
            (raw_page.items, raw_page.rejected) = (Vec::new(), Vec::new());
            let mut list = cursor.enter(b'[')?;
            while list.next_key().is_some() {
                if !raw_page.has_room() {
                    raw_page.items.shrink_to_fit();
                    return Some(raw_page);
                }
                raw_page.add(entry(page, &mut list)?);
            }
            cursor.leave(&list)?;
            has_list = true;
            continue;
        }
        let value = Some(cursor.value()?);
        match key {
            "\"nextCursor\"" => raw_page.cursor = value,
            "\"ttlMs\"" => raw_page.ttl = value,
            "\"cacheScope\"" => raw_page.scope = value,
            "\"_meta\"" => raw_page.meta = value,
            // Only the irregular path decodes keys.
            _ if key.contains('\\') => return None,
            _ => {}
        }
    }
    // The list may be kept for long, so unused capacity is freed.
    raw_page.items.shrink_to_fit();
    (has_list && cursor.is_complete()).then_some(raw_page)
}

/// Reads the next entry of a list; `None` if it is not an object.
fn entry<T: ListEntry>(
    page: &Json,
    list: &mut scan::JsonCursor<'_>,
) -> Option<Result<T, RejectedEntry>> {
    let mut members = list.enter(b'{')?;
    let mut found = EntryMembers::default();
    for (key, value) in &mut members {
        if scan::is_key(key, T::KEY) {
            found.name = Some(value);
        } else if let Some(part) =
            T::INDEXED_MEMBERS.iter().position(|part| scan::is_key(key, part))
        {
            found.members[part] = Some(value);
        }
    }
    let whole = list.leave(&members)?;
    Some(build_entry(page, whole, &found, None))
}
