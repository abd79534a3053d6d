//! Pages that a server wants to be visited before it runs a call.
//!
//! Such a server refuses the call and names the pages. The person is asked about each of them; once
//! the server says that they were visited, the call can be made again: it has not run.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::Notify;
use tokio::time::Instant;
use wharf_config::ServerName;
use wharf_protocol::envelope::code;
use wharf_protocol::era::Revision;
use wharf_protocol::peer::{Peer, RequestError};
use wharf_protocol::view::send::ElicitationAnswer;
use wharf_protocol::view::{Elicitation, ElicitationMode, UrlElicitationRequired};

use crate::client_features::ClientFeatures;

/// How many pages a call may need: nobody visits more of them for one call.
const MAX_URLS: usize = 8;

/// How long a server has to say that a page was visited. Not every server does; afterwards the call
/// itself shows how things stand.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(120);

/// How many visits are remembered of a server, and how long the name of a page may be.
const MAX_COMPLETIONS: usize = 32;
const MAX_ID_LENGTH: usize = 256;

/// What servers say about pages that were visited.
#[derive(Debug, Default)]
pub(crate) struct CompletedUrls {
    done: Mutex<HashMap<ServerName, VecDeque<(Instant, String)>>>,
    noticed: Notify,
}

/// A call that was refused.
#[derive(Clone, Copy)]
pub(crate) struct UrlRefusal<'a> {
    pub(crate) error: &'a RequestError,
    pub(crate) server: &'a ServerName,
    pub(crate) peer: &'a Peer,
    /// When the call was sent: earlier visits were of no use to it.
    pub(crate) sent: Instant,
}

impl CompletedUrls {
    /// Takes note that a server says that a page was visited.
    pub(crate) fn add(&self, server: &ServerName, page: String) {
        if page.len() > MAX_ID_LENGTH {
            return;
        }
        let mut done = self.done();
        let pages = done.entry(server.clone()).or_default();
        pages.push_back((Instant::now(), page));
        if pages.len() > MAX_COMPLETIONS {
            pages.pop_front();
        }
        drop(done);
        self.noticed.notify_waiters();
    }

    /// Waits until a server has said so of each of these pages since some time.
    async fn wait_for(&self, server: &ServerName, pages: &[String], since: Instant) {
        loop {
            // Made before looking, so that nothing is missed in between.
            let noticed = self.noticed.notified();
            if self.has_all(server, pages, since) {
                return;
            }
            noticed.await;
        }
    }

    fn has_all(&self, server: &ServerName, pages: &[String], since: Instant) -> bool {
        let done = self.done();
        // Others may wait for the same visit, so it stays.
        let is_done = |page: &String| {
            let mut visits = done.get(server).into_iter().flatten();
            visits.any(|(at, visited)| *at >= since && visited == page)
        };
        pages.iter().all(is_done)
    }

    fn done(&self) -> MutexGuard<'_, HashMap<ServerName, VecDeque<(Instant, String)>>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the pages visited that a refusal is about; tells whether the call may be made again. If the
/// session ends, so does the question.
pub(crate) async fn open_all(
    refusal: UrlRefusal<'_>,
    client_features: &ClientFeatures,
    completed: &CompletedUrls,
) -> bool {
    tokio::select! {
        biased;
        is_done = ask_for_each(refusal, client_features, completed) => is_done,
        _ = refusal.peer.ended() => false,
    }
}

async fn ask_for_each(
    refusal: UrlRefusal<'_>,
    client_features: &ClientFeatures,
    completed: &CompletedUrls,
) -> bool {
    let UrlRefusal { server, sent, .. } = refusal;
    let pages = urls_of(refusal);
    let elicitor = client_features.elicitor.as_ref().filter(|elicitor| elicitor.support().url);
    let Some(elicitor) = elicitor.filter(|_| (1..=MAX_URLS).contains(&pages.len())) else {
        return false;
    };
    let mut names = Vec::new();
    for page in pages {
        let ElicitationMode::Url { id, .. } = page.mode() else { return false };
        names.extend(id.map(|id| id.to_string()));
        // A host that panics over a question has not answered it; that is no reason to fall with
        // it.
        let asking = AssertUnwindSafe(async { elicitor.elicit(server.clone(), page).await });
        if !matches!(asking.catch_unwind().await, Ok(ElicitationAnswer::Accept(_))) {
            return false;
        }
    }
    if tokio::time::timeout(COMPLETION_TIMEOUT, completed.wait_for(server, &names, sent))
        .await
        .is_err()
    {
        tracing::debug!(%server, "nobody said that a page was visited");
    }
    true
}

/// Returns the pages that a refusal is about. Only one revision knows such refusals; in the words
/// of another it would not be certain that the call did not run.
fn urls_of(refusal: UrlRefusal<'_>) -> Vec<Elicitation> {
    let error = refusal.error.refusal().filter(|it| it.code == code::URL_ELICITATION_REQUIRED);
    let error = error.filter(|_| refusal.peer.revision() == Revision::V2025_11_25);
    let data = error.and_then(|error| error.data.clone());
    data.map(|data| UrlElicitationRequired::read(data).elicitations()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_completion_counts_for_its_server_and_all_waiting_calls() {
        let completed = CompletedUrls::default();
        let (fs, other) = (ServerName::new("fs"), ServerName::new("other"));
        let pages = ["1", "2", "2"].map(str::to_owned);
        completed.add(&fs, "2".to_owned());
        tokio::time::advance(Duration::from_secs(1)).await;
        let since = Instant::now();
        completed.add(&fs, "1".to_owned());
        completed.add(&other, "2".to_owned());
        let all = async || completed.wait_for(&fs, &pages, since).await;
        let (mut one, mut two) = (std::pin::pin!(all()), std::pin::pin!(all()));
        assert!(tokio::time::timeout(COMPLETION_TIMEOUT, &mut one).await.is_err());
        assert!(tokio::time::timeout(COMPLETION_TIMEOUT, &mut two).await.is_err());
        completed.add(&fs, "2".to_owned());
        tokio::join!(one, two);
    }

    #[tokio::test]
    async fn the_latest_completions_of_each_server_are_kept() {
        let completed = CompletedUrls::default();
        let (fs, other) = (ServerName::new("fs"), ServerName::new("other"));
        completed.add(&other, "1".to_owned());
        for page in 0..=MAX_COMPLETIONS {
            completed.add(&fs, page.to_string());
        }
        completed.add(&fs, "x".repeat(MAX_ID_LENGTH + 1));
        let pages = |server: &ServerName| -> Vec<String> {
            completed.done()[server].iter().map(|(_, page)| page.clone()).collect()
        };
        assert_eq!(pages(&other), ["1"]);
        assert_eq!((pages(&fs).len(), &*pages(&fs)[0]), (MAX_COMPLETIONS, "1"));
    }
}
