//! A running server and a client connected to it; closing checks that nothing is left.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc::UnboundedReceiver;
use wharf_protocol::era::Revision;
use wharf_protocol::peer::{RequestError, RequestOptions};
use wharf_protocol::transport::process::ProcessLaunch;
use wharf_protocol::transport::{FixedHeaders, HttpClient, HttpClientOptions};
use wharf_protocol::view::ToolResult;
use wharf_protocol::view::send::{ClientInfo, Object};
use wharf_protocol::{
    ConnectOptions, HttpSpec, HttpTransport, Json, Peer, StdioSpec, connect_http, connect_stdio,
};

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
}

/// A connection, and the server's process if the client did not start it.
pub(crate) struct TestConnection {
    pub(crate) peer: Peer,
    pub(crate) notifications: UnboundedReceiver<String>,
    http_server: Option<HttpServerProcess>,
    tag: String,
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
        let (peer, http_server) = match way {
            TestTransport::Stdio => {
                let (name, value) = tag.split_once('=').unwrap();
                let environment = vec![(name.into(), value.into())];
                let launch = ProcessLaunch { environment, ..ProcessLaunch::new(program) };
                let spec = StdioSpec::new(launch);
                (connect_stdio(&spec, &options(revision), Arc::new(handler)).await.unwrap(), None)
            }
            TestTransport::Http => {
                let http_server = HttpServerProcess::start(program).await;
                (http_server.connect(revision, handler).await, Some(http_server))
            }
        };
        assert_eq!(peer.revision(), revision);
        Self { peer, notifications, http_server, tag }
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
        let Some(mut http_server) = self.http_server else {
            assert_eq!(left_running(&self.tag), [0; 0]);
            return;
        };
        if program == SAMPLE {
            let witness = http_server.connect(Revision::LATEST, TestHandler::new().0).await;
            until(&witness, "audience", 0).await;
            witness.close().await;
        }
        drop(http_server.process.stdin.take());
        assert!(http_server.process.wait().await.unwrap().success());
    }
}

impl HttpServerProcess {
    async fn start(program: &str) -> Self {
        let mut process = Command::new(program)
            .args(["--http", "127.0.0.1:0"])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).await.unwrap();
        Self { process, url: url.trim().to_owned() }
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
