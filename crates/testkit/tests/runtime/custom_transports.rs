//! Tests servers behind pipes that the program opens: another process on a Unix socket, and a
//! service of the package `rmcp` in this process.

use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::ServiceExt as _;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use wharf::protocol::transport::{BoxFuture, Pipe, PipeOpener};
use wharf::{AllowAll, Runtime, Status, custom_transport};
use wharf_testkit::server::RmcpService;

use super::fixture::call;

/// The process of a server on a Unix socket, in a folder that is removed afterwards.
struct SocketServerProcess {
    process: Child,
    path: String,
    _folder: tempfile::TempDir,
}

impl SocketServerProcess {
    async fn start(program: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut process = Command::new(program)
            .arg("--socket")
            .arg(folder.path().join("server.sock"))
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut path = String::new();
        // The server prints its address once it listens.
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut path).await.unwrap();
        Self { process, path: path.trim().to_owned(), _folder: folder }
    }

    /// Closes the stdin of the server, and waits for its exit.
    async fn end(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().await.unwrap().success());
    }
}

/// Connects to a socket, and counts the connections.
struct SocketOpener {
    path: String,
    opened: Arc<AtomicUsize>,
}

impl PipeOpener for SocketOpener {
    fn open(&self) -> BoxFuture<'_, io::Result<Pipe>> {
        Box::pin(async {
            self.opened.fetch_add(1, Ordering::SeqCst);
            let (reader, writer) = UnixStream::connect(&self.path).await?.into_split();
            Ok(Pipe::new(reader, writer))
        })
    }
}

/// Serves each pipe with `rmcp`.
struct RmcpOpener;

impl PipeOpener for RmcpOpener {
    fn open(&self) -> BoxFuture<'_, io::Result<Pipe>> {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let serving = async move {
            let service = RmcpService.serve(tokio::io::split(theirs)).await.unwrap();
            service.waiting().await.unwrap();
        };
        let (reader, writer) = tokio::io::split(ours);
        Box::pin(std::future::ready(Ok(Pipe::new(reader, writer).with_task(serving))))
    }
}

async fn start(opener: impl PipeOpener) -> Runtime {
    let builder = Runtime::builder().server("far", custom_transport(opener)).approver(AllowAll);
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    runtime
}

async fn check_calls(runtime: &Runtime) {
    assert_eq!(call(runtime, "far/echo", json!({ "text": "hello" })).await, "hello");
    assert_eq!(call(runtime, "far/add", json!({ "a": 2, "b": 40 })).await, "42");
}

#[tokio::test]
async fn tools_of_another_process_on_a_socket_are_called_also_after_a_reconnect() {
    for program in [env!("CARGO_BIN_EXE_wharf-sample"), env!("CARGO_BIN_EXE_wharf-rmcp")] {
        let server = SocketServerProcess::start(program).await;
        let count = Arc::new(AtomicUsize::new(0));
        let opener = SocketOpener { path: server.path.clone(), opened: Arc::clone(&count) };
        let runtime = start(opener).await;
        check_calls(&runtime).await;
        let before = count.load(Ordering::SeqCst);
        assert_eq!(runtime.connect("far").await.unwrap().status, Status::Connected);
        assert!(count.load(Ordering::SeqCst) > before, "the pipe is opened again");
        check_calls(&runtime).await;
        runtime.shutdown().await;
        server.end().await;
    }
}

#[tokio::test]
async fn tools_of_an_rmcp_service_in_memory_are_called() {
    let runtime = start(RmcpOpener).await;
    check_calls(&runtime).await;
    assert_eq!(runtime.connect("far").await.unwrap().status, Status::Connected);
    check_calls(&runtime).await;
    runtime.shutdown().await;
}
