//! One run: connects, lists, calls, closes.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use tokio::task::JoinSet;
use wharf_protocol::era::Era;
use wharf_protocol::peer::{RequestError, RequestOptions};
use wharf_protocol::transport::process::{GracePeriod, ProcessLaunch};
use wharf_protocol::transport::{FixedHeaders, HttpClient, HttpClientOptions};
use wharf_protocol::view::send::{
    ClientInfo, ElicitationSupport, Object, RootsSupport, SamplingSupport, TasksSupport,
};
use wharf_protocol::view::{SubscriptionFilter, ToolResult, task};
use wharf_protocol::{
    ConnectError, ConnectOptions, HttpSpec, HttpTransport, Json, Peer, StdioSpec, connect_http,
    connect_stdio,
};
use wharf_testkit::quirk::http::HttpQuirkOptions;
use wharf_testkit::quirk::{HttpQuirkServer, ModeTag, QuirkEra, QuirkMode};

use super::handler::TestHandler;
use super::limits::{LIMIT, RunLimits};
use super::report::{CallReport, RunFailure, RunOutcome, RunReport, TEXT, violations};

/// A short grace period; other tests are about its length.
const GRACE: GracePeriod =
    GracePeriod { after_eof: Duration::from_millis(300), after_term: Duration::from_millis(300) };

/// Runs a server on stdin and stdout; its environment has `tag`.
pub(crate) async fn stdio(mode: &QuirkMode, era: QuirkEra, tag: &str) -> Option<String> {
    let limits = RunLimits::for_mode(mode);
    let (spec, options) = (program(mode, era, &limits, tag), options(mode, &limits));
    let connecting = connect_stdio(&spec, &options, Arc::new(TestHandler));
    Box::pin(check(mode, report_of(mode, &limits, connecting))).await
}

/// Returns how to start the server of a mode.
pub(crate) fn program(mode: &QuirkMode, era: QuirkEra, limits: &RunLimits, tag: &str) -> StdioSpec {
    let mut variables = vec![("QUIRK_TEST", tag.to_owned()), ("PATH", path())];
    let delay = limits.delay.map(|delay| delay.as_millis().to_string());
    variables.extend(delay.map(|delay| ("QUIRK_DELAY_MS", delay)));
    variables.extend(limits.bytes.map(|bytes| ("QUIRK_BYTES", bytes.to_string())));
    variables.extend(limits.count.map(|count| ("QUIRK_COUNT", count.to_string())));
    let launch = ProcessLaunch {
        arguments: vec![mode.name.into(), era.as_argument().into()],
        environment: variables.into_iter().map(|(name, it)| (name.into(), it.into())).collect(),
        ..ProcessLaunch::new(env!("CARGO_BIN_EXE_wharf-quirk"))
    };
    StdioSpec { grace: GRACE, ..StdioSpec::new(launch) }
}

/// Runs a server on HTTP.
pub(crate) async fn http(mode: &QuirkMode, era: QuirkEra) -> Option<String> {
    let limits = RunLimits::for_mode(mode);
    let server_options =
        HttpQuirkOptions { era: Some(era), delay: limits.delay, bytes: limits.bytes };
    let server = HttpQuirkServer::start_with(mode.name, server_options).unwrap();
    let secret = HeaderMap::from_iter([(AUTHORIZATION, "Bearer secret".parse().unwrap())]);
    let spec = HttpSpec {
        target: server.url().parse().unwrap(),
        client: HttpClient::new(&HttpClientOptions::default()),
        authorizer: Arc::new(FixedHeaders(secret)),
        http_transport: HttpTransport::Auto,
    };
    let options = options(mode, &limits);
    let connecting = connect_http(&spec, &options, Arc::new(TestHandler));
    let deviation = Box::pin(check(mode, report_of(mode, &limits, connecting))).await;
    let elsewhere = server.requests().into_iter().find(|seen| seen.at_other_origin);
    let gave_away = elsewhere.filter(|seen| seen.header("authorization").is_some());
    deviation.or_else(|| gave_away.map(|seen| format!("gave its credentials away: {seen:?}")))
}

async fn check(mode: &QuirkMode, run: impl Future<Output = RunReport>) -> Option<String> {
    match tokio::time::timeout(LIMIT, run).await {
        Ok(report) => report.deviation(mode),
        Err(_) => Some(format!("did not end within {LIMIT:?}")),
    }
}

async fn report_of(
    mode: &QuirkMode,
    limits: &RunLimits,
    connecting: impl Future<Output = Result<Peer, ConnectError>>,
) -> RunReport {
    let peer = match connecting.await {
        Ok(peer) => peer,
        Err(error) => {
            let outcome = RunOutcome::NotConnected(RunFailure::from(&error));
            return RunReport { outcome, violations: Vec::new() };
        }
    };
    let mut listening = JoinSet::new();
    if mode.has(ModeTag::NeedsListening) {
        listen(&peer, &mut listening).await;
    }
    let report = match peer.list_tools(&limits.list).await {
        Err(error) => RunReport {
            outcome: RunOutcome::NotListed(RunFailure::from(&error)),
            violations: violations(&peer, None, None),
        },
        Ok(listing) => {
            let result = call(&peer, mode, &limits.call).await;
            let violations = violations(&peer, Some(&listing), result.as_ref().ok());
            let result = result.as_ref().map(CallReport::from).map_err(RunFailure::from);
            let tools = listing.items.len();
            RunReport { outcome: RunOutcome::Called { tools, result }, violations }
        }
    };
    peer.close().await;
    report
}

/// Calls `echo`.
pub(crate) async fn call(
    peer: &Peer,
    mode: &QuirkMode,
    options: &RequestOptions,
) -> Result<ToolResult, RequestError> {
    let arguments = Json::encode(&serde_json::json!({ "text": TEXT })).unwrap();
    let arguments = Object::try_from(arguments).unwrap();
    if peer.era() == Era::Legacy && mode.has(ModeTag::NeedsTasks) {
        let keep = Duration::from_secs(60);
        return peer.call_tool_as_task("echo", Some(&arguments), keep, options).await;
    }
    peer.call_tool("echo", Some(&arguments), options).await
}

/// Subscribes to changes; a failure does not matter for the run.
async fn listen(peer: &Peer, listening: &mut JoinSet<()>) {
    let filter = SubscriptionFilter { tools_list_changed: true, ..SubscriptionFilter::default() };
    let options = RequestOptions::within(Duration::from_secs(1));
    if let Ok(subscription) = peer.listen(&filter, &options).await {
        listening.spawn(async move { drop(subscription.await) });
    }
}

/// Returns the options of a client with all capabilities.
pub(crate) fn options(mode: &QuirkMode, limits: &RunLimits) -> ConnectOptions {
    let mut options = ConnectOptions::new(ClientInfo::new("wharf-test", "1"));
    options.timeout = limits.connect;
    options.legacy_probe_delay = Duration::from_millis(150);
    // Enough for the longest list of pages that ends.
    options.limits.pages = 500;
    let can = &mut options.capabilities;
    can.roots = Some(RootsSupport { list_changed: true });
    can.sampling = Some(SamplingSupport::default());
    can.elicitation = Some(ElicitationSupport { form: true, url: true });
    can.tasks = Some(TasksSupport { cancel: true, ..TasksSupport::default() });
    // One mode is about a client without tasks.
    if mode.has(ModeTag::NeedsTasks) {
        can.extensions.push((task::EXTENSION.to_owned(), Object::default()));
    }
    options
}

#[expect(clippy::disallowed_methods, reason = "some modes become a shell command")]
fn path() -> String {
    std::env::var("PATH").unwrap_or_default()
}
