//! The positions of two members in the text of an entry.
//!
//! Parsing a page finds them anyway. Storing them avoids a second scan of a long list, and two
//! positions need less memory than two strings that share a buffer.

use std::num::NonZeroU32;

use crate::Json;

/// The positions of up to two members in the text of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberSpans([Option<MemberSpan>; 2]);

/// The position of a value in a text; never at the first byte, which opens the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MemberSpan {
    start: NonZeroU32,
    length: u32,
}

impl MemberSpans {
    /// Stores the positions of the members in the text of their entry.
    pub(super) fn of(entry: &str, members: [Option<&str>; 2]) -> Self {
        Self(members.map(|member| MemberSpan::of(entry, member?)))
    }

    /// Returns a member; `entry` must be the entry of these positions.
    pub(in crate::view) fn get(self, entry: &Json, index: usize) -> Option<Json> {
        let MemberSpan { start, length } = (*self.0.get(index)?)?;
        let start = start.get() as usize;
        entry.as_str().get(start..start + length as usize).map(|member| entry.part_at(member))
    }
}

impl MemberSpan {
    /// An entry is part of a message, and messages are too short to exceed a `u32`.
    fn of(entry: &str, member: &str) -> Option<Self> {
        let start = member.as_ptr().addr().checked_sub(entry.as_ptr().addr())?;
        let start = NonZeroU32::new(u32::try_from(start).ok()?)?;
        Some(Self { start, length: u32::try_from(member.len()).ok()? })
    }
}
