//! What observers are told while servers come, go and change.
//!
//! Events say that something happened; how things stand is always in the snapshot, which is
//! published first. Whoever reads too slowly misses events, never states.

use std::sync::{Arc, OnceLock};

use tokio::sync::broadcast;
use tokio_util::sync::{CancellationToken, DropGuard};
use wharf_config::{Problem, ServerName};

use crate::status::{ServerFailure, Status};
use crate::tools::ToolChange;

/// How many events are kept for an observer that is busy.
const EVENT_CAPACITY: usize = 1024;

/// Something that happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A server stands differently.
    Status {
        /// Which one.
        server: ServerName,
        /// How it stands now.
        status: Status,
        /// Why, if it is not well.
        failure: Option<Arc<ServerFailure>>,
    },
    /// A server's tools are others than before.
    ToolsChanged {
        /// Which server.
        server: ServerName,
    },
    /// Tools are not what they were when they were first seen.
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
        /// Its address.
        uri: String,
    },
    /// A server's list of prompts changed.
    PromptsChanged {
        /// Which server.
        server: ServerName,
    },
    /// A server sent a line for the log: foreign text.
    Log {
        /// Which server.
        server: ServerName,
        /// How serious it is.
        level: wharf_protocol::view::LogLevel,
        /// What it says.
        text: String,
    },
    /// Something about a server is not as it should be.
    Problem {
        /// Which server.
        server: ServerName,
        /// What it is.
        problem: Problem,
    },
}

/// Tells whoever is interested. Room for the events is made with the first observer: most programs
/// that make one call and end have none, and it is more than all the rest of such a runtime.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventSender {
    sender: Arc<OnceLock<broadcast::Sender<Event>>>,
    /// Cancelled once no event will follow.
    closed: CancellationToken,
}

impl EventSender {
    pub(crate) fn send(&self, event: Event) {
        if let Some(sender) = self.sender.get() {
            // An error only means that nobody is interested any more.
            drop(sender.send(event));
        }
    }

    /// Tells whether anybody listens, so that what nobody hears need not be made.
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
pub struct Events {
    receiver: broadcast::Receiver<Event>,
    /// Whoever holds a snapshot holds what could send events, so the end is told apart.
    closed: CancellationToken,
}

impl Events {
    /// Waits for the next event; `None` once the runtime was shut down and everything was told.
    ///
    /// May be dropped at any time without losing an event.
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
