//! Questions of a server that come at a bad time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio_util::task::TaskTracker;

use crate::Json;
use crate::envelope::Notification;
use crate::session::{Core, EndReason, Ended, Handler, Limits, Reply, Speaker};

/// Somebody who never answers.
struct Absent;

impl Handler for Absent {
    fn notified(&self, _: Notification) {}

    fn asked(&self, _: &str, _: Option<Json>) -> Reply {
        Box::pin(std::future::pending())
    }
}

struct Mute;

impl Speaker for Mute {
    fn say(self: Arc<Self>, _: Vec<u8>) {}
}

fn ask(core: &Arc<Core>) {
    let question = r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}"#;
    assert!(core.take(&Bytes::from(question), &Arc::new(Mute)));
}

async fn check_that_nothing_is_left(core: &Core) {
    core.tasks.close();
    tokio::time::timeout(Duration::from_secs(20), core.tasks.wait()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_the_session_even_if_it_comes_after() {
    for comes_after in [false, true] {
        let core = Core::new(Arc::new(Absent), Limits::default(), TaskTracker::new());
        if !comes_after {
            ask(&core);
        }
        core.end(Ended { reason: EndReason::Closed, stderr: String::new() }, &[]);
        if comes_after {
            ask(&core);
        }
        check_that_nothing_is_left(&core).await;
    }
}
