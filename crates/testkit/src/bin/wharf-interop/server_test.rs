//! The test of one server: connect, list what is declared, call, read, close, and check that no
//! process is left.

use std::sync::Arc;
use std::time::Duration;

use wharf_protocol::envelope::{Notification, RpcError};
use wharf_protocol::era::{Era, Revision};
use wharf_protocol::peer::{ClientHandler, HandlerFuture, RequestCause, RequestOptions};
use wharf_protocol::transport::{FixedHeaders, HttpClient, HttpClientOptions};
use wharf_protocol::view::ResourceBody;
use wharf_protocol::view::send::{self, ClientInfo, ElicitationAnswer, Object};
use wharf_protocol::{
    ConnectError, ConnectOptions, HttpSpec, HttpTransport, Json, Peer, StdioSpec, connect_http,
    connect_stdio,
};

use crate::AnyError;
use crate::http_server_process::HttpServerProcess;
use crate::remaining_processes;
use crate::report::ServerReport;
use crate::server_list::{
    ExpectedCall, ExpectedCount, ExpectedEra, ExpectedResource, InteropServer, ServerTransport,
};

/// The timeout of one request; Python servers take a second to start.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Tests a server and returns the report.
pub(crate) async fn run(server: &InteropServer) -> ServerReport {
    let mut report = ServerReport::new(&server.name);
    if let Err(error) = test(server, &mut report).await {
        report.add_problem(error.to_string());
    }
    for process in remaining_processes::find() {
        report.add_problem(process);
    }
    report
}

async fn test(server: &InteropServer, report: &mut ServerReport) -> Result<(), AnyError> {
    if server.kind == ServerTransport::Stdio {
        let spec = StdioSpec::new(server.launch(None));
        let connected = connect_stdio(&spec, &options(server), Arc::new(InteropHandler)).await;
        return test_session(server, report, connected).await;
    }
    let process = HttpServerProcess::start(server).await?;
    report.add_step("start");
    let outcome = test_http(server, report, &process).await;
    report.keep_stderr(&process.stderr());
    process.end().await;
    report.add_step("end");
    outcome
}

async fn test_http(
    server: &InteropServer,
    report: &mut ServerReport,
    process: &HttpServerProcess,
) -> Result<(), AnyError> {
    let spec = HttpSpec {
        target: process.url(&server.path).parse()?,
        client: HttpClient::new(&HttpClientOptions::default()),
        authorizer: Arc::new(FixedHeaders::default()),
        http_transport: HttpTransport::Auto,
    };
    let connected = connect_http(&spec, &options(server), Arc::new(InteropHandler)).await;
    test_session(server, report, connected).await
}

fn options(server: &InteropServer) -> ConnectOptions {
    let client = ClientInfo::new("wharf-interop", env!("CARGO_PKG_VERSION"));
    ConnectOptions {
        capabilities: server.capabilities(),
        remembered: server.force_legacy.then_some(Revision::LATEST_LEGACY),
        timeout: REQUEST_TIMEOUT,
        ..ConnectOptions::new(client)
    }
}

async fn test_session(
    server: &InteropServer,
    report: &mut ServerReport,
    connected: Result<Peer, ConnectError>,
) -> Result<(), AnyError> {
    let peer = connected.inspect_err(|error| report.keep_stderr(error.stderr()))?;
    report.add_step("connect");
    let options = RequestOptions::within(REQUEST_TIMEOUT);
    let mut session = TestedSession { server, report, peer: &peer, options };
    session.check_profile();
    session.check_markers();
    let outcome = session.list_call_and_read().await;
    report.keep_stderr(&peer.stderr());
    peer.close().await;
    report.add_step("close");
    for violation in peer.violations() {
        report.add_fact(format!("violation: {violation}"));
    }
    outcome
}

struct TestedSession<'a> {
    server: &'a InteropServer,
    report: &'a mut ServerReport,
    peer: &'a Peer,
    options: RequestOptions,
}

