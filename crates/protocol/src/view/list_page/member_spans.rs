//! Where two members of an entry stand in its text.
//!
//! The way through a page passes them anyway. Who needs them of every entry would have to go
//! through a long list a second time, and two places take less room than two texts that share a
//! buffer.

use std::num::NonZeroU32;

use crate::Json;

/// The places of up to two members in the text of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberSpans([Option<MemberSpan>; 2]);

/// A value behind the first byte of a text, which opens the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MemberSpan {
    start: NonZeroU32,
    length: u32,
}

impl MemberSpans {
    /// Notes where the members are in the text of their entry.
    pub(super) fn of(entry: &str, members: [Option<&str>; 2]) -> Self {
        Self(members.map(|member| MemberSpan::of(entry, member?)))
    }

    /// Returns a member of the entry they are from.
    pub(in crate::view) fn get(self, entry: &Json, index: usize) -> Option<Json> {
        let MemberSpan { start, length } = (*self.0.get(index)?)?;
        let start = start.get() as usize;
        entry.as_str().get(start..start + length as usize).map(|member| entry.part_at(member))
    }
}

impl MemberSpan {
    /// An entry is part of a message, and none of them is so long that a place would not fit.
    fn of(entry: &str, member: &str) -> Option<Self> {
        let start = member.as_ptr().addr().checked_sub(entry.as_ptr().addr())?;
        let start = NonZeroU32::new(u32::try_from(start).ok()?)?;
        Some(Self { start, length: u32::try_from(member.len()).ok()? })
    }
}
