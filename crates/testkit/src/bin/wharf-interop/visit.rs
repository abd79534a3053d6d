//! One visit: connect, list what is declared, call, read, leave, and look whether anything is left.

use std::sync::Arc;
use std::time::Duration;

use wharf_protocol::envelope::{Notification, RpcError};
use wharf_protocol::era::{Era, Revision};
use wharf_protocol::peer::{ClientHandler, HandlerFuture, RequestOptions};
use wharf_protocol::transport::{FixedHeaders, HttpClient, HttpClientOptions};
use wharf_protocol::view::ResourceBody;
use wharf_protocol::view::send::{self, ClientInfo, ElicitationAnswer, Object};
use wharf_protocol::{
    ConnectError, ConnectOptions, HttpSpec, HttpTransport, Json, Peer, StdioSpec, connect_http,
    connect_stdio,
};

use crate::Failure;
use crate::catalogue::{Call, Count, EraName, Kind, Read, Server};
use crate::host::Host;
use crate::leftovers;
use crate::report::Report;

/// How long one request may take; Python servers need a second to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// Visits a server and reports what came of it.
pub(crate) async fn run(server: &Server) -> Report {
    let mut report = Report::new(&server.name);
    if let Err(error) = visit(server, &mut report).await {
        report.complain(error.to_string());
    }
    for process in leftovers::find() {
        report.complain(process);
    }
    report
}

async fn visit(server: &Server, report: &mut Report) -> Result<(), Failure> {
    if server.kind == Kind::Stdio {
        let spec = StdioSpec::new(server.launch(None));
        let connected = connect_stdio(&spec, &options(server), Arc::new(Answers)).await;
        return stay(server, report, connected).await;
    }
    let host = Host::start(server).await?;
    report.step("start");
    let outcome = visit_host(server, report, &host).await;
    report.keep_stderr(&host.last_words());
    host.end().await;
    report.step("end");
    outcome
}

async fn visit_host(server: &Server, report: &mut Report, host: &Host) -> Result<(), Failure> {
    let spec = HttpSpec {
        target: host.url(&server.path).parse()?,
        client: HttpClient::new(&HttpClientOptions::default()),
        authorizer: Arc::new(FixedHeaders::default()),
        http_transport: HttpTransport::Auto,
    };
    let connected = connect_http(&spec, &options(server), Arc::new(Answers)).await;
    stay(server, report, connected).await
}

fn options(server: &Server) -> ConnectOptions {
    let client = ClientInfo::new("wharf-interop", env!("CARGO_PKG_VERSION"));
    ConnectOptions {
        capabilities: server.capabilities(),
        remembered: server.force_legacy.then_some(Revision::LATEST_LEGACY),
        timeout: PATIENCE,
        ..ConnectOptions::new(client)
    }
}

async fn stay(
    server: &Server,
    report: &mut Report,
    connected: Result<Peer, ConnectError>,
) -> Result<(), Failure> {
    let peer = connected.inspect_err(|error| report.keep_stderr(error.stderr()))?;
    report.step("connect");
    let mut stay = Stay { server, report, peer: &peer, options: RequestOptions::within(PATIENCE) };
    stay.check_profile();
    stay.check_marks();
    let outcome = stay.look_around().await;
    report.keep_stderr(&peer.stderr());
    peer.close().await;
    report.step("close");
    for warning in peer.warnings() {
        report.fact(format!("warning: {warning}"));
    }
    outcome
}

struct Stay<'a> {
    server: &'a Server,
    report: &'a mut Report,
    peer: &'a Peer,
    options: RequestOptions,
}

