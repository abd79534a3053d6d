//! A running server and a client connected to it; closing checks that nothing is left.

use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rmcp::ServiceExt as _;
use serde_json::{Value, json};
#[cfg(unix)]
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::mpsc::UnboundedReceiver;
use wharf_protocol::era::Revision;
use wharf_protocol::peer::{RequestError, RequestOptions};
use wharf_protocol::serve::McpServer;
use wharf_protocol::transport::process::{ProcessLaunch, TaskTracker};
use wharf_protocol::transport::{
    BoxFuture, FixedHeaders, HttpClient, HttpClientOptions, Pipe, PipeOpener,
};
use wharf_protocol::view::ToolResult;
use wharf_protocol::view::send::{ClientInfo, Object};
use wharf_protocol::{
    ConnectOptions, HttpSpec, HttpTransport, Json, Peer, StdioSpec, connect_http, connect_pipe,
    connect_stdio,
};
use wharf_testkit::server::{RmcpService, SampleService};

use super::handler::TestHandler;

/// The timeout for everything that must happen.
pub(crate) const DEADLINE: Duration = Duration::from_secs(15);

/// The programs.
pub(crate) const SAMPLE: &str = env!("CARGO_BIN_EXE_wharf-sample");
pub(crate) const RMCP: &str = env!("CARGO_BIN_EXE_wharf-rmcp");

/// The transport to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestTransport {
    Stdio,
    Http,
    /// A pipe to another process, over a Unix socket.
    #[cfg(unix)]
    Socket,
    /// A pipe to a server in this process.
    Memory,
}

/// A connection, and the server's process if the client did not start it.
pub(crate) struct TestConnection {
    pub(crate) peer: Peer,
    pub(crate) notifications: UnboundedReceiver<String>,
    server: ServerSide,
    tag: String,
}

/// What the client did not start itself.
enum ServerSide {
    None,
    Http(HttpServerProcess),
    #[cfg(unix)]
    Socket(SocketServerProcess),
    Memory(TaskTracker),
}

/// The process of an HTTP server; it ends when its stdin is closed.
struct HttpServerProcess {
    process: Child,
    url: String,
}

impl TestConnection {
    /// Starts a server and connects with a revision.
    pub(crate) async fn open(program: &str, way: TestTransport, revision: Revision) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let tag = format!("WHARF_PEERS={}-{count}", std::process::id());
        let (handler, notifications) = TestHandler::new();
        let (peer, server) = match way {
            TestTransport::Stdio => {
                let (name, value) = tag.split_once('=').unwrap();
                let environment = vec![(name.into(), value.into())];
                let launch = ProcessLaunch { environment, ..ProcessLaunch::new(program) };
                let spec = StdioSpec::new(launch);
                let peer = connect_stdio(&spec, &options(revision), Arc::new(handler)).await;
                (peer.unwrap(), ServerSide::None)
            }
            TestTransport::Http => {
                let http_server = HttpServerProcess::start(program).await;
                (http_server.connect(revision, handler).await, ServerSide::Http(http_server))
            }
            #[cfg(unix)]
            TestTransport::Socket => {
                let process = SocketServerProcess::start(program).await;
                let opener = Arc::new(SocketOpener(process.path.clone()));
                let peer = connect_pipe(opener, &options(revision), Arc::new(handler)).await;
                (peer.unwrap(), ServerSide::Socket(process))
            }
            TestTransport::Memory => {
                let options = options(revision);
                let opener: Arc<dyn PipeOpener> = if program == RMCP {
                    Arc::new(RmcpOpener)
                } else {
                    Arc::new(McpServer::new(SampleService::default()))
                };
                let peer = connect_pipe(opener, &options, Arc::new(handler)).await;
                (peer.unwrap(), ServerSide::Memory(options.tasks))
            }
        };
        assert_eq!(peer.revision(), revision);
        Self { peer, notifications, server, tag }
    }

    /// Calls a tool and returns its first text.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> String {
        let result = call(&self.peer, tool, arguments, &with_deadline()).await.unwrap();
        assert!(!result.is_error(), "{tool}: {:?}", result.raw());
        text(&result)
    }

    /// Waits until the server has counted an event this many times.
    pub(crate) async fn until(&self, event: &str, count: u64) {
        until(&self.peer, event, count).await;
    }

    /// Closes the connection and checks that nothing of it is left.
    pub(crate) async fn close(self, program: &str) {
        self.peer.close().await;
        assert!(self.peer.has_ended());
        match self.server {
            ServerSide::None => assert_eq!(left_running(&self.tag), [0; 0]),
            ServerSide::Http(http_server) => {
                if program == SAMPLE {
                    let witness = http_server.connect(Revision::LATEST, TestHandler::new().0).await;
                    until(&witness, "audience", 0).await;
                    witness.close().await;
                }
                end(http_server.process).await;
            }
            #[cfg(unix)]
            ServerSide::Socket(socket_server) => end(socket_server.process).await,
            ServerSide::Memory(tasks) => assert!(tasks.is_empty()),
        }
    }
}

