//! How a pipe is closed: the writer first, then a grace period for the server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::scripted_pipe::{CAPACITY, ScriptedOpener, options};
use crate::connect_pipe;
use crate::peer::NoHandler;
use crate::transport::{BoxFuture, Pipe, PipeOpener};

#[tokio::test(start_paused = true)]
async fn a_server_may_write_until_it_has_seen_the_end_of_its_input() {
    let has_ended = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&has_ended);
    let opener = ScriptedOpener::new(move |mut side| {
        let ended = Arc::clone(&ended);
        async move {
            side.greet().await;
            side.answer_calls().await;
            side.write(&"goodbye\n".repeat(CAPACITY)).await.unwrap();
            ended.store(true, Ordering::SeqCst);
        }
    });
    let peer = opener.connect().await;
    let began = Instant::now();
    peer.close().await;
    assert!(has_ended.load(Ordering::SeqCst));
    assert_eq!(began.elapsed(), Duration::ZERO);
}

/// Gives the pipes of another opener a grace period.
struct WithGrace(Arc<ScriptedOpener>, Duration);

impl PipeOpener for WithGrace {
    fn open(&self) -> BoxFuture<'_, io::Result<Pipe>> {
        Box::pin(async { Ok(self.0.open().await?.with_grace(self.1)) })
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_end_is_dropped_after_the_grace_period() {
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let opener = ScriptedOpener::new(move |mut side| {
        let held = Arc::clone(&held);
        async move {
            side.greet().await;
            std::future::pending::<()>().await;
            drop(held);
        }
    });
    let opener = Arc::new(WithGrace(opener, Duration::from_secs(7)));
    let peer = connect_pipe(opener, &options(), Arc::new(NoHandler)).await.unwrap();
    let began = Instant::now();
    peer.close().await;
    assert_eq!(began.elapsed().as_secs(), 7);
    assert_eq!(Arc::strong_count(&alive), 1);
}
