//! Events for observers: status changes, changed lists, log messages, problems.
//!
//! The snapshot with the new state is published before its event is sent. A slow observer misses
//! events, but still finds the current state in the snapshot.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::SystemTime;

use futures_core::Stream;
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver};
use tokio_util::sync::{
    CancellationToken, DropGuard, ReusableBoxFuture, WaitForCancellationFutureOwned,
};
use wharf_config::{Problem, ServerName};
use wharf_protocol::view::LogLevel;

use crate::call_record::{CallRecord, as_rfc3339};
use crate::status::{ServerFailure, Status};
use crate::tools::ToolChange;

/// How many events are kept for an observer that is busy.
const EVENT_CAPACITY: usize = 1024;

/// A received event, and the receiver for the next one.
type Received = (Result<Arc<TimedEvent>, RecvError>, Receiver<Arc<TimedEvent>>);

/// Something that happened.
///
/// Serializes as an object; its member `event` names what happened, such as `tools_changed`.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
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
        #[serde(skip_serializing_if = "Option::is_none")]
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
        level: LogLevel,
        /// Its text.
        text: String,
    },
    /// A problem was found.
    Problem {
        /// The server that has it; none for a file or a setting.
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<ServerName>,
        /// The problem.
        problem: Problem,
    },
    /// A server wants the person to sign in, or to sign in again.
    SignInNeeded {
        /// Which server.
        server: ServerName,
    },
    /// The person, or the program itself, signed in to a server.
    SignedIn {
        /// Which server.
        server: ServerName,
        /// The account, if one was named.
        #[serde(skip_serializing_if = "Option::is_none")]
        account: Option<String>,
    },
    /// The token of a server was renewed.
    TokenRenewed {
        /// Which server.
        server: ServerName,
        /// When the new token expires, in seconds since 1970.
        #[serde(skip_serializing_if = "Option::is_none")]
        expires_at: Option<u64>,
    },
    /// A server was removed, because an applied catalog does not have it.
    Removed {
        /// Which one.
        server: ServerName,
    },
    /// A call has ended, successfully or not. One whose future was dropped is cancelled. Like any
    /// event, it can be missed; [`RuntimeBuilder::on_call`](crate::RuntimeBuilder::on_call) gets
    /// every one.
    Called(Arc<CallRecord>),
}

/// An event, and when it happened.
///
/// Serializes as the event with one more member, `time`: RFC 3339 in UTC, to the millisecond.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TimedEvent {
    /// When it happened.
    #[serde(serialize_with = "as_rfc3339")]
    pub time: SystemTime,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// Sends events to all observers. The channel is created with the first observer: a program that
/// makes one call usually has none. The channel initializes its whole buffer, which therefore holds
/// pointers instead of events: 32 KiB instead of 200.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventSender {
    sender: Arc<OnceLock<broadcast::Sender<Arc<TimedEvent>>>>,
    /// Cancelled once no event will follow.
    closed: CancellationToken,
}

impl EventSender {
    pub(crate) fn send(&self, event: Event) {
        if let Some(sender) = self.sender.get() {
            // An error means that there are no observers.
            drop(sender.send(Arc::new(TimedEvent { time: SystemTime::now(), event })));
        }
    }

    /// Tells whether there are observers, so that no event is created without them.
    pub(crate) fn has_observers(&self) -> bool {
        self.sender.get().is_some_and(|sender| sender.receiver_count() > 0)
    }

    /// Returns the events from now on.
    pub(crate) fn subscribe(&self) -> Events {
        let sender = self.sender.get_or_init(|| broadcast::Sender::new(EVENT_CAPACITY));
        let closed = Box::pin(self.closed.clone().cancelled_owned());
        Events { received: ReusableBoxFuture::new(receive(sender.subscribe())), closed }
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
///
/// It is also a [`Stream`], which has the time of each event and tells how many were missed:
///
/// ```
/// use futures_util::StreamExt as _;
/// use wharf::MissedEvents;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = wharf::Runtime::builder().start().await?;
/// let mut events = runtime.events().map(|received| match received {
///     Ok(event) => format!("{event:?}"),
///     Err(MissedEvents(count)) => format!("{count} events were missed"),
/// });
/// runtime.shutdown().await;
/// while let Some(line) = events.next().await {
///     println!("{line}");
/// }
/// # Ok(())
/// # }
/// ```
pub struct Events {
    /// Waits for the next event; it is kept between polls, so no event is lost.
    received: ReusableBoxFuture<'static, Received>,
    /// Ends at shutdown: the channel itself stays open while a snapshot is held.
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
}

/// An observer was too slow: this many events were missed. The events go on with the oldest one
/// that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} events were missed")]
pub struct MissedEvents(pub u64);

async fn receive(mut receiver: Receiver<Arc<TimedEvent>>) -> Received {
    (receiver.recv().await, receiver)
}

impl Events {
    /// Waits for the next event; `None` once the runtime was shut down, or its last clone was
    /// dropped, and all events were returned. Missed events are skipped.
    ///
    /// Dropping the future loses no event. `events.next()` is always this function, also where
    /// `StreamExt` is in scope; the function of the stream, which has the times and tells how many
    /// events were missed, is `StreamExt::next(&mut events)`.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            match poll_fn(|context| self.poll_received(context)).await? {
                Ok(timed) => return Some(timed.event),
                Err(MissedEvents(missed)) => {
                    tracing::debug!(missed, "an observer is too slow for the events");
                }
            }
        }
    }

    fn poll_received(&mut self, cx: &mut Context<'_>) -> Poll<Option<<Self as Stream>::Item>> {
        let Poll::Ready((next, receiver)) = self.received.poll(cx) else {
            ready!(self.closed.as_mut().poll(cx));
            return Poll::Ready(None);
        };
        self.received.set(receive(receiver));
        Poll::Ready(match next {
            Ok(event) => Some(Ok(Arc::unwrap_or_clone(event))),
            Err(RecvError::Lagged(missed)) => Some(Err(MissedEvents(missed))),
            Err(RecvError::Closed) => None,
        })
    }
}

