//! The state that all requests to one server share: the revision and the legacy session.
//!
//! Session expiry: a 404 ends the legacy session, and one caller opens a new one for all.

use std::sync::{Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::sync::Notify;

use crate::Json;
use crate::era::{Era, Revision};

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The shared state.
#[derive(Default)]
pub(super) struct StreamableSession {
    state: Mutex<SessionState>,
    /// Notified when a new session has started.
    started: Notify,
}

#[derive(Default, Clone)]
struct SessionState {
    revision: Option<Revision>,
    id: Option<HeaderValue>,
    /// The parameters of `initialize`, for renewing the session.
    initialize_params: Option<Json>,
    generation: u64,
}

/// A copy of the state, for one request.
#[derive(Clone)]
pub(super) struct SessionSnapshot {
    pub(super) revision: Option<Revision>,
    pub(super) id: Option<HeaderValue>,
    pub(super) generation: u64,
}

impl StreamableSession {
    pub(super) fn snapshot(&self) -> SessionSnapshot {
        let state = self.state();
        SessionSnapshot {
            revision: state.revision,
            id: state.id.clone(),
            generation: state.generation,
        }
    }

    /// Sets the revision that both sides use.
    pub(super) fn set_revision(&self, revision: Revision) {
        self.state().revision = Some(revision);
    }

    /// Starts a session after `initialize` has succeeded.
    pub(super) fn start(&self, initialize_params: Option<&Json>, headers: &HeaderMap) {
        let mut state = self.state();
        state.id = headers.get(SESSION_ID).cloned();
        state.initialize_params = initialize_params.map(Json::detached);
        state.generation += 1;
        drop(state);
        self.started.notify_waiters();
    }

    /// Waits until a session newer than this generation has started.
    pub(super) async fn wait_until_replaced(&self, generation: u64) {
        loop {
            let started = self.started.notified();
            if self.snapshot().generation != generation {
                return;
            }
            started.await;
        }
    }

    /// Takes over a session id that the server has changed during the session.
    pub(super) fn update_id(&self, headers: &HeaderMap) {
        let Some(id) = headers.get(SESSION_ID) else { return };
        let mut state = self.state();
        if state.revision.map(Revision::era) == Some(Era::Legacy) && state.id.as_ref() != Some(id) {
            state.id = Some(id.clone());
        }
    }

    pub(super) fn initialize_params(&self) -> Option<Json> {
        self.state().initialize_params.clone()
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionSnapshot {
    /// Adds the headers of every request in this session.
    pub(super) fn add_to(&self, headers: &mut HeaderMap) {
        if let Some(revision) = self.revision {
            headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(revision.as_str()));
        }
        if let Some(id) = &self.id {
            headers.insert(SESSION_ID, id.clone());
        }
    }

    pub(super) fn is_modern(&self) -> bool {
        self.revision.map(Revision::era) == Some(Era::Modern)
    }
}
