//! Pagination: fetches whole lists page by page, with limits against endless lists.
//!
//! A repeated cursor, many empty pages and lists over the limits end the listing; the entries
//! collected so far are returned, and [`ListCut`] says why the list is not complete.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{Peer, RequestOptions};
use crate::Json;
use crate::envelope::code;
use crate::session::{RequestError, SessionViolation};
use crate::view::{CacheHints, ListEntry, ListPage, RejectedEntry, ResultType, send};

/// After so many empty pages in a row the listing stops.
const EMPTY_PAGES: usize = 100;

/// A whole list.
#[derive(Debug, Clone)]
pub struct ListResult<T> {
    /// The entries, in the order of the server.
    pub items: Vec<T>,
    /// The entries that cannot be used, each with the reason.
    pub rejected: Vec<RejectedEntry>,
    /// How long the list may be cached: the strictest hint of its pages.
    pub cache: CacheHints,
    /// Why the list is incomplete, if it is.
    pub cut: Option<ListCut>,
}

/// Why a list is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum ListCut {
    /// It has too many entries.
    #[error("it has more than {0} entries")]
    Entries(usize),
    /// It has too many bytes.
    #[error("it has more than {} MiB", .0 >> 20)]
    Bytes(usize),
    /// It has too many pages.
    #[error("it has more than {0} pages")]
    Pages(usize),
    /// Too many pages in a row are empty.
    #[error("it has too many empty pages in a row")]
    EmptyPages,
    /// A cursor leads back to an earlier page.
    #[error("the server repeats a pagination cursor")]
    Circle,
    /// The server refuses a cursor that it has sent.
    #[error("the server refuses to continue it")]
    Refused,
}

impl Peer {
    /// Fetches all pages of a list.
    ///
    /// If the server refuses a cursor, the listing starts again once; the second time it returns
    /// the pages so far. If the server does not know the method, the list is empty.
    pub(super) async fn list<T: ListEntry>(
        &self,
        method: &str,
        options: &RequestOptions,
    ) -> Result<ListResult<T>, RequestError> {
        let mut collected = ListCollector::new();
        let mut has_restarted = false;
        loop {
            let cut = match self.collect(method, options, &mut collected).await {
                Ok(None) => return Ok(collected.listing),
                Ok(Some(cut)) => cut,
                Err(error)
                    if error.rpc_error().is_some() && collected.pages > 0 && !has_restarted =>
                {
                    has_restarted = true;
                    collected = ListCollector::new();
                    continue;
                }
                Err(error) if error.rpc_error().is_some() && collected.pages > 0 => {
                    ListCut::Refused
                }
                Err(error)
                    if error.rpc_error().is_some_and(|it| it.code == code::METHOD_NOT_FOUND) =>
                {
                    self.warn(format!("{method} does not exist"));
                    return Ok(collected.listing);
                }
                Err(error) => return Err(error),
            };
            // A long list is not a violation.
            if !matches!(cut, ListCut::Entries(_) | ListCut::Bytes(_)) {
                self.warn(format!("{method}: {cut}"));
            }
            collected.listing.cut = Some(cut);
            return Ok(collected.listing);
        }
    }

    /// Fetches pages until the last one, or until a limit is reached.
    async fn collect<T: ListEntry>(
        &self,
        method: &str,
        options: &RequestOptions,
        collected: &mut ListCollector<T>,
    ) -> Result<Option<ListCut>, RequestError> {
        let limits = self.limits();
        let mut cursor: Option<String> = None;
        loop {
            let params = send::page(cursor.as_deref());
            let room = limits.items.saturating_sub(collected.entries());
            let result = self.request(method, Some(&params), options).await?;
            let page = ListPage::<T>::read_up_to(&result, room);
            if !page.violations.is_empty() {
                check(&result)?;
            }
            for violation in &page.violations {
                self.warn(format!("{method}: {violation}"));
            }
            let (next, is_truncated) = (page.next_cursor.clone(), page.is_truncated);
            collected.add(page, result.as_str().len());
            if is_truncated {
                return Ok(Some(ListCut::Entries(limits.items)));
            }
            let Some(next) = next else { return Ok(None) };
            let cut = if !collected.cursors.insert(next.clone()) {
                collected.drop_repeated_page();
                Some(ListCut::Circle)
            } else if collected.pages >= limits.pages {
                Some(ListCut::Pages(limits.pages))
            } else if collected.empty_pages >= EMPTY_PAGES {
                Some(ListCut::EmptyPages)
            } else if collected.entries() >= limits.items {
                Some(ListCut::Entries(limits.items))
            } else if collected.bytes > limits.list {
                Some(ListCut::Bytes(limits.list))
            } else {
                None
            };
            if cut.is_some() {
                return Ok(cut);
            }
            cursor = Some(next);
        }
    }

    fn warn(&self, what: String) {
        self.0.connection.core.violations.add(SessionViolation::Other(what));
    }
}

/// Checks a result with violations: it may not be a page at all.
fn check(result: &Json) -> Result<(), RequestError> {
    let is_list = result.is_object() || result.as_str().starts_with('[');
    if !is_list || ResultType::of(result) != ResultType::Complete {
        return Err(RequestError::InvalidResponse("it is not a page of a list".into()));
    }
    Ok(())
}

struct ListCollector<T> {
    listing: ListResult<T>,
    cursors: HashSet<String>,
    pages: usize,
    empty_pages: usize,
    bytes: usize,
    /// The index of the first entry of the last page.
    last_page: usize,
}

impl<T: ListEntry> ListCollector<T> {
    fn new() -> Self {
        let listing = ListResult {
            items: Vec::new(),
            rejected: Vec::new(),
            cache: CacheHints::default(),
            cut: None,
        };
        Self { listing, cursors: HashSet::new(), pages: 0, empty_pages: 0, bytes: 0, last_page: 0 }
    }

    /// Returns the number of entries, including rejected ones.
    fn entries(&self) -> usize {
        self.listing.items.len() + self.listing.rejected.len()
    }

    fn add(&mut self, page: ListPage<T>, bytes: usize) {
        let ListResult { items, rejected, cache, .. } = &mut self.listing;
        *cache = if self.pages == 0 { page.cache } else { cache.stricter(page.cache) };
        self.empty_pages = if page.items.is_empty() { self.empty_pages + 1 } else { 0 };
        self.pages += 1;
        self.bytes += bytes;
        self.last_page = items.len();
        if items.is_empty() {
            *items = page.items;
        } else {
            items.extend(page.items);
        }
        rejected.extend(page.rejected);
    }

    /// Removes the last page if it repeats earlier entries: a server that ignores cursors sends its
    /// first page again and again.
    fn drop_repeated_page(&mut self) {
        let items = &mut self.listing.items;
        let (earlier, last) = items.split_at(self.last_page);
        let texts: HashSet<&str> = earlier.iter().map(|item| item.raw().as_str()).collect();
        if !last.is_empty() && last.iter().all(|item| texts.contains(item.raw().as_str())) {
            items.truncate(self.last_page);
        }
    }
}
