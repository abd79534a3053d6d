//! A scripted server on the other end of a pipe in memory.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use crate::peer::{NoHandler, Peer, RequestError, RequestOptions};
use crate::transport::{BoxFuture, Pipe, PipeOpener};
use crate::view::ToolResult;
use crate::view::send::ClientInfo;
use crate::{ConnectError, ConnectOptions, connect_pipe};

/// The timeout of the tests.
pub(super) const DEADLINE: Duration = Duration::from_secs(20);

/// How many bytes a pipe holds.
pub(super) const CAPACITY: usize = 4 << 10;

/// The server's side of a pipe.
pub(super) struct ServerSide {
    /// Which pipe it is, starting with 1.
    pub(super) number: usize,
    pub(super) output: WriteHalf<DuplexStream>,
    input: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl ServerSide {
    /// Waits for the next message; `None` at the end of the input.
    pub(super) async fn next(&mut self) -> Option<Value> {
        let line = self.input.next_line().await.ok()??;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// Writes text as it is; an error means that the client is gone.
    pub(super) async fn write(&mut self, text: &str) -> io::Result<()> {
        self.output.write_all(text.as_bytes()).await
    }

    pub(super) async fn answer(&mut self, request: &Value, result: &Value) {
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        // The client may be gone.
        drop(self.write(&format!("{answer}\n")).await);
    }

    /// Answers the modern probe, if the client is not gone.
    pub(super) async fn greet(&mut self) {
        let Some(probe) = self.next().await else { return };
        assert_eq!(probe["method"], "server/discover");
        let result = json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "stage", "version": "1"},
        });
        self.answer(&probe, &result).await;
    }

    /// Answers all calls until the input ends.
    pub(super) async fn answer_calls(&mut self) {
        while let Some(request) = self.next().await {
            if request["method"] == "tools/call" {
                self.answer(&request, &json!({"content": [], "resultType": "complete"})).await;
            }
        }
    }
}

type Script = dyn Fn(ServerSide) -> BoxFuture<'static, ()> + Send + Sync;

/// Opens pipes to a script, which runs as the task of each pipe.
pub(super) struct ScriptedOpener {
    script: Box<Script>,
    opened: AtomicUsize,
}

impl ScriptedOpener {
    pub(super) fn new<F>(script: impl Fn(ServerSide) -> F + Send + Sync + 'static) -> Arc<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let script = Box::new(move |side| -> BoxFuture<'static, ()> { Box::pin(script(side)) });
        Arc::new(Self { script, opened: AtomicUsize::new(0) })
    }

    /// Returns how many pipes were opened.
    pub(super) fn opened(&self) -> usize {
        self.opened.load(Ordering::SeqCst)
    }

    pub(super) async fn connect(self: &Arc<Self>) -> Peer {
        self.connect_with(&options()).await.unwrap()
    }

    pub(super) async fn connect_with(
        self: &Arc<Self>,
        options: &ConnectOptions,
    ) -> Result<Peer, ConnectError> {
        connect_pipe(Arc::clone(self) as _, options, Arc::new(NoHandler)).await
    }
}

impl PipeOpener for ScriptedOpener {
    fn open(&self) -> BoxFuture<'_, io::Result<Pipe>> {
        let number = self.opened.fetch_add(1, Ordering::SeqCst) + 1;
        let (ours, theirs) = tokio::io::duplex(CAPACITY);
        let (input, output) = tokio::io::split(theirs);
        let input = BufReader::new(input).lines();
        let task = (self.script)(ServerSide { number, output, input });
        let (reader, writer) = tokio::io::split(ours);
        Box::pin(async move {
            // A real opener waits, too.
            tokio::task::yield_now().await;
            Ok(Pipe::new(reader, writer).with_task(task))
        })
    }
}

pub(super) fn options() -> ConnectOptions {
    ConnectOptions::new(ClientInfo::new("test", "1"))
}

/// Calls the tool of the server.
pub(super) async fn call(peer: &Peer) -> Result<ToolResult, RequestError> {
    peer.call_tool("load", None, &RequestOptions::within(DEADLINE)).await
}
