//! Handles the error `URL_ELICITATION_REQUIRED`: the server rejects a call until URLs were visited.
//!
//! The person is asked about each URL. When the server reports their completion, the call can be
//! sent again, because it has not run.

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

use crate::call_context::CallContext;
use crate::client_features::{ClientFeatures, ElicitationRequest, elicitation_support};

/// The maximum number of URLs that a call may require.
const MAX_URLS: usize = 8;

/// How long to wait for `notifications/elicitation/complete`. Not every server sends it, so the
/// call is sent again after this time in any case.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(120);

/// The maximum number of completions kept per server, and the maximum length of an elicitation id.
const MAX_COMPLETIONS: usize = 32;
const MAX_ID_LENGTH: usize = 256;

/// The URL elicitations that servers have reported as complete.
#[derive(Debug, Default)]
pub(crate) struct CompletedUrls {
    done: Mutex<HashMap<ServerName, VecDeque<(Instant, String)>>>,
    noticed: Notify,
}

/// A call that was rejected because URLs must be visited first.
#[derive(Clone, Copy)]
pub(crate) struct RequiredUrls<'a> {
    pub(crate) error: &'a RequestError,
    pub(crate) server: &'a ServerName,
    pub(crate) peer: &'a Peer,
    /// When the call was sent: earlier completions do not count.
    pub(crate) sent: Instant,
    /// Who made the call.
    pub(crate) context: Option<&'a CallContext>,
}

impl CompletedUrls {
    /// Records that a server reports an elicitation as complete.
    pub(crate) fn add(&self, server: &ServerName, elicitation_id: String) {
        if elicitation_id.len() > MAX_ID_LENGTH {
            return;
        }
        let mut done = self.done();
        let elicitation_ids = done.entry(server.clone()).or_default();
        elicitation_ids.push_back((Instant::now(), elicitation_id));
        if elicitation_ids.len() > MAX_COMPLETIONS {
            elicitation_ids.pop_front();
        }
        drop(done);
        self.noticed.notify_waiters();
    }

    /// Waits until a server has reported all these elicitations as complete since a given time.
    async fn wait_for(&self, server: &ServerName, elicitation_ids: &[String], since: Instant) {
        loop {
            // Created before the check, so that no notification is missed in between.
            let noticed = self.noticed.notified();
            if self.has_all(server, elicitation_ids, since) {
                return;
            }
            noticed.await;
        }
    }

    fn has_all(&self, server: &ServerName, elicitation_ids: &[String], since: Instant) -> bool {
        let done = self.done();
        // Other calls may wait for the same completion, so it is not removed.
        let is_done = |id: &String| {
            let mut completions = done.get(server).into_iter().flatten();
            completions.any(|(at, completed)| *at >= since && completed == id)
        };
        elicitation_ids.iter().all(is_done)
    }

    fn done(&self) -> MutexGuard<'_, HashMap<ServerName, VecDeque<(Instant, String)>>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the person to visit the required URLs; tells whether the call may be sent again. Stops
/// when the session ends.
pub(crate) async fn elicit_all(
    required: RequiredUrls<'_>,
    client_features: &ClientFeatures,
    completed: &CompletedUrls,
) -> bool {
    tokio::select! {
        biased;
        is_done = ask_for_each(required, client_features, completed) => is_done,
        _ = required.peer.ended() => false,
    }
}

async fn ask_for_each(
    required: RequiredUrls<'_>,
    client_features: &ClientFeatures,
    completed: &CompletedUrls,
) -> bool {
    let RequiredUrls { server, sent, context, .. } = required;
    let urls = urls_of(required);
    let elicitor = client_features.elicitor.as_ref();
    let elicitor = elicitor.filter(|elicitor| elicitation_support(&***elicitor).url);
    let Some(elicitor) = elicitor.filter(|_| (1..=MAX_URLS).contains(&urls.len())) else {
        return false;
    };
    let mut elicitation_ids = Vec::new();
    for url in urls {
        let ElicitationMode::Url { id, .. } = url.mode() else { return false };
        elicitation_ids.extend(id.map(|id| id.to_string()));
        // A host that panics has not answered; only this elicitation fails.
        let mut request = ElicitationRequest::new(server.clone(), url);
        request.context = context.cloned();
        let answer = AssertUnwindSafe(async { elicitor.elicit(request).await });
        if !matches!(answer.catch_unwind().await, Ok(ElicitationAnswer::Accept(_))) {
            return false;
        }
    }
    let completion = completed.wait_for(server, &elicitation_ids, sent);
    if tokio::time::timeout(COMPLETION_TIMEOUT, completion).await.is_err() {
        tracing::debug!(%server, "the server did not report that a URL was visited");
    }
    true
}

/// Returns the required URLs. Only one revision defines this error; with another revision it would
/// not prove that the call did not run.
fn urls_of(required: RequiredUrls<'_>) -> Vec<Elicitation> {
    let error =
        required.error.error_response().filter(|it| it.code == code::URL_ELICITATION_REQUIRED);
    let error = error.filter(|_| required.peer.revision() == Revision::V2025_11_25);
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
        let ids = ["1", "2", "2"].map(str::to_owned);
        completed.add(&fs, "2".to_owned());
        tokio::time::advance(Duration::from_secs(1)).await;
        let since = Instant::now();
        completed.add(&fs, "1".to_owned());
        completed.add(&other, "2".to_owned());
        let all = async || completed.wait_for(&fs, &ids, since).await;
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
        for id in 0..=MAX_COMPLETIONS {
            completed.add(&fs, id.to_string());
        }
        completed.add(&fs, "x".repeat(MAX_ID_LENGTH + 1));
        let ids = |server: &ServerName| -> Vec<String> {
            completed.done()[server].iter().map(|(_, id)| id.clone()).collect()
        };
        assert_eq!(ids(&other), ["1"]);
        assert_eq!((ids(&fs).len(), &*ids(&fs)[0]), (MAX_COMPLETIONS, "1"));
    }
}