impl TestedSession<'_> {
    fn check_profile(&mut self) {
        let era = match self.server.era {
            ExpectedEra::Legacy => Era::Legacy,
            ExpectedEra::Modern => Era::Modern,
        };
        let (server, peer) = (self.server, self.peer);
        self.report.add_fact(format!("{} over {}", peer.revision(), peer.transport()));
        self.report.expect("era", &format!("{era:?}"), &format!("{:?}", peer.era()));
        self.report.expect("revision", &server.revision, peer.revision().as_str());
        self.report.expect("transport", server.kind.transport(), peer.transport());
    }

    /// Checks that a running process is found; otherwise a remaining one would be missed, too.
    fn check_markers(&mut self) {
        if cfg!(target_os = "linux") && remaining_processes::find().is_empty() {
            self.report.add_problem("its running process cannot be found by its marker".to_owned());
        }
    }

    async fn list_call_and_read(&mut self) -> Result<(), AnyError> {
        self.list().await?;
        self.report.add_step("list");
        match &self.server.call {
            Some(call) => {
                self.call(call).await?;
                self.report.add_step("call");
            }
            None if self.server.calls_offline => {
                self.report.add_problem("no call is described".to_owned());
            }
            None => {}
        }
        if let Some(read) = &self.server.read {
            self.read(read).await?;
            self.report.add_step("read");
        }
        Ok(())
    }

    /// Lists what the server declares; the other counts are 0.
    async fn list(&mut self) -> Result<(), AnyError> {
        let (server, peer, options) = (self.server, self.peer, &self.options);
        let declared = &peer.profile().capabilities;
        let mut tools = 0;
        if declared.tools().is_some() {
            let listing = peer.list_tools(options).await?;
            tools = listing.items.len();
            let reasons = listing.rejected.iter().map(|rejected| rejected.why.to_string());
            reasons.for_each(|why| self.report.add_problem(format!("a tool was rejected: {why}")));
        }
        let (mut resources, mut templates, mut prompts) = (0, 0, 0);
        if declared.resources().is_some() {
            resources = peer.list_resources(options).await?.items.len();
            templates = peer.list_resource_templates(options).await?.items.len();
        }
        if declared.prompts().is_some() {
            prompts = peer.list_prompts(options).await?.items.len();
        }
        self.check_count("tools", server.tools, tools);
        self.check_count("resources", ExpectedCount::AtLeast(server.resources_at_least), resources);
        self.check_count("templates", ExpectedCount::AtLeast(server.templates_at_least), templates);
        self.check_count("prompts", ExpectedCount::AtLeast(server.prompts_at_least), prompts);
        Ok(())
    }

    fn check_count(&mut self, what: &str, expected: ExpectedCount, found: usize) {
        self.report.add_fact(format!("{what} {found}"));
        let expected = match expected {
            ExpectedCount::Exactly(number) if found != number => format!("exactly {number}"),
            ExpectedCount::AtLeast(number) if found < number => format!("at least {number}"),
            _ => return,
        };
        self.report.add_problem(format!("{what}: expected {expected}, found {found}"));
    }

    async fn call(&mut self, call: &ExpectedCall) -> Result<(), AnyError> {
        let arguments = Object::try_from(call.arguments.clone())?;
        let result = self.peer.call_tool(&call.tool, Some(&arguments), &self.options).await?;
        let blocks = result.content();
        let texts = blocks.iter().filter_map(|block| block.as_text().map(AsRef::as_ref));
        self.check_text(&call.tool, texts, &call.contains);
        let (expected, found) = (call.is_error, result.is_error());
        self.report.expect("isError", &expected.to_string(), &found.to_string());
        Ok(())
    }

    async fn read(&mut self, read: &ExpectedResource) -> Result<(), AnyError> {
        let result = self.peer.read_resource(&read.uri, &self.options).await?;
        let texts: Vec<_> = result
            .contents()
            .iter()
            .filter_map(|contents| match contents.body() {
                ResourceBody::Text(text) => Some(text),
                ResourceBody::Blob(_) | ResourceBody::Missing => None,
            })
            .collect();
        self.check_text(&read.uri, texts.iter().map(AsRef::as_ref), &read.contains);
        Ok(())
    }

    fn check_text<'t>(&mut self, what: &str, texts: impl Iterator<Item = &'t str>, expected: &str) {
        let texts: Vec<&str> = texts.collect();
        if !texts.iter().any(|text| text.contains(expected)) {
            let found: String = texts.join("\n").chars().take(200).collect();
            self.report.add_problem(format!("{what}: expected `{expected}` in {found:?}"));
        }
    }
}

/// Has no roots, and declines everything else.
struct InteropHandler;

impl ClientHandler for InteropHandler {
    fn on_notification(&self, _: Notification) {}

    fn on_request(&self, method: &str, _: Option<Json>, _: Option<RequestCause>) -> HandlerFuture {
        let result = match method {
            "roots/list" => Ok(send::roots_result(&[])),
            "elicitation/create" => Ok(send::elicitation_result(&ElicitationAnswer::Decline)),
            _ => Err(RpcError::method_not_found(method)),
        };
        Box::pin(std::future::ready(result))
    }
}
