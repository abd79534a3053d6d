//! The MCP server: dispatches calls to the service, and answers requests that need no service.
//!
//! The transports determine the client and the era of a call, then call [`ServerCore::answer`]. A
//! panic of the service while it answers a call is the error of that call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::change_notifier::ChangeNotifier;
use super::client::Client;
use super::handshake;
use super::legacy_session::LegacySession;
use super::request_context::RequestContext;
use super::result_shape::ResultShape;
use super::running_calls::CallLifetime;
use super::service::{Service, ServiceAnswer, ServiceCall};
use super::subscriptions;
use crate::Json;
use crate::envelope::{self, Id, RpcError};
use crate::era::Era;
use crate::view::LogLevel;

/// How long a cancelled call may run for its cleanup before it is dropped.
const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// A server of both eras around a [`Service`]. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
/// use wharf_protocol::envelope::RpcError;
/// use wharf_protocol::serve::{ServiceAnswer, ServiceCall, Client, DescriptionFuture};
/// use wharf_protocol::serve::{ServerDescription, McpServer, ServerInfo, Service};
///
/// struct Echo;
///
/// impl Service for Echo {
///     fn info(&self) -> ServerInfo {
///         ServerInfo::new("echo", "1.0.0")
///     }
///
///     fn describe(self: Arc<Self>, _client: Client) -> DescriptionFuture {
///         Box::pin(async { ServerDescription::new(r#"{"tools":{}}"#.parse().unwrap()) })
///     }
///
///     fn handle(self: Arc<Self>, call: ServiceCall) -> ServiceAnswer {
///         Box::pin(async move {
///             call.param("arguments").ok_or_else(|| RpcError::method_not_found(&call.method))
///         })
///     }
/// }
///
/// # async fn run() -> std::io::Result<()> {
/// let (input, output) = (tokio::io::empty(), tokio::io::sink());
/// McpServer::new(Echo).serve_stdio(input, output).await
/// # }
/// ```
#[derive(Clone)]
pub struct McpServer(Arc<ServerCore>);

impl McpServer {
    /// Creates a server; it does nothing until it is served on a transport.
    pub fn new(service: impl Service) -> Self {
        let info = service.info().into_json();
        Self(Arc::new(ServerCore {
            service: Arc::new(service),
            info,
            change_notifier: ChangeNotifier::default(),
            tracker: TaskTracker::new(),
            closing: CancellationToken::new(),
        }))
    }

    /// Returns the name and the version that it declares.
    pub fn info(&self) -> &Json {
        &self.0.info
    }

    /// Returns the handle for change notifications.
    pub fn change_notifier(&self) -> &ChangeNotifier {
        &self.0.change_notifier
    }

    /// Ends all subscriptions and streams, and waits at most `grace` for running calls.
    pub async fn close(&self, grace: Duration) {
        self.0.closing.cancel();
        self.0.tracker.close();
        // Calls that run longer are dropped with the async runtime.
        drop(tokio::time::timeout(grace, self.0.tracker.wait()).await);
    }

    pub(crate) fn core(&self) -> &Arc<ServerCore> {
        &self.0
    }
}

impl std::fmt::Debug for McpServer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("McpServer").finish_non_exhaustive()
    }
}

pub(crate) struct ServerCore {
    service: Arc<dyn Service>,
    info: Json,
    change_notifier: ChangeNotifier,
    tracker: TaskTracker,
    closing: CancellationToken,
}

impl ServerCore {
    pub(crate) fn service(&self) -> Arc<dyn Service> {
        Arc::clone(&self.service)
    }

    /// Tells the service about the end of a session.
    ///
    /// This runs while a connection is dropped, possibly by a panic, so a panic is caught.
    pub(crate) fn end_session(&self, client: &Client) {
        // Unwind safe: no state of the service is used after a panic.
        if catch_unwind(AssertUnwindSafe(|| self.service.session_ended(client))).is_err() {
            tracing::warn!("the service panicked at the end of a session");
        }
    }

    /// Passes a call to the service.
    fn handle(&self, call: ServiceCall) -> ServiceAnswer {
        // Unwind safe: no state of the service is used after a panic.
        let answer = catch_unwind(AssertUnwindSafe(|| self.service().handle(call)));
        answer.unwrap_or_else(|_| Box::pin(std::future::ready(Err(panicked()))))
    }

    pub(crate) fn info(&self) -> &Json {
        &self.info
    }

    pub(crate) fn change_notifier(&self) -> &ChangeNotifier {
        &self.change_notifier
    }

    #[cfg(feature = "serve-http")]
    pub(crate) fn tracker(&self) -> &TaskTracker {
        &self.tracker
    }

    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// Starts answering a call; nothing happens before the future is polled.
    pub(crate) fn answer(self: &Arc<Self>, call: ServiceCall) -> ServiceAnswer {
        match call.context.client().era() {
            Era::Modern => self.modern(call),
            Era::Legacy => self.legacy(call),
        }
    }