/// Closes the stdin of a server, and waits for its exit.
async fn end(mut process: Child) {
    drop(process.stdin.take());
    assert!(process.wait().await.unwrap().success());
}

/// Starts a server that prints its address as the first line.
async fn start(program: &str, arguments: &[&str]) -> (Child, String) {
    let mut process = Command::new(program)
        .args(arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).await.unwrap();
    (process, address.trim().to_owned())
}

/// The process of a server on a Unix socket, in a folder that is removed afterwards.
#[cfg(unix)]
struct SocketServerProcess {
    process: Child,
    path: String,
    _folder: TempDir,
}

#[cfg(unix)]
impl SocketServerProcess {
    async fn start(program: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.sock");
        let (process, path) = start(program, &["--socket", path.to_str().unwrap()]).await;
        Self { process, path, _folder: folder }
    }
}

/// Connects to a socket.
#[cfg(unix)]
struct SocketOpener(String);

#[cfg(unix)]
impl PipeOpener for SocketOpener {
    fn open(&self) -> BoxFuture<'_, io::Result<Pipe>> {
        Box::pin(async {
            let (reader, writer) = UnixStream::connect(&self.0).await?.into_split();
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

impl HttpServerProcess {
    async fn start(program: &str) -> Self {
        let (process, url) = start(program, &["--http", "127.0.0.1:0"]).await;
        Self { process, url }
    }

    async fn connect(&self, revision: Revision, handler: TestHandler) -> Peer {
        let spec = HttpSpec {
            target: self.url.parse().unwrap(),
            client: HttpClient::new(&HttpClientOptions::default()),
            authorizer: Arc::new(FixedHeaders::default()),
            http_transport: HttpTransport::Auto,
        };
        connect_http(&spec, &options(revision), Arc::new(handler)).await.unwrap()
    }
}

fn options(revision: Revision) -> ConnectOptions {
    ConnectOptions {
        remembered: Some(revision),
        capabilities: TestHandler::capabilities(),
        timeout: DEADLINE,
        ..ConnectOptions::new(ClientInfo::new("wharf-test", "1"))
    }
}

/// Returns options with the deadline of the tests.
pub(crate) fn with_deadline() -> RequestOptions {
    RequestOptions::within(DEADLINE)
}

pub(crate) async fn call(
    peer: &Peer,
    tool: &str,
    arguments: &Value,
    options: &RequestOptions,
) -> Result<ToolResult, RequestError> {
    let arguments = Object::try_from(Json::encode(arguments).unwrap()).unwrap();
    peer.call_tool(tool, Some(&arguments), options).await
}

/// Returns the first text of a result.
pub(crate) fn text(result: &ToolResult) -> String {
    let blocks = result.content();
    blocks.iter().find_map(|block| block.as_text()).unwrap().to_string()
}

/// Polls the server; the caller's deadline ends it.
async fn until(peer: &Peer, event: &str, count: u64) {
    loop {
        let told = text(&call(peer, "history", &json!({}), &with_deadline()).await.unwrap());
        let told: Value = serde_json::from_str(&told).unwrap();
        if told[event].as_u64().unwrap_or_default() == count {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// Returns the processes that have the variable and are still running.
#[cfg(target_os = "linux")]
fn left_running(variable: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|it| it.file_name().to_str()?.parse().ok());
    // An unreadable process is not our child, and a zombie has no environment.
    let has_variable = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
    };
    numbers.filter(has_variable).collect()
}

#[cfg(not(target_os = "linux"))]
fn left_running(_: &str) -> Vec<u32> {
    Vec::new()
}
