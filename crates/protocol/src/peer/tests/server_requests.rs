//! Requests of a server that arrive while the session ends.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio_util::task::TaskTracker;

use crate::Json;
use crate::envelope::Notification;
use crate::session::{
    ClientHandler, EndReason, HandlerFuture, MessageSender, SessionCore, SessionEnd, SessionLimits,
};

/// A handler that never answers.
struct SilentHandler;

impl ClientHandler for SilentHandler {
    fn on_notification(&self, _: Notification) {}

    fn on_request(&self, _: &str, _: Option<Json>) -> HandlerFuture {
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
