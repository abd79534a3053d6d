//! One page of a list, taken apart entry by entry.
//!
//! An entry that cannot be used is set aside with the reason, and all others work. An ordinary page
//! is gone through once (`single_pass`), an odd one more often (`lenient`); entries share the
//! page's buffer, so a list takes little more memory than its text.

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
use crate::scan::{self, decode_string, find};

/// An entry of a list that a server offers.
pub trait ListEntry: Sized {
    /// The member of the result that holds the list.
    const LIST: &'static str;

    /// The member of an entry that names it.
    const KEY: &'static str;

    /// The members whose places an entry remembers, because they are asked for in any case.
    const INDEXED_MEMBERS: [&'static str; 2];

    /// Makes an entry of its name, its text and the places of [`ListEntry::INDEXED_MEMBERS`] in it.
    fn new(key: ByteString, raw: Json, spans: MemberSpans) -> Self;

    /// Returns the entry as it came.
    fn raw(&self) -> &Json;

    /// Returns what is against the rules in it.
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
/// assert_eq!(page.next_cursor.as_deref(), Some("2"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage<T> {
    /// The entries that can be used, in order.
    pub items: Vec<T>,
    /// The entries that cannot.
    pub rejected: Vec<RejectedEntry>,
    /// What to ask for the next page with.
    pub next_cursor: Option<String>,
    /// How long the page may be kept.
    pub cache: CacheHints,
    /// `_meta` of the result.
    pub meta: Option<Json>,
    /// What is against the rules in the page itself; the entries have their own.
    pub violations: Vec<ProtocolViolation>,
    /// Whether there were more entries than wanted; those were not read, nor what follows them.
    pub is_truncated: bool,
}

/// An entry that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedEntry {
    /// The entry as it came.
    pub raw: Json,
    /// Why it cannot be used.
    pub why: ProtocolViolation,
}

/// How long a result may be kept, and for whom (2026-07-28).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheHints {
    /// For how long; zero if the server did not say.
    pub ttl: Duration,
    /// For whom.
    pub scope: CacheScope,
}

/// Who may be given a result that was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheScope {
    /// Only those with the same authorization.
    #[default]
    Private,
    /// Everybody.
    Public,
}

impl CacheHints {
    /// Reads the hints of a result; what is not understood counts as "do not keep, do not share".
    pub fn read(result: &Json) -> Self {
        let [ttl, scope] = find(result.as_str(), ["ttlMs", "cacheScope"]);
        Self::from_parts(ttl, scope)
    }

    /// Returns what holds for both of two results.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
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
    /// Reads the result of a list request, whatever it is.
    pub fn read(result: &Json) -> Self {
        Self::read_up_to(result, usize::MAX)
    }

    /// Reads at most so many entries of a result, good and bad ones together.
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

/// What was found in the text of an entry on the way through it.
#[derive(Default)]
struct EntryMembers<'a> {
    name: Option<&'a str>,
    members: [Option<&'a str>; 2],
}

/// Makes an entry of an object in a page; `key` names it if it does not do so itself.
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

/// An empty cursor would ask for the first page again, so it means the end.
fn read_cursor(raw: &Json, violations: &mut Vec<ProtocolViolation>) -> Option<String> {
    if JsonType::of(raw) == JsonType::String {
        return raw.to_text().filter(|text| !text.is_empty());
    }
    violations.push(ProtocolViolation::mismatch("nextCursor", raw, JsonType::String));
    (JsonType::of(raw) == JsonType::Number).then(|| raw.as_str().to_owned())
}

#[cfg(test)]
mod tests;
