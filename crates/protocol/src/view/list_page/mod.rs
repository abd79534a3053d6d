//! One page of a list result, parsed entry by entry: tools, resources, prompts, tasks.
//!
//! An invalid entry is rejected with the reason and does not affect the others. A regular page is
//! parsed in one pass (`single_pass`), an irregular one in several (`lenient`). Entries share the
//! buffer of the page, so a list takes little more memory than its text.

mod lenient;
mod member_spans;
mod single_pass;

use std::borrow::Cow;
use std::time::Duration;

use bytestring::ByteString;

pub use member_spans::MemberSpans;

use self::single_pass::RawPage;
use super::fields::parse_u64;
use super::violation::{JsonType, ProtocolViolation, ViolationKind};
use crate::Json;
use crate::scan::{self, decode_string};

/// An entry of a list result.
pub trait ListEntry: Sized {
    /// The member of the result that holds the list.
    const LIST: &'static str;

    /// The member that identifies an entry.
    const KEY: &'static str;

    /// The members whose positions an entry stores, because every consumer needs them.
    const INDEXED_MEMBERS: [&'static str; 2];

    /// Creates an entry from its key, its text and the positions of [`ListEntry::INDEXED_MEMBERS`].
    fn new(key: ByteString, raw: Json, spans: MemberSpans) -> Self;

    /// Returns the entry as the server sent it.
    fn raw(&self) -> &Json;

    /// Returns the protocol violations in it.
    fn violations(&self) -> Vec<ProtocolViolation>;

    /// Reads a single entry.
    fn read(raw: Json) -> Result<Self, RejectedEntry> {
        lenient::read_entry(raw, None)
    }
}

/// One page of a list.
///
/// ```
/// use wharf_protocol::view::{ListPage, ToolDefinition};
///
/// let result = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{}],"nextCursor":"2"}"#;
/// let page: ListPage<ToolDefinition> = ListPage::read(&result.parse()?);
/// assert_eq!(page.items[0].name(), "echo");
/// assert_eq!(page.rejected[0].why.to_string(), "name is missing");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage<T> {
    /// The valid entries, in order.
    pub items: Vec<T>,
    /// The invalid entries.
    pub rejected: Vec<RejectedEntry>,
    /// The cursor of the next page.
    pub(crate) next_cursor: Option<String>,
    /// How long the page may be cached.
    pub(crate) cache: CacheHints,
    /// `_meta` of the result.
    pub(crate) meta: Option<Json>,
    /// The protocol violations of the page itself, without those of the entries.
    pub violations: Vec<ProtocolViolation>,
    /// Whether there were more entries than the limit; the rest of the page was not read.
    pub(crate) is_truncated: bool,
}

/// An invalid entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedEntry {
    /// The entry as the server sent it.
    pub(crate) raw: Json,
    /// Why it is invalid.
    pub why: ProtocolViolation,
}

/// How long a result may be cached, and for whom (2026-07-28).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheHints {
    /// For how long; zero if not specified.
    pub ttl: Duration,
    /// For whom.
    pub(crate) scope: CacheScope,
}

/// Who may get a cached result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum CacheScope {
    /// Only clients with the same authorization.
    #[default]
    Private,
    /// Every client.
    Public,
}

impl CacheHints {
    /// Returns the stricter hints of two results.
    #[must_use]
    pub(crate) fn stricter(self, other: Self) -> Self {
        let is_public = [self, other].iter().all(|hints| hints.scope == CacheScope::Public);
        let scope = if is_public { CacheScope::Public } else { CacheScope::Private };
        Self { ttl: self.ttl.min(other.ttl), scope }
    }

    fn from_parts(ttl: Option<&str>, scope: Option<&str>) -> Self {
        let millis = ttl.and_then(parse_u64).unwrap_or_default();
        let is_public = scope.is_some_and(|raw| scan::is_key(raw, "public"));
        let scope = if is_public { CacheScope::Public } else { CacheScope::Private };
        Self { ttl: Duration::from_millis(millis), scope }
    }
}

impl<T: ListEntry> ListPage<T> {
    /// Reads the result of a list request from any JSON value.
    pub fn read(result: &Json) -> Self {
        Self::read_up_to(result, usize::MAX)
    }

    /// Reads at most this many entries of a result, including invalid ones.
    pub(crate) fn read_up_to(result: &Json, limit: usize) -> Self {
        let mut violations = Vec::new();
        let raw_page = single_pass::read(result, limit)
            .unwrap_or_else(|| lenient::read(result, limit, &mut violations));
        Self::of(result, raw_page, violations)
    }

    fn of(result: &Json, raw_page: RawPage<'_, T>, mut violations: Vec<ProtocolViolation>) -> Self {
        let part = |raw: Option<&str>| raw.map(|raw| result.part_at(raw));
        Self {
            items: raw_page.items,
            rejected: raw_page.rejected,
            next_cursor: part(raw_page.cursor).and_then(|raw| read_cursor(&raw, &mut violations)),
            cache: CacheHints::from_parts(raw_page.ttl, raw_page.scope),
            meta: part(raw_page.meta).filter(Json::is_object),
            is_truncated: raw_page.is_truncated,
            violations,
        }
    }
}

/// The members that were found while scanning an entry.
#[derive(Default)]
struct EntryMembers<'a> {
    name: Option<&'a str>,
    members: [Option<&'a str>; 2],
}

/// Creates an entry from an object in a page; `key` is used if the object has no key member.
fn build_entry<T: ListEntry>(
    page: &Json,
    entry: &str,
    found: &EntryMembers<'_>,
    key: Option<&ByteString>,
) -> Result<T, RejectedEntry> {
    let raw = page.part_at(entry);
    let why = match (found.name, key) {
        (None, Some(key)) if !key.is_empty() => {
            return Ok(T::new(key.clone(), raw, MemberSpans::of(entry, found.members)));
        }
        (None, _) => ProtocolViolation::new(T::KEY, ViolationKind::Missing),
        (Some(name), _) => match decode_string(name) {
            Some(Cow::Borrowed("")) => ProtocolViolation::new(T::KEY, ViolationKind::Empty),
            Some(text) => {
                let name = match text {
                    Cow::Borrowed(plain) => page.plain_at(plain),
                    Cow::Owned(unescaped) => unescaped.into(),
                };
                return Ok(T::new(name, raw, MemberSpans::of(entry, found.members)));
            }
            None => ProtocolViolation::mismatch(T::KEY, &page.part_at(name), JsonType::String),
        },
    };
    Err(RejectedEntry { raw, why })
}

/// Reads the cursor; an empty one means the end, because it would request the first page again.
fn read_cursor(raw: &Json, violations: &mut Vec<ProtocolViolation>) -> Option<String> {
    if JsonType::of(raw) == JsonType::String {
        return raw.to_text().filter(|text| !text.is_empty());
    }
    violations.push(ProtocolViolation::mismatch("nextCursor", raw, JsonType::String));
    (JsonType::of(raw) == JsonType::Number).then(|| raw.as_str().to_owned())
}

#[cfg(test)]
mod tests;