impl Stream for Events {
    type Item = Result<TimedEvent, MissedEvents>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_received(cx)
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, StreamExt as _};

    use super::*;

    fn removed(server: &str) -> Event {
        Event::Removed { server: ServerName::new(server) }
    }

    fn names(received: &[Result<TimedEvent, MissedEvents>]) -> Vec<String> {
        let name = |received: &Result<TimedEvent, MissedEvents>| match received {
            Ok(TimedEvent { event: Event::Removed { server }, .. }) => server.to_string(),
            Ok(_) => "another event".to_owned(),
            Err(missed) => missed.to_string(),
        };
        received.iter().map(name).collect()
    }

    fn check(event: &Event, expected: &str) {
        assert_eq!(serde_json::to_string(event).unwrap(), expected);
    }

    #[test]
    fn an_event_is_an_object_that_says_what_happened() {
        let server = ServerName::new("fs");
        let failure = ServerFailure::new(crate::status::FailureKind::TimedOut, "too slow");
        let status = Event::Status {
            server: server.clone(),
            status: Status::NeedsAuth,
            failure: Some(Arc::new(failure)),
        };
        check(
            &status,
            r#"{"event":"status","server":"fs","status":"needs_auth","failure":{"kind":"timed_out","message":"too slow"}}"#,
        );
        let (level, text) = (LogLevel::Warning, "hot".to_owned());
        check(
            &Event::Log { server: server.clone(), level, text },
            r#"{"event":"log","server":"fs","level":"warning","text":"hot"}"#,
        );
        check(
            &Event::ToolsChanged { server: server.clone() },
            r#"{"event":"tools_changed","server":"fs"}"#,
        );
        let problem = Event::Problem { server: None, problem: Problem::warning("a-code", "odd") };
        check(
            &problem,
            r#"{"event":"problem","problem":{"severity":"warning","code":"a-code","message":"odd"}}"#,
        );
    }

    #[test]
    fn the_time_is_one_more_member_of_an_event() {
        let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(1_772_323_200_007);
        let timed = TimedEvent { time, event: removed("fs") };
        assert_eq!(
            serde_json::to_string(&timed).unwrap(),
            r#"{"time":"2026-03-01T00:00:00.007Z","event":"removed","server":"fs"}"#
        );
    }

    #[tokio::test]
    async fn a_stream_ends_after_the_events_that_were_sent_before_the_end() {
        let sender = EventSender::default();
        let events = sender.subscribe();
        let guard = sender.close_on_drop();
        sender.send(removed("a"));
        sender.send(removed("b"));
        drop(guard);
        let received: Vec<_> = events.collect().await;
        assert_eq!(names(&received), ["a", "b"]);
    }

    #[tokio::test]
    async fn a_stream_says_how_many_events_were_missed() {
        let sender = EventSender::default();
        let events = sender.subscribe();
        let mut skipping = sender.subscribe();
        for number in 0..EVENT_CAPACITY + 2 {
            sender.send(removed(&number.to_string()));
        }
        let received: Vec<_> = events.take(2).collect().await;
        assert_eq!(names(&received), ["2 events were missed", "2"]);
        assert!(
            matches!(skipping.next().await, Some(Event::Removed { server }) if server.as_str() == "2")
        );
    }

    #[tokio::test]
    async fn a_dropped_wait_loses_no_event() {
        let sender = EventSender::default();
        let mut events = sender.subscribe();
        assert!(Events::next(&mut events).now_or_never().is_none());
        sender.send(removed("a"));
        assert!(Events::next(&mut events).await.is_some());
    }
}
