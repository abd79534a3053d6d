//! The context of one request: its client, notifications, progress, requests to the client, and
//! cancellation.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::change_notifier::ChangeNotifier;
use super::client::{self, Client, SendError};
use super::client_meta::ParamsMeta;
use super::message_sink::MessageSink;
use crate::Json;
use crate::envelope::{self, Id};
use crate::era::Era;
use crate::view::LogLevel;
use crate::view::send::{encode, object};

/// The context of a call: the client, and messages to it during the call. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RequestContext(Arc<ContextFields>);

#[derive(Debug)]
pub(crate) struct ContextFields {
    pub(crate) client: Client,
    pub(crate) id: Id,
    pub(crate) sink: MessageSink,
    pub(crate) token: CancellationToken,
    /// The log level of a modern request; without one it gets no log messages.
    pub(crate) level: Option<LogLevel>,
    pub(crate) meta: ParamsMeta,
    pub(crate) change_notifier: ChangeNotifier,
}

impl RequestContext {
    pub(crate) fn new(inner: ContextFields) -> Self {
        Self(Arc::new(inner))
    }

    /// Returns the client.
    pub fn client(&self) -> &Client {
        &self.0.client
    }

    /// Returns the id of the request.
    pub fn id(&self) -> &Id {
        &self.0.id
    }

    /// Returns the token that fires when the call is cancelled.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.0.token
    }

    /// Returns the handle for notifying all clients of a change.
    pub fn change_notifier(&self) -> &ChangeNotifier {
        &self.0.change_notifier
    }

    pub(crate) fn sink(&self) -> &MessageSink {
        &self.0.sink
    }

    /// Returns the progress token, if the client wants progress notifications.
    pub fn progress_token(&self) -> Option<Json> {
        self.0.meta.progress_token()
    }

    /// Sends a notification that belongs to this call; waits while the client is slow to read.
    ///
    /// A log message below the level of the client is silently dropped.
    pub async fn notify(&self, method: &str, params: Option<&Json>) -> Result<(), SendError> {
        if method == "notifications/message" && !self.wants_log(params) {
            return Ok(());
        }
        self.0.sink.send(envelope::notification(method, params)).await
    }

    /// Sends a progress notification, if the client wants them.
    pub async fn progress(&self, progress: CallProgress<'_>) -> Result<(), SendError> {
        let Some(token) = self.progress_token() else { return Ok(()) };
        let params = object([
            ("progressToken", Some(token)),
            ("progress", Some(encode(&progress.progress))),
            ("total", progress.total.as_ref().map(encode)),
            ("message", progress.message.map(encode)),
        ]);
        self.notify("notifications/progress", Some(&params)).await
    }

    /// Sends a log message, if the client wants messages of this level.
    pub async fn log(&self, level: LogLevel, data: &Json) -> Result<(), SendError> {
        let params =
            object([("level", Some(encode(level.as_str()))), ("data", Some(data.clone()))]);
        self.notify("notifications/message", Some(&params)).await
    }

    /// Sends a request to the client and waits at most `within` for the response.
    ///
    /// Only legacy clients accept requests. The request is cancelled when the call is cancelled or
    /// the future is dropped.
    pub async fn request(
        &self,
        method: &str,
        params: Option<&Json>,
        within: Duration,
    ) -> Result<Json, SendError> {
        let session = self.0.client.legacy_session().ok_or(SendError::NoSession)?;
        let response = client::send_request(session, &self.0.sink, method, params, within);
        tokio::select! {
            biased;
            answer = response => answer,
            () = self.0.token.cancelled() => Err(SendError::Cancelled),
        }
    }

    fn wants_log(&self, params: Option<&Json>) -> bool {
        let wanted = match self.0.client.era() {
            Era::Modern => match self.0.level {
                Some(level) => level,
                None => return false,
            },
            Era::Legacy => match self.0.client.legacy_session().and_then(|session| session.level())
            {
                Some(level) => level,
                None => return true,
            },
        };
        let level = params.and_then(|params| params.get("level")?.to_text());
        level.and_then(|level| LogLevel::named(&level)).is_none_or(|level| level >= wanted)
    }
}

/// The progress of a call.
#[derive(Debug, Clone, Copy)]
pub struct CallProgress<'a> {
    /// How much is done; must increase with every notification.
    pub progress: f64,
    /// How much there is to do in total, if known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<&'a str>,
}