    fn modern(self: &Arc<Self>, call: ServiceCall) -> ServiceAnswer {
        let core = Arc::clone(self);
        match call.method.as_ref() {
            "server/discover" => {
                Box::pin(async move { Ok(handshake::discover(&core, &call).await) })
            }
            "subscriptions/listen" => {
                Box::pin(async move { subscriptions::listen(&core, call).await })
            }
            // These were removed from the protocol, so the service does not get them.
            "initialize"
            | "ping"
            | "logging/setLevel"
            | "resources/subscribe"
            | "resources/unsubscribe"
            | "tasks/list"
            | "tasks/result" => method_not_found(&call),
            _ => self.handle(call),
        }
    }

    fn legacy(&self, call: ServiceCall) -> ServiceAnswer {
        if call.method == "ping" {
            return Box::pin(std::future::ready(Ok(Json::object())));
        }
        let Some(session) = call.context.client().legacy_session().cloned() else {
            return method_not_found(&call);
        };
        match call.method.as_ref() {
            "server/discover" | "subscriptions/listen" => method_not_found(&call),
            "logging/setLevel" => Box::pin(set_level(self.service(), call, session)),
            "resources/subscribe" | "resources/unsubscribe" => {
                Box::pin(update_subscription(self.service(), call, session))
            }
            _ => self.handle(call),
        }
    }

    /// Encodes the response to a call, with the members that its revision requires.
    pub(crate) fn encode_response(
        &self,
        id: &Id,
        shape: ResultShape,
        outcome: Result<Json, RpcError>,
    ) -> Vec<u8> {
        match outcome {
            Ok(result) => envelope::success(id, &shape.complete(result, &self.info)),
            Err(error) => envelope::failure(Some(id), &error),
        }
    }
}

/// Returns the required members of the result of a call.
pub(crate) fn shape(call: &ServiceCall) -> ResultShape {
    match call.context.client().era() {
        Era::Modern => ResultShape::of_modern(&call.method),
        Era::Legacy => ResultShape::AsIs,
    }
}

/// Returns when a call ends.
pub(crate) fn lifetime(call: &ServiceCall) -> CallLifetime {
    if call.method == "subscriptions/listen" {
        CallLifetime::UntilCancelled
    } else {
        CallLifetime::UntilAnswered
    }
}

/// Polls the answer once; returns it if it is ready.
pub(crate) async fn poll_once(answer: &mut ServiceAnswer) -> Option<Result<Json, RpcError>> {
    std::future::poll_fn(|context| {
        // Unwind safe: the answer is not polled again after a panic.
        Poll::Ready(match catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context))) {
            Ok(Poll::Ready(outcome)) => Some(outcome),
            Ok(Poll::Pending) => None,
            Err(_) => Some(Err(panicked())),
        })
    })
    .await
}

/// Waits for the answer; `None` if the call was cancelled.
pub(crate) async fn answer_unless_cancelled(
    answer: ServiceAnswer,
    context: &RequestContext,
) -> Option<Result<Json, RpcError>> {
    // Unwind safe: the answer is not polled again after a panic.
    let mut answer = AssertUnwindSafe(answer).catch_unwind();
    tokio::select! {
        biased;
        () = context.cancellation().cancelled() => {}
        outcome = &mut answer => return Some(outcome.unwrap_or_else(|_| Err(panicked()))),
    }
    drop(tokio::time::timeout(CANCEL_GRACE, answer).await);
    None
}

fn panicked() -> RpcError {
    tracing::error!("the service panicked in a call");
    RpcError::new(envelope::code::INTERNAL, "Internal error: the call panicked")
}

fn method_not_found(call: &ServiceCall) -> ServiceAnswer {
    Box::pin(std::future::ready(Err(RpcError::method_not_found(&call.method))))
}

/// Stores the log level of the session; the service may handle the request, too.
async fn set_level(
    service: Arc<dyn Service>,
    call: ServiceCall,
    session: Arc<LegacySession>,
) -> Result<Json, RpcError> {
    let level = call.param("level").and_then(|level| LogLevel::named(&level.to_text()?));
    let level = level.ok_or_else(|| RpcError::invalid_params("Invalid params: unknown level"))?;
    session.set_level(level);
    match service.handle(call).await {
        Err(error) if error.code == envelope::code::METHOD_NOT_FOUND => Ok(Json::object()),
        outcome => outcome,
    }
}

/// Adds or removes a resource subscription of the session, if the service accepts the request.
async fn update_subscription(
    service: Arc<dyn Service>,
    call: ServiceCall,
    session: Arc<LegacySession>,
) -> Result<Json, RpcError> {
    let uri = call.param("uri").and_then(|uri| uri.to_text());
    let uri = uri.ok_or_else(|| RpcError::invalid_params("Invalid params: uri is required"))?;
    let is_start = call.method == "resources/subscribe";
    let result = service.handle(call).await?;
    if is_start {
        session.subscribe(uri);
    } else {
        session.unsubscribe(&uri);
    }
    Ok(result)
}
