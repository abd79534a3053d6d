//! What is the same for all requests to one server: the revision, and the legacy session.

use std::sync::{Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::sync::Notify;

use crate::Json;
use crate::era::{Era, Revision};

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The state that requests share.
#[derive(Default)]
pub(super) struct StreamableSession {
    state: Mutex<SessionState>,
    /// Wakes those who wait for another session.
    started: Notify,
}

#[derive(Default, Clone)]
struct SessionState {
    revision: Option<Revision>,
    id: Option<HeaderValue>,
    /// The parameters of the `initialize` that began the session, for the next one.
    initialize_params: Option<Json>,
    generation: u64,
}

/// The session as one request saw it.
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

    /// Fixes the revision that both sides use.
    pub(super) fn set_revision(&self, revision: Revision) {
        self.state().revision = Some(revision);
    }

    /// Notes that `initialize` went well.
    pub(super) fn start(&self, initialize_params: Option<&Json>, headers: &HeaderMap) {
        let mut state = self.state();
        state.id = headers.get(SESSION_ID).cloned();
        state.initialize_params = initialize_params.map(Json::detached);
        state.generation += 1;
        drop(state);
        self.started.notify_waiters();
    }

    /// Waits until another session than this one has begun.
    pub(super) async fn wait_until_replaced(&self, generation: u64) {
        loop {
            let started = self.started.notified();
            if self.snapshot().generation != generation {
                return;
            }
            started.await;
        }
    }

    /// Takes over a session id that a server changes while it is used.
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
    /// Adds the headers that every request of this session has.
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
