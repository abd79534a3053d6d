//! The running calls of one connection or session, so that a client can cancel them by id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::Json;
use crate::envelope::Id;

#[derive(Debug, Clone, Default)]
pub(crate) struct RunningCalls(Arc<Mutex<RunningCallsState>>);

#[derive(Debug, Default)]
struct RunningCallsState {
    last: u64,
    /// By the JSON text of the id, which a cancellation also contains.
    calls: HashMap<String, RunningCall>,
}

#[derive(Debug)]
struct RunningCall {
    serial: u64,
    token: CancellationToken,
    lifetime: CallLifetime,
}

/// When a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallLifetime {
    /// When it is answered.
    UntilAnswered,
    /// A subscription: when the client or the server ends it.
    UntilCancelled,
}

impl RunningCalls {
    /// Registers a call until the guard is dropped.
    pub(crate) fn insert(
        &self,
        id: &Id,
        token: CancellationToken,
        lifetime: CallLifetime,
    ) -> RunningCallGuard {
        let id = id.to_string();
        let mut state = self.lock();
        state.last += 1;
        let serial = state.last;
        state.calls.insert(id.clone(), RunningCall { serial, token, lifetime });
        drop(state);
        RunningCallGuard { running: self.clone(), id, serial }
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().calls.len()
    }

    /// Cancels the call in the parameters of `notifications/cancelled`, if it is still running.
    pub(crate) fn cancel(&self, params: Option<&Json>) {
        let Some(id) = params.and_then(|params| params.get("requestId")) else { return };
        let id = id.to_text().map_or_else(
            || id.as_str().to_owned(),
            |text| serde_json::Value::from(text).to_string(),
        );
        if let Some(entry) = self.lock().calls.get(&id) {
            entry.token.cancel();
        }
    }

    /// Cancels the subscriptions, which have no end.
    pub(crate) fn cancel_subscriptions(&self) {
        self.cancel_where(|entry| entry.lifetime == CallLifetime::UntilCancelled);
    }

    pub(crate) fn cancel_all(&self) {
        self.cancel_where(|_| true);
    }

    fn cancel_where(&self, is_selected: impl Fn(&RunningCall) -> bool) {
        self.lock()
            .calls
            .values()
            .filter(|entry| is_selected(entry))
            .for_each(|it| it.token.cancel());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, RunningCallsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a call registered; removes it when dropped.
#[derive(Debug)]
pub(crate) struct RunningCallGuard {
    running: RunningCalls,
    id: String,
    serial: u64,
}

impl Drop for RunningCallGuard {
    fn drop(&mut self) {
        let mut state = self.running.lock();
        // A client may use an id twice; then the entry belongs to the newer call.
        if state.calls.get(&self.id).is_some_and(|entry| entry.serial == self.serial) {
            state.calls.remove(&self.id);
        }
    }
}
