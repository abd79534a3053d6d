//! Reads pages that are not as they should be: without a list, with a bare list, with names as
//! keys, or with an entry that is no object.

use bytestring::ByteString;

use super::pieces::Pieces;
use super::{Entry, Found, Rejected, named};
use crate::scan::find;
use crate::view::odd::{Deviation, Kind, Oddity};
use crate::{Json, Members, scan};

/// Reads any page, entry by entry.
pub(super) fn read<'a, T: Entry>(
    page: &'a Json,
    room: usize,
    oddities: &mut Vec<Oddity>,
) -> Pieces<'a, T> {
    let [list, cursor, ttl, scope, meta] =
        find(page.as_str(), [T::LIST, "nextCursor", "ttlMs", "cacheScope", "_meta"]);
    let mut pieces = Pieces { cursor, ttl, scope, meta, ..Pieces::with_room(room) };
    match list {
        Some(list) if list.starts_with('[') => add_all(&mut pieces, page, list),
        Some(list) => {
            oddities.push(Oddity::mismatch(T::LIST, &page.part_at(list), Kind::Array));
            for (name, raw) in Members::of(list).iter().flat_map(Members::iter) {
                if !pieces.has_room() {
                    break;
                }
                pieces.add(read_entry(page.part(raw), Some(&name.into())));
            }
        }
        None if page.is_object() => oddities.push(Oddity::new(T::LIST, Deviation::Missing)),
        None => {
            oddities.push(Oddity::mismatch("result", page, Kind::Object));
            add_all(&mut pieces, page, page.as_str());
        }
    }
    pieces
}

fn add_all<T: Entry>(pieces: &mut Pieces<'_, T>, page: &Json, list: &str) {
    for (_, entry) in scan::items(list) {
        if !pieces.has_room() {
            return;
        }
        pieces.add(read_entry(page.part_at(entry), None));
    }
}

/// Reads one entry; `key` names it if it does not do so itself.
pub(super) fn read_entry<T: Entry>(raw: Json, key: Option<&ByteString>) -> Result<T, Rejected> {
    if !raw.is_object() {
        let why = Oddity::mismatch("entry", &raw, Kind::Object);
        return Err(Rejected { raw, why });
    }
    let [first, second] = T::PARTS;
    let [name, first, second] = find(raw.as_str(), [T::KEY, first, second]);
    named(&raw, raw.as_str(), &Found { name, parts: [first, second] }, key)
}
