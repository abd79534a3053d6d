//! Requests of a server: which of our requests caused them, and what happens when the session ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio_util::task::TaskTracker;

use crate::Json;
use crate::envelope::{Notification, Received, read};
use crate::session::{
    Arrival, ClientHandler, EndReason, HandlerFuture, MessageSender, Observer, RequestCause,
    RequestOutcome, SessionCore, SessionEnd, SessionLimits,
};

/// A handler that never answers.
struct SilentHandler;

impl ClientHandler for SilentHandler {
    fn on_notification(&self, _: Notification) {}

    fn on_request(&self, _: &str, _: Option<Json>, _: Option<RequestCause>) -> HandlerFuture {
        Box::pin(std::future::pending())
    }
}

struct DiscardingSender;

impl MessageSender for DiscardingSender {
    fn send_message(self: Arc<Self>, _: Vec<u8>) {}
}

fn ask(core: &Arc<SessionCore>) {
    let question = r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}"#;
    assert!(core.handle_text(&Bytes::from(question), &Arc::new(DiscardingSender)));
}

async fn check_that_nothing_is_left(core: &SessionCore) {
    core.tasks.close();
    tokio::time::timeout(Duration::from_secs(20), core.tasks.wait()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_request_ends_with_the_session_even_if_it_arrives_later() {
    for comes_after in [false, true] {
        let core =
            SessionCore::new(Arc::new(SilentHandler), SessionLimits::default(), TaskTracker::new());
        if !comes_after {
            ask(&core);
        }
        core.end(SessionEnd { reason: EndReason::Closed, stderr: String::new() }, &[]);
        if comes_after {
            ask(&core);
        }
        check_that_nothing_is_left(&core).await;
    }
}

/// A handler that keeps the causes of all requests.
#[derive(Default)]
struct CauseRecorder(Mutex<Vec<Option<RequestCause>>>);

impl ClientHandler for CauseRecorder {
    fn on_notification(&self, _: Notification) {}

    fn on_request(&self, _: &str, _: Option<Json>, cause: Option<RequestCause>) -> HandlerFuture {
        self.0.lock().unwrap().push(cause);
        Box::pin(std::future::pending())
    }
}

/// A session with requests that have causes.
struct Causes {
    core: Arc<SessionCore>,
    recorder: Arc<CauseRecorder>,
}

impl Causes {
    fn new() -> Self {
        let recorder = Arc::<CauseRecorder>::default();
        let handler: Arc<dyn ClientHandler> = Arc::clone(&recorder) as _;
        let core = SessionCore::new(handler, SessionLimits::default(), TaskTracker::new());
        Self { core, recorder }
    }

    /// Sends a request.
    fn send(&self, id: u64, cause: Option<&'static str>) {
        drop(self.core.pending.insert(id, Observer::None, None).unwrap());
        if let Some(cause) = cause {
            self.core.pending.set_cause(id, RequestCause::new(cause));
        }
    }

    /// Returns the cause of a request of the server that arrives now.
    fn cause_of_request(&self, arrival: Arrival) -> Option<&'static str> {
        let question = r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}"#;
        let Ok(Received::One(message)) = read(Bytes::from(question)) else { panic!("unreadable") };
        self.core.receive(Received::One(message), &Arc::new(DiscardingSender), arrival);
        let cause = self.recorder.0.lock().unwrap().pop().expect("the handler was called");
        cause.and_then(|cause| cause.downcast_ref::<&str>().copied())
    }
}

#[tokio::test(start_paused = true)]
async fn on_a_shared_stream_the_cause_is_known_only_if_all_requests_have_it() {
    let causes = Causes::new();
    let check = |expected| assert_eq!(causes.cause_of_request(Arrival::Shared), expected);
    check(None);
    causes.send(1, Some("a"));
    check(Some("a"));
    causes.send(2, Some("a"));
    check(Some("a"));
    causes.send(3, Some("b"));
    check(None);
    assert!(!causes.core.pending.complete(3, RequestOutcome::Response(Ok(Json::null()))));
    check(Some("a"));
    causes.send(4, None);
    check(None);
}

#[tokio::test(start_paused = true)]
async fn on_the_stream_of_a_response_the_cause_is_that_of_the_request() {
    let causes = Causes::new();
    causes.send(1, Some("a"));
    causes.send(2, Some("b"));
    causes.send(3, None);
    for (id, expected) in [(1, Some("a")), (2, Some("b")), (3, None), (4, None)] {
        assert_eq!(causes.cause_of_request(Arrival::ResponseTo(id)), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_counts_while_the_server_may_still_work_on_it() {
    let causes = Causes::new();
    let check = |expected| assert_eq!(causes.cause_of_request(Arrival::Shared), expected);
    causes.send(1, Some("a"));
    assert!(causes.core.pending.cancel(1));
    causes.send(2, Some("b"));
    check(None);
    // The late response shows that the server has finished it.
    assert!(!causes.core.pending.complete(1, RequestOutcome::Response(Ok(Json::null()))));
    check(Some("b"));
    causes.send(3, Some("c"));
    assert!(causes.core.pending.cancel(3));
    check(None);
    tokio::time::advance(Duration::from_secs(60)).await;
    check(Some("b"));
    causes.send(4, Some("d"));
    assert!(causes.core.pending.cancel(4));
    causes.core.pending.forget_cancelled(4);
    check(Some("b"));
}