impl Stay<'_> {
    fn check_profile(&mut self) {
        let era = match self.server.era {
            EraName::Legacy => Era::Legacy,
            EraName::Modern => Era::Modern,
        };
        let (server, peer) = (self.server, self.peer);
        self.report.fact(format!("{} over {}", peer.revision(), peer.transport()));
        self.report.expect("era", &format!("{era:?}"), &format!("{:?}", peer.era()));
        self.report.expect("revision", &server.revision, peer.revision().as_str());
        self.report.expect("transport", server.kind.transport(), peer.transport());
    }

    /// If what runs now could not be found, neither could what is left behind.
    fn check_marks(&mut self) {
        if cfg!(target_os = "linux") && leftovers::find().is_empty() {
            self.report.complain("its running process cannot be found by its mark".to_owned());
        }
    }

    async fn look_around(&mut self) -> Result<(), Failure> {
        self.list().await?;
        self.report.step("list");
        match &self.server.call {
            Some(call) => {
                self.call(call).await?;
                self.report.step("call");
            }
            None if self.server.calls_offline => {
                self.report.complain("there is no call to make".to_owned());
            }
            None => {}
        }
        if let Some(read) = &self.server.read {
            self.read(read).await?;
            self.report.step("read");
        }
        Ok(())
    }

    /// Lists what the server declares; what it does not declare it has none of.
    async fn list(&mut self) -> Result<(), Failure> {
        let (server, peer, options) = (self.server, self.peer, &self.options);
        let offered = &peer.profile().capabilities;
        let mut tools = 0;
        if offered.tools().is_some() {
            let listing = peer.list_tools(options).await?;
            tools = listing.items.len();
            let odd = listing.rejected.iter().map(|rejected| rejected.why.to_string());
            odd.for_each(|why| self.report.complain(format!("a tool was left out: {why}")));
        }
        let (mut resources, mut templates, mut prompts) = (0, 0, 0);
        if offered.resources().is_some() {
            resources = peer.list_resources(options).await?.items.len();
            templates = peer.list_resource_templates(options).await?.items.len();
        }
        if offered.prompts().is_some() {
            prompts = peer.list_prompts(options).await?.items.len();
        }
        self.count("tools", server.tools, tools);
        self.count("resources", Count::AtLeast(server.resources_at_least), resources);
        self.count("templates", Count::AtLeast(server.templates_at_least), templates);
        self.count("prompts", Count::AtLeast(server.prompts_at_least), prompts);
        Ok(())
    }

    fn count(&mut self, what: &str, expected: Count, found: usize) {
        self.report.fact(format!("{what} {found}"));
        let complaint = match expected {
            Count::Exactly(number) if found != number => format!("exactly {number}"),
            Count::AtLeast(number) if found < number => format!("at least {number}"),
            _ => return,
        };
        self.report.complain(format!("{what}: expected {complaint}, found {found}"));
    }

    async fn call(&mut self, call: &Call) -> Result<(), Failure> {
        let arguments = Object::try_from(call.arguments.clone())?;
        let result = self.peer.call_tool(&call.tool, Some(&arguments), &self.options).await?;
        let blocks = result.content();
        let texts = blocks.iter().filter_map(|block| block.as_text().map(AsRef::as_ref));
        self.contains(&call.tool, texts, &call.contains);
        let (expected, found) = (call.is_error, result.is_error());
        self.report.expect("isError", &expected.to_string(), &found.to_string());
        Ok(())
    }

    async fn read(&mut self, read: &Read) -> Result<(), Failure> {
        let result = self.peer.read_resource(&read.uri, &self.options).await?;
        let texts: Vec<_> = result
            .contents()
            .iter()
            .filter_map(|contents| match contents.body() {
                ResourceBody::Text(text) => Some(text),
                ResourceBody::Blob(_) | ResourceBody::Missing => None,
            })
            .collect();
        self.contains(&read.uri, texts.iter().map(AsRef::as_ref), &read.contains);
        Ok(())
    }

    fn contains<'t>(&mut self, what: &str, texts: impl Iterator<Item = &'t str>, wanted: &str) {
        let texts: Vec<&str> = texts.collect();
        if !texts.iter().any(|text| text.contains(wanted)) {
            let found: String = texts.join("\n").chars().take(200).collect();
            self.report.complain(format!("{what}: expected `{wanted}` in {found:?}"));
        }
    }
}

/// Has no folders, and says no to everything else.
struct Answers;

impl ClientHandler for Answers {
    fn on_notification(&self, _: Notification) {}

    fn on_request(&self, method: &str, _: Option<Json>) -> HandlerFuture {
        let answer = match method {
            "roots/list" => Ok(send::roots_result(&[])),
            "elicitation/create" => Ok(send::elicitation_result(&ElicitationAnswer::Decline)),
            _ => Err(RpcError::method_not_found(method)),
        };
        Box::pin(std::future::ready(answer))
    }
}
