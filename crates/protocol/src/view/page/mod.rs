//! One page of a list, taken apart entry by entry.
//!
//! An entry that cannot be used is set aside with the reason, and all others work. An ordinary page
//! is gone through once (`pieces`), an odd one more often (`odd`); entries share the page's buffer,
//! so a list takes little more memory than its text.

mod odd;
mod parts;
mod pieces;

use std::borrow::Cow;
use std::time::Duration;

use bytestring::ByteString;

pub use parts::Parts;

use self::pieces::Pieces;
use super::fields::whole_of;
use super::odd::{Deviation, Kind, Oddity};
use crate::Json;
use crate::scan::{self, find, text_of};

/// An entry of a list that a server offers.
pub trait Entry: Sized {
    /// The member of the result that holds the list.
    const LIST: &'static str;

    /// The member of an entry that names it.
    const KEY: &'static str;

    /// The members whose places an entry remembers, because they are asked for in any case.
    const PARTS: [&'static str; 2];

    /// Makes an entry of its name, its text and the places of [`Entry::PARTS`] in it.
    fn new(key: ByteString, raw: Json, parts: Parts) -> Self;

    /// Returns the entry as it came.
    fn raw(&self) -> &Json;

    /// Returns what is against the rules in it.
    fn oddities(&self) -> Vec<Oddity>;

    /// Reads a single entry.
    fn read(raw: Json) -> Result<Self, Rejected> {
        odd::read_entry(raw, None)
    }
}

/// One page of a list.
///
/// ```
/// use wharf_protocol::view::{Page, Tool};
///
/// let result = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{}],"nextCursor":"2"}"#;
/// let page: Page<Tool> = Page::read(&result.parse()?);
/// assert_eq!(page.items[0].name(), "echo");
/// assert_eq!(page.rejected[0].why.to_string(), "name is missing");
/// assert_eq!(page.next_cursor.as_deref(), Some("2"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries that can be used, in order.
    pub items: Vec<T>,
    /// The entries that cannot.
    pub rejected: Vec<Rejected>,
    /// What to ask for the next page with.
    pub next_cursor: Option<String>,
    /// How long the page may be kept.
    pub cache: CacheHints,
    /// `_meta` of the result.
    pub meta: Option<Json>,
    /// What is against the rules in the page itself; the entries have their own.
    pub oddities: Vec<Oddity>,
    /// Whether there were more entries than wanted; those were not read, nor what follows them.
    pub is_cut: bool,
}

/// An entry that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The entry as it came.
    pub raw: Json,
    /// Why it cannot be used.
    pub why: Oddity,
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
        let millis = ttl.and_then(whole_of).unwrap_or_default();
        let is_public = scope.is_some_and(|raw| scan::is_key(raw, "public"));
        let scope = if is_public { CacheScope::Public } else { CacheScope::Private };
        Self { ttl: Duration::from_millis(millis), scope }
    }
}

impl<T: Entry> Page<T> {
    /// Reads the result of a list request, whatever it is.
    pub fn read(result: &Json) -> Self {
        Self::read_some(result, usize::MAX)
    }

    /// Reads at most so many entries of a result, good and bad ones together.
    pub(crate) fn read_some(result: &Json, most: usize) -> Self {
        let mut oddities = Vec::new();
        let pieces =
            pieces::read(result, most).unwrap_or_else(|| odd::read(result, most, &mut oddities));
        Self::of(result, pieces, oddities)
    }

    fn of(result: &Json, pieces: Pieces<'_, T>, mut oddities: Vec<Oddity>) -> Self {
        let part = |raw: Option<&str>| raw.map(|raw| result.part_at(raw));
        Self {
            items: pieces.items,
            rejected: pieces.rejected,
            next_cursor: part(pieces.cursor).and_then(|raw| cursor_of(&raw, &mut oddities)),
            cache: CacheHints::from_parts(pieces.ttl, pieces.scope),
            meta: part(pieces.meta).filter(Json::is_object),
            is_cut: pieces.is_cut,
            oddities,
        }
    }
}

/// What was found in the text of an entry on the way through it.
#[derive(Default)]
struct Found<'a> {
    name: Option<&'a str>,
    parts: [Option<&'a str>; 2],
}

/// Makes an entry of an object in a page; `key` names it if it does not do so itself.
fn named<T: Entry>(
    page: &Json,
    entry: &str,
    found: &Found<'_>,
    key: Option<&ByteString>,
) -> Result<T, Rejected> {
    let raw = page.part_at(entry);
    let why = match (found.name, key) {
        (None, Some(key)) if !key.is_empty() => {
            return Ok(T::new(key.clone(), raw, Parts::of(entry, found.parts)));
        }
        (None, _) => Oddity::new(T::KEY, Deviation::Missing),
        (Some(name), _) => match text_of(name) {
            Some(Cow::Borrowed("")) => Oddity::new(T::KEY, Deviation::Empty),
            Some(text) => {
                let name = match text {
                    Cow::Borrowed(plain) => page.plain_at(plain),
                    Cow::Owned(unescaped) => unescaped.into(),
                };
                return Ok(T::new(name, raw, Parts::of(entry, found.parts)));
            }
            None => Oddity::mismatch(T::KEY, &page.part_at(name), Kind::String),
        },
    };
    Err(Rejected { raw, why })
}

/// An empty cursor would ask for the first page again, so it means the end.
fn cursor_of(raw: &Json, oddities: &mut Vec<Oddity>) -> Option<String> {
    if Kind::of(raw) == Kind::String {
        return raw.to_text().filter(|text| !text.is_empty());
    }
    oddities.push(Oddity::mismatch("nextCursor", raw, Kind::String));
    (Kind::of(raw) == Kind::Number).then(|| raw.as_str().to_owned())
}

#[cfg(test)]
mod tests;
