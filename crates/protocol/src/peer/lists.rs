//! Whole lists, page by page, with guards against servers that never come to an end.
//!
//! A cursor that comes back, pages without entries and lists over the limits end the listing; what
//! was collected by then is kept, and [`ListCut`] says why there is no more.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{Peer, RequestOptions};
use crate::Json;
use crate::envelope::code;
use crate::session::{RequestError, Warning};
use crate::view::{CacheHints, ListEntry, ListPage, RejectedEntry, ResultType, send};

/// Pages in a row without a single entry, until we stop.
const EMPTY_PAGES: usize = 100;

/// A whole list.
#[derive(Debug, Clone)]
pub struct ListResult<T> {
    /// The entries, in the order of the server.
    pub items: Vec<T>,
    /// The entries that cannot be used, each with the reason.
    pub rejected: Vec<RejectedEntry>,
    /// How long the list may be kept: the strictest of its pages.
    pub cache: CacheHints,
    /// Why this is not the whole list, if it is not.
    pub cut: Option<ListCut>,
}

/// Why a list was cut.
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
    /// Page after page is empty.
    #[error("its pages are empty and never come to an end")]
    EmptyPages,
    /// A cursor leads back to a page that was there before.
    #[error("its pages lead back to each other")]
    Circle,
    /// The server refuses the cursor it gave.
    #[error("the server refuses to continue it")]
    Refused,
}

impl Peer {
    /// Fetches all pages of a list.
    ///
    /// A listing that already has pages is not lost to a bad cursor: it is begun anew, once, and
    /// then ends there. A server that does not know the list has nothing in it.
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
            // A long list is no violation.
            if !matches!(cut, ListCut::Entries(_) | ListCut::Bytes(_)) {
                self.warn(format!("{method}: {cut}"));
            }
            collected.listing.cut = Some(cut);
            return Ok(collected.listing);
        }
    }

    /// Fetches pages until the last one, or until there is a reason to stop.
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
        self.0.connection.core.warnings.add(Warning::Other(what));
    }
}

/// Looks again at a page in which something is odd: it may be no page at all.
fn check(result: &Json) -> Result<(), RequestError> {
    let is_list = result.is_object() || result.as_str().starts_with('[');
    if !is_list || ResultType::of(result) != ResultType::Complete {
        return Err(RequestError::InvalidResponse("no page of a list".into()));
    }
    Ok(())
}

struct ListCollector<T> {
    listing: ListResult<T>,
    cursors: HashSet<String>,
    pages: usize,
    empty_pages: usize,
    bytes: usize,
    /// Where the last page begins.
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

    /// Returns how many entries there are, good and bad ones.
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

    /// A server that ignores cursors sends its first page again and again.
    fn drop_repeated_page(&mut self) {
        let items = &mut self.listing.items;
        let (earlier, last) = items.split_at(self.last_page);
        let texts: HashSet<&str> = earlier.iter().map(|item| item.raw().as_str()).collect();
        if !last.is_empty() && last.iter().all(|item| texts.contains(item.raw().as_str())) {
            items.truncate(self.last_page);
        }
    }
}
