//! The client of a service: revision, capabilities, info, and requests to it outside of a call.

use std::sync::Arc;
use std::time::Duration;

use super::legacy_session::{LegacySession, SessionId};
use super::message_sink::MessageSink;
use crate::Json;
use crate::envelope::{self, RpcError};
use crate::era::{Era, Revision};

/// A client: of one session in the legacy era, of one request in the modern era. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client(Arc<ClientDetails>);

#[derive(Debug)]
pub(crate) struct ClientDetails {
    pub(crate) revision: Revision,
    pub(crate) capabilities: Json,
    pub(crate) info: Option<Json>,
    pub(crate) session: Option<Arc<LegacySession>>,
}

impl Client {
    pub(crate) fn new(details: ClientDetails) -> Self {
        Self(Arc::new(details))
    }

    /// Returns a client without capabilities and info, before `initialize`.
    pub(crate) fn unknown() -> Self {
        Self::new(ClientDetails {
            revision: Revision::LATEST_LEGACY,
            capabilities: Json::object(),
            info: None,
            session: None,
        })
    }

    /// Returns the protocol revision.
    pub fn revision(&self) -> Revision {
        self.0.revision
    }

    /// Returns the era of that revision.
    pub fn era(&self) -> Era {
        self.0.revision.era()
    }

    /// Returns the capabilities as the client sent them.
    pub fn capabilities(&self) -> &Json {
        &self.0.capabilities
    }

    /// Tells whether the client declared a capability.
    pub fn has_capability(&self, capability: &str) -> bool {
        crate::scan::member(self.0.capabilities.as_str(), capability).is_some_and(|it| it != "null")
    }

    /// Returns the client info as the client sent it.
    pub fn info(&self) -> Option<&Json> {
        self.0.info.as_ref()
    }

    /// Returns the id of its session; modern clients have none.
    pub fn session(&self) -> Option<&SessionId> {
        self.0.session.as_ref().map(|session| session.id())
    }

    pub(crate) fn legacy_session(&self) -> Option<&Arc<LegacySession>> {
        self.0.session.as_ref()
    }

    /// Sends a notification that belongs to no call; fails without a session.
    pub fn notify(&self, method: &str, params: Option<&Json>) -> Result<(), SendError> {
        let session = self.0.session.as_ref().ok_or(SendError::NoSession)?;
        session.sink().send_lossy(envelope::notification(method, params));
        Ok(())
    }

    /// Sends a request outside of any call, and waits at most `within` for the response.
    ///
    /// Dropping the future cancels the request.
    pub async fn request(
        &self,
        method: &str,
        params: Option<&Json>,
        within: Duration,
    ) -> Result<Json, SendError> {
        let session = self.0.session.as_ref().ok_or(SendError::NoSession)?;
        send_request(session, session.sink(), method, params, within).await
    }
}

/// Why a message could not be sent to a client, or was not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// A modern client gets input requests only in an `input_required` result.
    #[error("the client has no session, so the server can only respond to it")]
    NoSession,
    /// The connection or the session has ended.
    #[error("the client is gone")]
    Gone,
    /// The client cancelled the call.
    #[error("the client cancelled the call")]
    Cancelled,
    /// No answer came in time.
    #[error("the client did not answer within {0:?}")]
    TimedOut(Duration),
    /// The client answered with an error.
    #[error("the client answered with an error")]
    ErrorResponse(#[source] RpcError),
}

pub(crate) async fn send_request(
    session: &LegacySession,
    sink: &MessageSink,
    method: &str,
    params: Option<&Json>,
    within: Duration,
) -> Result<Json, SendError> {
    let mut open = session.client_requests().open(sink.clone()).ok_or(SendError::Gone)?;
    let waiting = async {
        sink.send(envelope::request(open.id, method, params)).await?;
        let answer = (&mut open.answer).await.map_err(|_| SendError::Gone)?;
        answer.map_err(SendError::ErrorResponse)
    };
    tokio::time::timeout(within, waiting).await.unwrap_or(Err(SendError::TimedOut(within)))
}
