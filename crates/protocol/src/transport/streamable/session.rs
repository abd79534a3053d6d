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
pub(super) struct Session {
    state: Mutex<State>,
    /// Wakes those who wait for another session.
    begun: Notify,
}

#[derive(Default, Clone)]
struct State {
    revision: Option<Revision>,
    id: Option<HeaderValue>,
    /// The parameters of the `initialize` that began the session, for the next one.
    introduction: Option<Json>,
    generation: u64,
}

/// The session as one request saw it.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) revision: Option<Revision>,
    pub(super) id: Option<HeaderValue>,
    pub(super) generation: u64,
}

impl Session {
    pub(super) fn seen(&self) -> Seen {
        let state = self.state();
        Seen { revision: state.revision, id: state.id.clone(), generation: state.generation }
    }

    /// Fixes the revision that both sides use.
    pub(super) fn settle(&self, revision: Revision) {
        self.state().revision = Some(revision);
    }

    /// Notes that `initialize` went well.
    pub(super) fn begin(&self, introduction: Option<&Json>, headers: &HeaderMap) {
        let mut state = self.state();
        state.id = headers.get(SESSION_ID).cloned();
        state.introduction = introduction.map(Json::detached);
        state.generation += 1;
        drop(state);
        self.begun.notify_waiters();
    }

    /// Waits until another session than this one has begun.
    pub(super) async fn replaced(&self, generation: u64) {
        loop {
            let begun = self.begun.notified();
            if self.seen().generation != generation {
                return;
            }
            begun.await;
        }
    }

    /// Takes over a session id that a server changes while it is used.
    pub(super) fn follow(&self, headers: &HeaderMap) {
        let Some(id) = headers.get(SESSION_ID) else { return };
        let mut state = self.state();
        if state.revision.map(Revision::era) == Some(Era::Legacy) && state.id.as_ref() != Some(id) {
            state.id = Some(id.clone());
        }
    }

    pub(super) fn introduction(&self) -> Option<Json> {
        self.state().introduction.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
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
