//! Pending requests of the server to its client, such as elicitation; legacy era only.
//!
//! A request that is dropped is cancelled with a notification, so that the client can close its
//! dialog.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::message_sink::MessageSink;
use crate::Json;
use crate::envelope::{self, Response, RpcError};
use crate::view::send;

type ResponseOutcome = Result<Json, RpcError>;

/// The pending requests of one session.
#[derive(Debug, Default)]
pub(crate) struct ClientRequests(Mutex<ClientRequestsState>);

#[derive(Debug, Default)]
struct ClientRequestsState {
    last: u64,
    open: HashMap<u64, oneshot::Sender<ResponseOutcome>>,
    is_closed: bool,
}

impl ClientRequests {
    /// Registers a request; `None` if the client can no longer respond.
    pub(crate) fn open(self: &Arc<Self>, sink: MessageSink) -> Option<RequestToClient> {
        let (sender, answer) = oneshot::channel();
        let mut state = self.lock();
        if state.is_closed {
            return None;
        }
        state.last += 1;
        let id = state.last;
        state.open.insert(id, sender);
        drop(state);
        Some(RequestToClient { id, answer, sink, client_requests: Arc::clone(self) })
    }

    /// Delivers a response to its request; a response without a request is dropped.
    pub(crate) fn resolve(&self, response: Response) {
        let Some(id) = response.id.as_ref().and_then(envelope::Id::as_sent_number) else { return };
        if let Some(waiting) = self.lock().open.remove(&id) {
            // The receiver may have been dropped at the same time.
            drop(waiting.send(response.outcome));
        }
    }

    /// Ends all requests: the client can no longer respond.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.open.clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ClientRequestsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One pending request; dropping it cancels it.
#[derive(Debug)]
pub(crate) struct RequestToClient {
    pub(crate) id: u64,
    pub(crate) answer: oneshot::Receiver<ResponseOutcome>,
    sink: MessageSink,
    client_requests: Arc<ClientRequests>,
}

impl Drop for RequestToClient {
    fn drop(&mut self) {
        if self.client_requests.lock().open.remove(&self.id).is_some() {
            let params = send::cancelled(self.id, None);
            self.sink.send_lossy(envelope::notification("notifications/cancelled", Some(&params)));
        }
    }
}
