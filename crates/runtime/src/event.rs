//! Events for observers: status changes, changed lists, log messages, problems.
//!
//! The snapshot with the new state is published before its event is sent. A slow observer misses
//! events, but still finds the current state in the snapshot.

use std::sync::{Arc, OnceLock};

use tokio::sync::broadcast;
use tokio_util::sync::{CancellationToken, DropGuard};
use wharf_config::{Problem, ServerName};

use crate::call::{CallDetails, CallErrorReason, Outcome};
use crate::call_context::CallContext;
use crate::status::{ServerFailure, Status};
use crate::tools::ToolChange;

/// How many events are kept for an observer that is busy.
const EVENT_CAPACITY: usize = 1024;

/// Something that happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// The status of a server changed.
    Status {
        /// Which one.
        server: ServerName,
        /// Its status now.
        status: Status,
        /// Why it is not connected, if it is not; while it is connecting, the failure of the last
        /// attempt.
        failure: Option<Arc<ServerFailure>>,
    },
    /// The tools of a server changed, also when they are listed for the first time. A server that
    /// is reconnected with the same tools sends none.
    ToolsChanged {
        /// Which server.
        server: ServerName,
    },
    /// Tools differ from their pins.
    ToolsDiffer {
        /// Which server.
        server: ServerName,
        /// What changed.
        changes: Arc<[ToolChange]>,
    },
    /// A server's list of resources changed.
    ResourcesChanged {
        /// Which server.
        server: ServerName,
    },
    /// One resource changed.
    ResourceUpdated {
        /// Which server.
        server: ServerName,
        /// Its URI.
        uri: String,
    },
    /// A server's list of prompts changed.
    PromptsChanged {
        /// Which server.
        server: ServerName,
    },
    /// A server sent a log message: untrusted text.
    Log {
        /// Which server.
        server: ServerName,
        /// Its level.
        level: wharf_protocol::view::LogLevel,
        /// Its text.
        text: String,
    },
    /// A problem was found.
    Problem {
        /// The server that has it; none for a file or a setting.
        server: Option<ServerName>,
        /// The problem.
        problem: Problem,
    },
    /// A server was removed, because an applied catalog does not have it.
    Removed {
        /// Which one.
        server: ServerName,
    },
    /// A call has ended, successfully or not.
    Called(Arc<CallRecord>),
}

/// Who called which tool, and how the call ended: for an audit log. It has neither arguments nor
/// results.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CallRecord {
    /// The server, the tool and the duration.
    pub details: CallDetails,
    /// Who called, if the host has said so.
    pub context: Option<CallContext>,
    /// Whether the tool or the call failed.
    pub is_error: bool,
    /// Why there is no result; `None` also if the tool ran and reported an error of its own.
    pub reason: Option<CallErrorReason>,
    /// Whether it is known if the tool ran.
    pub outcome_known: bool,
}

impl CallRecord {
    pub(crate) fn new(outcome: &Outcome, context: Option<&CallContext>) -> Self {
        Self {
            details: outcome.details.clone(),
            context: context.cloned(),
            is_error: outcome.is_error,
            reason: outcome.error.as_ref().map(|error| error.reason),
            outcome_known: outcome.error.as_ref().is_none_or(|error| error.outcome_known),
        }
    }
}

/// Sends events to all observers. The channel is created with the first observer: a program that
/// makes one call usually has none, and the buffer is larger than the rest of such a runtime.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventSender {
    sender: Arc<OnceLock<broadcast::Sender<Event>>>,
    /// Cancelled once no event will follow.
    closed: CancellationToken,
}

impl EventSender {
    pub(crate) fn send(&self, event: Event) {
        if let Some(sender) = self.sender.get() {
            // An error means that there are no observers.
            drop(sender.send(event));
        }
    }

    /// Tells whether there are observers, so that no event is created without them.
    pub(crate) fn has_observers(&self) -> bool {
        self.sender.get().is_some_and(|sender| sender.receiver_count() > 0)
    }

    /// Returns the events from now on.
    pub(crate) fn subscribe(&self) -> Events {
        let sender = self.sender.get_or_init(|| broadcast::Sender::new(EVENT_CAPACITY));
        Events { receiver: sender.subscribe(), closed: self.closed.clone() }
    }

    /// Ends the events of every observer when the guard is dropped.
    pub(crate) fn close_on_drop(&self) -> DropGuard {
        self.closed.clone().drop_guard()
    }
}

/// Receives events from the moment it was made.
///
/// An event is sent after the snapshot that shows it is published. So subscribe first, then read
/// [`Runtime::snapshot`](crate::Runtime::snapshot): what happened before is there, and what follows
/// is an event. An observer that is 1024 events behind misses the oldest ones; the snapshot always
/// has the current state.
pub struct Events {
    receiver: broadcast::Receiver<Event>,
    /// Cancelled at shutdown: the channel itself stays open while a snapshot is held.
    closed: CancellationToken,
}

impl Events {
    /// Waits for the next event; `None` once the runtime was shut down, or its last clone was
    /// dropped, and all events were returned.
    ///
    /// Dropping the future loses no event.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            let received = tokio::select! {
                biased;
                received = self.receiver.recv() => received,
                () = self.closed.cancelled() => return None,
            };
            match received {
                Ok(event) => return Some(event),
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    tracing::debug!(missed, "an observer is too slow for the events");
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}
