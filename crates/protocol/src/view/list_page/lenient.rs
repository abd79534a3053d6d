//! Reads irregular pages: the list is missing, is the result itself, or is an object with names as
//! keys, or an entry is not an object.

use bytestring::ByteString;

use super::single_pass::RawPage;
use super::{EntryMembers, ListEntry, RejectedEntry, build_entry};
use crate::scan::find;
use crate::view::violation::{JsonType, ProtocolViolation, ViolationKind};
use crate::{Json, Members, scan};

/// Reads any page, entry by entry.
pub(super) fn read<'a, T: ListEntry>(
    page: &'a Json,
    limit: usize,
    violations: &mut Vec<ProtocolViolation>,
) -> RawPage<'a, T> {
    let [list, cursor, ttl, scope, meta] =
        find(page.as_str(), [T::LIST, "nextCursor", "ttlMs", "cacheScope", "_meta"]);
    let mut raw_page = RawPage { cursor, ttl, scope, meta, ..RawPage::with_limit(limit) };
    match list {
        Some(list) if list.starts_with('[') => add_all(&mut raw_page, page, list),
        Some(list) => {
            violations.push(ProtocolViolation::mismatch(
                T::LIST,
                &page.part_at(list),
                JsonType::Array,
            ));
            for (name, raw) in Members::of(list).iter().flat_map(Members::iter) {
                if !raw_page.has_room() {
                    break;
                }
                raw_page.add(read_entry(page.part(raw), Some(&name.into())));
            }
        }
        None if page.is_object() => {
            violations.push(ProtocolViolation::new(T::LIST, ViolationKind::Missing));
        }
        None => {
            violations.push(ProtocolViolation::mismatch("result", page, JsonType::Object));
            add_all(&mut raw_page, page, page.as_str());
        }
    }
    raw_page
}

fn add_all<T: ListEntry>(raw_page: &mut RawPage<'_, T>, page: &Json, list: &str) {
    for (_, entry) in scan::items(list) {
        if !raw_page.has_room() {
            return;
        }
        raw_page.add(read_entry(page.part_at(entry), None));
    }
}

/// Reads one entry; `key` is used if the entry has no key member.
pub(super) fn read_entry<T: ListEntry>(
    raw: Json,
    key: Option<&ByteString>,
) -> Result<T, RejectedEntry> {
    if !raw.is_object() {
        let why = ProtocolViolation::mismatch("entry", &raw, JsonType::Object);
        return Err(RejectedEntry { raw, why });
    }
    let [first, second] = T::INDEXED_MEMBERS;
    let [name, first, second] = find(raw.as_str(), [T::KEY, first, second]);
    build_entry(&raw, raw.as_str(), &EntryMembers { name, members: [first, second] }, key)
}
