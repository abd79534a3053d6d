//! Requests of the server (elicitation, sampling, roots) that are being answered.
//!
//! A server that waits for a response cannot continue with our requests. So an open request of the
//! server counts as activity, and so does the response to it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::envelope::Id;

/// All open requests of one server.
#[derive(Default)]
pub(super) struct ServerRequests(Mutex<OpenServerRequests>);

#[derive(Default)]
struct OpenServerRequests {
    open: HashMap<Id, CancellationToken>,
    /// When the last request was answered or cancelled.
    latest: Option<Instant>,
}

impl ServerRequests {
    /// Adds a request, unless there are `most` already; the token is cancelled with the request.
    pub(super) fn insert(&self, id: Id, most: usize) -> Option<CancellationToken> {
        let mut table = self.table();
        if table.open.len() >= most {
            return None;
        }
        let token = CancellationToken::new();
        table.open.insert(id, token.clone());
        Some(token)
    }

    /// Removes a request, and returns its token.
    pub(super) fn remove(&self, id: &Id) -> Option<CancellationToken> {
        let mut table = self.table();
        let token = table.open.remove(id)?;
        table.latest = Some(Instant::now());
        Some(token)
    }

    /// Cancels all requests.
    pub(super) fn end(&self) {
        for (_, token) in self.table().open.drain() {
            token.cancel();
        }
    }

    /// Returns when the server last waited for a response: now if a request is open.
    pub(super) fn last_activity(&self) -> Option<Instant> {
        let table = self.table();
        if table.open.is_empty() { table.latest } else { Some(Instant::now()) }
    }

    fn table(&self) -> MutexGuard<'_, OpenServerRequests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_open_server_request_counts_as_activity_until_it_is_answered() {
        let server_requests = ServerRequests::default();
        let (began, id) = (Instant::now(), Id::Number(1));
        let latest = || server_requests.last_activity().map(|latest| (latest - began).as_secs());
        assert_eq!(latest(), None);
        server_requests.insert(id.clone(), 1).unwrap();
        assert!(server_requests.insert(Id::Number(2), 1).is_none());
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(latest(), Some(5));
        server_requests.remove(&id).unwrap();
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(latest(), Some(5));
        assert!(server_requests.remove(&id).is_none());
    }
}
