//! How connections over pipes are made, and why they fail.

use std::io;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use serde_json::json;
use tokio::io::BufWriter;
use tokio_util::task::TaskTracker;

use super::scripted_pipe::{DEADLINE, ScriptedOpener, call, options};
use crate::era::Era;
use crate::peer::NoHandler;
use crate::transport::{BoxFuture, Pipe, PipeOpener};
use crate::{ConnectOptions, connect_pipe};

#[tokio::test]
async fn a_pipe_has_calls_and_a_name() {
    let opener = ScriptedOpener::new(|mut side| async move {
        side.greet().await;
        side.answer_calls().await;
    });
    let peer = opener.connect().await;
    assert_eq!((peer.transport(), peer.era(), peer.stderr()), ("pipe", Era::Modern, String::new()));
    let calls = (0..20).map(|_| call(&peer));
    for result in futures_util::future::join_all(calls).await {
        result.unwrap();
    }
    peer.close().await;
    assert_eq!(opener.opened(), 1);
}

#[tokio::test]
async fn a_server_that_closes_the_pipe_on_the_modern_probe_gets_a_second_pipe() {
    let opener = ScriptedOpener::new(|mut side| async move {
        let probe = side.next().await.unwrap();
        if side.number == 1 {
            return;
        }
        assert_eq!(probe["method"], "initialize");
        let result = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "stage", "version": "1"},
        });
        side.answer(&probe, &result).await;
        side.answer_calls().await;
    });
    let peer = opener.connect().await;
    assert_eq!((peer.era(), opener.opened()), (Era::Legacy, 2));
    call(&peer).await.unwrap();
    peer.close().await;
}

/// Fails, or never opens anything.
struct BrokenOpener {
    hangs: bool,
}

impl PipeOpener for BrokenOpener {
    fn open(&self) -> BoxFuture<'_, io::Result<Pipe>> {
        let hangs = self.hangs;
        Box::pin(async move {
            if hangs {
                std::future::pending::<()>().await;
            }
            Err(io::Error::new(io::ErrorKind::ConnectionRefused, "no channel"))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn an_opener_that_fails_or_hangs_is_a_clear_error() {
    let check = async |hangs: bool, expected: &str| {
        let options = ConnectOptions { timeout: Duration::from_secs(3), ..options() };
        let opener = Arc::new(BrokenOpener { hangs });
        let error = connect_pipe(opener, &options, Arc::new(NoHandler)).await.err().unwrap();
        let source = std::error::Error::source(&error).map(ToString::to_string);
        assert_eq!(format!("{error}, {source:?}"), expected);
        assert!(error.stderr().is_empty() && options.tasks.is_empty());
    };
    check(false, "could not open a pipe to the server, Some(\"no channel\")").await;
    check(true, "the server did not answer within 3s, None").await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_only_writes_text_is_not_an_mcp_server() {
    let opener = ScriptedOpener::new(|mut side| async move {
        side.write("hello\n").await.unwrap();
        while side.next().await.is_some() {}
    });
    let error = opener.connect_with(&options()).await.err().unwrap();
    assert_eq!(error.to_string(), "the server's output contains text that is not MCP");
}

/// Wraps the writer of another opener into a buffer.
struct Buffered(Arc<ScriptedOpener>);

impl PipeOpener for Buffered {
    fn open(&self) -> BoxFuture<'_, io::Result<Pipe>> {
        Box::pin(async {
            let mut pipe = self.0.open().await?;
            pipe.writer = Box::new(BufWriter::new(pipe.writer));
            Ok(pipe)
        })
    }
}

#[tokio::test]
async fn a_writer_with_a_buffer_is_flushed() {
    let opener = ScriptedOpener::new(|mut side| async move {
        side.greet().await;
        side.answer_calls().await;
    });
    let opener = Arc::new(Buffered(opener));
    let peer = connect_pipe(opener, &options(), Arc::new(NoHandler)).await.unwrap();
    call(&peer).await.unwrap();
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn dropping_the_connect_future_at_any_await_leaves_no_task() {
    let mut is_connected = false;
    for steps in 0.. {
        let alive = Arc::new(());
        let held = Arc::clone(&alive);
        let opener = ScriptedOpener::new(move |mut side| {
            let held = Arc::clone(&held);
            async move {
                side.greet().await;
                // It ignores the end of its input.
                std::future::pending::<()>().await;
                drop(held);
            }
        });
        let options = ConnectOptions { tasks: TaskTracker::new(), ..options() };
        let mut connecting = Box::pin(opener.connect_with(&options));
        for step in 0..steps {
            // Between two polls, the tasks run.
            if step % 2 == 1 {
                tokio::task::yield_now().await;
                continue;
            }
            let polled = std::future::poll_fn(|context| {
                Poll::Ready(connecting.as_mut().poll(context).is_ready())
            });
            is_connected = polled.await;
            if is_connected {
                break;
            }
        }
        drop(connecting);
        drop(opener);
        options.tasks.close();
        tokio::time::timeout(DEADLINE, options.tasks.wait()).await.unwrap();
        assert_eq!(Arc::strong_count(&alive), 1, "after {steps} steps");
        if is_connected {
            assert!(steps > 3, "{steps}");
            return;
        }
    }
}
