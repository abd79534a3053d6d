//! A server: a service, the clients it has, and the part of the protocol that needs no service.
//!
//! Transports decide who asks and in which era; from there on both go through [`Core::answer`].

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::caller::Caller;
use super::discover;
use super::hub::Announcer;
use super::result::Shape;
use super::running::Lasting;
use super::service::{Answer, Call, Service};
use super::session::Session;
use super::subscribe;
use crate::Json;
use crate::envelope::{self, Id, RpcError};
use crate::era::Era;
use crate::view::LogLevel;

/// How long a cancelled call may take to clean up before it is dropped.
const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// A server of both eras around a [`Service`]. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
/// use wharf_protocol::envelope::RpcError;
/// use wharf_protocol::serve::{Answer, Call, Client, Described, Description};
/// use wharf_protocol::serve::{Server, ServerInfo, Service};
///
/// struct Echo;
///
/// impl Service for Echo {
///     fn info(&self) -> ServerInfo {
///         ServerInfo::new("echo", "1.0.0")
///     }
///
///     fn describe(self: Arc<Self>, _client: Client) -> Described {
///         Box::pin(async { Description::new(r#"{"tools":{}}"#.parse().unwrap()) })
///     }
///
///     fn handle(self: Arc<Self>, call: Call) -> Answer {
///         Box::pin(async move {
///             call.param("arguments").ok_or_else(|| RpcError::method_not_found(&call.method))
///         })
///     }
/// }
///
/// # async fn run() -> std::io::Result<()> {
/// let (input, output) = (tokio::io::empty(), tokio::io::sink());
/// Server::new(Echo).serve_stdio(input, output).await
/// # }
/// ```
#[derive(Clone)]
pub struct Server(Arc<Core>);

impl Server {
    /// Makes a server; nothing runs before it gets a transport.
    pub fn new(service: impl Service) -> Self {
        let info = service.info().into_json();
        Self(Arc::new(Core {
            service: Arc::new(service),
            info,
            announcer: Announcer::default(),
            tracker: TaskTracker::new(),
            closing: CancellationToken::new(),
        }))
    }

    /// Returns the handle to tell clients about changes.
    pub fn announcer(&self) -> &Announcer {
        &self.0.announcer
    }

    /// Ends all subscriptions and streams, and waits at most `grace` for calls under way.
    pub async fn close(&self, grace: Duration) {
        self.0.closing.cancel();
        self.0.tracker.close();
        // What is not done by then is dropped with the runtime.
        drop(tokio::time::timeout(grace, self.0.tracker.wait()).await);
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.0
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Server").finish_non_exhaustive()
    }
}

pub(crate) struct Core {
    service: Arc<dyn Service>,
    info: Json,
    announcer: Announcer,
    tracker: TaskTracker,
    closing: CancellationToken,
}

impl Core {
    pub(crate) fn service(&self) -> Arc<dyn Service> {
        Arc::clone(&self.service)
    }

    pub(crate) fn info(&self) -> &Json {
        &self.info
    }

    pub(crate) fn announcer(&self) -> &Announcer {
        &self.announcer
    }

    pub(crate) fn tracker(&self) -> &TaskTracker {
        &self.tracker
    }

    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// Starts answering a call; nothing happens before the future is polled.
    pub(crate) fn answer(self: &Arc<Self>, call: Call) -> Answer {
        match call.caller.client().era() {
            Era::Modern => self.modern(call),
            Era::Legacy => self.legacy(call),
        }
    }

    fn modern(self: &Arc<Self>, call: Call) -> Answer {
        let core = Arc::clone(self);
        match call.method.as_ref() {
            "server/discover" => {
                Box::pin(async move { Ok(discover::discover(&core, &call).await) })
            }
            "subscriptions/listen" => Box::pin(async move { subscribe::listen(&core, call).await }),
            // These were taken out of the protocol, so no service is bothered with them.
            "initialize"
            | "ping"
            | "logging/setLevel"
            | "resources/subscribe"
            | "resources/unsubscribe"
            | "tasks/list"
            | "tasks/result" => unknown(&call),
            _ => self.service().handle(call),
        }
    }

    fn legacy(&self, call: Call) -> Answer {
        if call.method == "ping" {
            return Box::pin(std::future::ready(Ok(Json::object())));
        }
        let Some(session) = call.caller.client().legacy().cloned() else { return unknown(&call) };
        match call.method.as_ref() {
            "server/discover" | "subscriptions/listen" => unknown(&call),
            "logging/setLevel" => Box::pin(set_level(self.service(), call, session)),
            "resources/subscribe" | "resources/unsubscribe" => {
                Box::pin(watch(self.service(), call, session))
            }
            _ => self.service().handle(call),
        }
    }

    /// Writes the answer to a call, completed to what its revision demands.
    pub(crate) fn written(
        &self,
        id: &Id,
        shape: Shape,
        outcome: Result<Json, RpcError>,
    ) -> Vec<u8> {
        match outcome {
            Ok(result) => envelope::success(id, &shape.complete(result, &self.info)),
            Err(error) => envelope::failure(Some(id), &error),
        }
    }
}

/// Returns what the answer to a call must have.
pub(crate) fn shape(call: &Call) -> Shape {
    match call.caller.client().era() {
        Era::Modern => Shape::of_modern(&call.method),
        Era::Legacy => Shape::AsIs,
    }
}

/// Tells whether a call ends by itself.
pub(crate) fn lasting(call: &Call) -> Lasting {
    if call.method == "subscriptions/listen" { Lasting::UntilEnded } else { Lasting::Briefly }
}

/// Returns the answer if it needs no waiting.
pub(crate) async fn at_once(answer: &mut Answer) -> Option<Result<Json, RpcError>> {
    std::future::poll_fn(|context| {
        Poll::Ready(match answer.as_mut().poll(context) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        })
    })
    .await
}

/// Waits for an answer; `None` if the call was cancelled, because then nobody wants it.
pub(crate) async fn wanted(mut answer: Answer, caller: &Caller) -> Option<Result<Json, RpcError>> {
    tokio::select! {
        biased;
        () = caller.cancellation().cancelled() => {}
        outcome = &mut answer => return Some(outcome),
    }
    drop(tokio::time::timeout(CANCEL_GRACE, answer).await);
    None
}

fn unknown(call: &Call) -> Answer {
    Box::pin(std::future::ready(Err(RpcError::method_not_found(&call.method))))
}

/// Remembers the severity for the session; a service may want to know it too, but need not.
async fn set_level(
    service: Arc<dyn Service>,
    call: Call,
    session: Arc<Session>,
) -> Result<Json, RpcError> {
    let level = call.param("level").and_then(|level| LogLevel::named(&level.to_text()?));
    let level = level.ok_or_else(|| RpcError::invalid_params("Invalid params: unknown level"))?;
    session.set_level(level);
    match service.handle(call).await {
        Err(error) if error.code == envelope::code::METHOD_NOT_FOUND => Ok(Json::object()),
        outcome => outcome,
    }
}

/// Remembers for the session what the service agreed to.
async fn watch(
    service: Arc<dyn Service>,
    call: Call,
    session: Arc<Session>,
) -> Result<Json, RpcError> {
    let uri = call.param("uri").and_then(|uri| uri.to_text());
    let uri = uri.ok_or_else(|| RpcError::invalid_params("Invalid params: uri is required"))?;
    let is_start = call.method == "resources/subscribe";
    let result = service.handle(call).await?;
    if is_start {
        session.watch(uri);
    } else {
        session.unwatch(&uri);
    }
    Ok(result)
}
