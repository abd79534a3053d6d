//! Requests of a server to its client that wait for an answer; only the older era has them.
//!
//! Whoever stops waiting tells the client so, because an open dialog that nobody wants is a
//! nuisance.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::message_sink::MessageSink;
use crate::Json;
use crate::envelope::{self, Response, RpcError};

type ResponseOutcome = Result<Json, RpcError>;

/// The open requests of one session.
#[derive(Debug, Default)]
pub(crate) struct ClientRequests(Mutex<ClientRequestsState>);

#[derive(Debug, Default)]
struct ClientRequestsState {
    last: u64,
    open: HashMap<u64, oneshot::Sender<ResponseOutcome>>,
    is_closed: bool,
}

impl ClientRequests {
    /// Opens a request; `None` if no answer can come any more.
    pub(crate) fn open(self: &Arc<Self>, sink: MessageSink) -> Option<ClientRequest> {
        let (sender, answer) = oneshot::channel();
        let mut state = self.lock();
        if state.is_closed {
            return None;
        }
        state.last += 1;
        let id = state.last;
        state.open.insert(id, sender);
        drop(state);
        Some(ClientRequest { id, answer, sink, client_requests: Arc::clone(self) })
    }

    /// Hands an answer to whoever waits for it; one that nobody waits for is forgotten.
    pub(crate) fn resolve(&self, response: Response) {
        let Some(id) = response.id.as_ref().and_then(envelope::Id::as_sent_number) else { return };
        if let Some(waiting) = self.lock().open.remove(&id) {
            // Whoever asked may have gone in this very moment.
            drop(waiting.send(response.outcome));
        }
    }

    /// Ends all waiting: there is nobody left who could answer.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.open.clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ClientRequestsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One open request; dropping it withdraws it.
#[derive(Debug)]
pub(crate) struct ClientRequest {
    pub(crate) id: u64,
    pub(crate) answer: oneshot::Receiver<ResponseOutcome>,
    sink: MessageSink,
    client_requests: Arc<ClientRequests>,
}

impl Drop for ClientRequest {
    fn drop(&mut self) {
        if self.client_requests.lock().open.remove(&self.id).is_some() {
            let params = Json::trusted(format!(r#"{{"requestId":{}}}"#, self.id));
            self.sink.send_lossy(envelope::notification("notifications/cancelled", Some(&params)));
        }
    }
}
