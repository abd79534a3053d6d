//! Reads the response to a request: a JSON body, or an event stream up to the response.
//!
//! A legacy stream that breaks after an event with an id is resumed from that event. All other
//! messages on a stream are routed by the session.

use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use tokio::sync::oneshot;

use super::exchange::StreamableHttp;
use super::session::SessionSnapshot;
use super::stream::{MAX_RETRY, ResumePoint};
use crate::Json;
use crate::envelope::{self, Id, Message, Received, Response as RpcResponse, RpcError};
use crate::http_client::{Body, HttpError, HttpResponse};
use crate::session::{Arrival, RequestError, RequestOutcome, SessionViolation};
use crate::transport::event_stream::EventStream;
use crate::transport::events::{EventParser, SseEvent};

/// A request whose response is being read.
pub(super) struct ResponseReader<'a> {
    pub(super) http: &'a Arc<StreamableHttp>,
    pub(super) id: u64,
    pub(super) snapshot: &'a SessionSnapshot,
}

/// Where a message comes from.
#[derive(Clone, Copy)]
enum MessageSource {
    /// The whole body of a response.
    Body,
    /// One of the events on a stream.
    Event,
}

impl ResponseReader<'_> {
    /// Reads the response; `None` if the server accepted the request with an empty body.
    pub(super) async fn read(
        &self,
        response: HttpResponse,
        answer: &mut oneshot::Receiver<RequestOutcome>,
    ) -> Result<Option<Json>, RequestError> {
        if has_content_type(&response.headers, "text/event-stream") {
            return self.read_events(response.body, answer).await.map(Some);
        }
        let status = response.status;
        let is_json = has_content_type(&response.headers, "application/json");
        let limit = self.http.core.limits.message;
        let body = response.body.collect(limit).await.map_err(|error| self.body_error(error))?;
        if body.trim_ascii().is_empty() {
            return if status == StatusCode::ACCEPTED || status == StatusCode::NO_CONTENT {
                Ok(None)
            } else {
                Err(RequestError::InvalidResponse("the body is empty".into()))
            };
        }
        if let Some(outcome) = self.find_outcome(&body, MessageSource::Body) {
            if !is_json {
                self.warn("sends JSON without `Content-Type: application/json`");
            }
            return outcome.map(Some);
        }
        // Some servers send events without `Content-Type: text/event-stream`.
        let mut parser = EventParser::new(limit);
        parser.push(body.clone());
        while let Ok(Some(event)) = parser.next_event() {
            if let Some(outcome) = self.find_outcome(&event.data, MessageSource::Event) {
                return outcome.map(Some);
            }
        }
        match status {
            StatusCode::ACCEPTED => Ok(None),
            _ if is_answer(&body) => {
                Err(RequestError::InvalidResponse("the result has another id".into()))
            }
            _ => Err(RequestError::InvalidResponse("it is not a JSON-RPC message".into())),
        }
    }

    /// Looks for the response to this request in one text, and routes all other messages in it.
    fn find_outcome(
        &self,
        text: &Bytes,
        source: MessageSource,
    ) -> Option<Result<Json, RequestError>> {
        let core = &self.http.core;
        let arrival = Arrival::ResponseTo(self.id);
        let mut found = None;
        let mut take = |message: Message, is_alone: bool| match message {
            Message::Response(RpcResponse { id, outcome }) if found.is_none() => {
                let named = id.as_ref().and_then(Id::as_sent_number);
                let is_open = |id| core.pending.is_open(id);
                let is_ours = match (source, &outcome) {
                    // Without an id it is hardly meant for another request. A result with another
                    // id is not the result of this request.
                    (MessageSource::Event, _) | (_, Ok(_)) => is_alone && id.is_none(),
                    // Some servers put a text in place of the id of an error. Such an error is
                    // inconclusive, but its message is better than none.
                    (MessageSource::Body, Err(_)) => is_alone && !named.is_some_and(is_open),
                };
                if named == Some(self.id) || is_ours {
                    let is_named = named == Some(self.id);
                    if !is_named {
                        core.violations.add(SessionViolation::MissingId);
                    }
                    found = Some(outcome.map_err(|error| {
                        if is_named {
                            RequestError::ErrorResponse(error)
                        } else {
                            RequestError::Inconclusive { error, status: None }
                        }
                    }));
                } else {
                    core.receive(
                        Received::One(Message::Response(RpcResponse { id, outcome })),
                        self.http,
                        arrival,
                    );
                }
            }
            other => core.receive(Received::One(other), self.http, arrival),
        };
        match core.read(text) {
            Some(Received::One(message)) => take(message, true),
            Some(Received::Many { messages, malformed }) => {
                if malformed > 0 {
                    core.violations.add(SessionViolation::JunkOutput);
                }
                for message in messages {
                    take(message, false);
                }
            }
            None => {}
        }
        found
    }

    async fn read_events(
        &self,
        body: Body,
        answer: &mut oneshot::Receiver<RequestOutcome>,
    ) -> Result<Json, RequestError> {
        let limit = self.http.core.limits.message;
        let mut resume_point = ResumePoint::default();
        let mut events = EventStream::new(body, limit);
        loop {
            let broken = tokio::select! {
                biased;
                found = self.events_until_answer(&mut events, &mut resume_point) => match found {
                    Ok(outcome) => {
                        events.body.release();
                        return outcome;
                    }
                    Err(broken) => broken,
                },
                elsewhere = wait_for_other_stream(answer) => return elsewhere,
            };
            // A modern stream cannot be resumed, nor one whose events have no ids.
            if self.snapshot.is_modern() || resume_point.last.is_none() {
                return Err(broken);
            }
            let resumed = async {
                tokio::time::sleep(resume_point.retry().min(MAX_RETRY)).await;
                self.http.get_stream(&resume_point).await
            };
            let body = tokio::select! {
                biased;
                elsewhere = wait_for_other_stream(answer) => return elsewhere,
                resumed = resumed => resumed.map_err(|_| broken)?,
            };
            events = EventStream::new(body, limit);
        }
    }

    /// Reads events up to the response; the outer error is why the stream broke before it.
    async fn events_until_answer(
        &self,
        events: &mut EventStream,
        resume_point: &mut ResumePoint,
    ) -> Result<Result<Json, RequestError>, RequestError> {
        while let Some(event) = events.next().await? {
            if let Some(outcome) = self.take_event(&event, resume_point) {
                return Ok(outcome);
            }
        }
        // Some servers forget the empty line after their last event.
        if let Ok(Some(event)) = events.parser.finish()
            && let Some(outcome) = self.take_event(&event, resume_point)
        {
            self.warn("ends the stream without an empty line after the last event");
            return Ok(outcome);
        }
        Err(RequestError::StreamEnded)
    }

    fn take_event(
        &self,
        event: &SseEvent,
        resume_point: &mut ResumePoint,
    ) -> Option<Result<Json, RequestError>> {
        resume_point.note(event);
        if event.data.trim_ascii().is_empty() {
            return None;
        }
        let is_message = event.is_message();
        let outcome = self.find_outcome(&event.data, MessageSource::Event);
        if outcome.is_some() && !is_message {
            self.warn("sends responses in events of a type other than `message`");
        }
        outcome
    }

    fn warn(&self, what: &str) {
        self.http.core.violations.add(SessionViolation::Other(what.into()));
    }

    fn body_error(&self, error: HttpError) -> RequestError {
        match error {
            HttpError::TooLarge { .. } => {
                RequestError::TooLarge { limit: self.http.core.limits.message }
            }
            error => error.into(),
        }
    }
}

/// Waits for the response on another stream.
async fn wait_for_other_stream(
    answer: &mut oneshot::Receiver<RequestOutcome>,
) -> Result<Json, RequestError> {
    match answer.await {
        Ok(found) => found.into_result(),
        // The entry was removed without a response; the stream itself may still have it.
        Err(_) => std::future::pending().await,
    }
}

/// Tells whether a response has this content type.
pub(super) fn has_content_type(headers: &HeaderMap, kind: &str) -> bool {
    let found = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    found.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(kind)
}

/// Which request a JSON-RPC error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorSubject {
    /// The request of this HTTP response.
    ThisRequest,
    /// Unknown: the error has no usable id.
    Unknown,
}

/// Finds the JSON-RPC error in the body of an error response.
pub(super) fn rpc_error_in(body: &Bytes, id: u64) -> Option<(RpcError, ErrorSubject)> {
    match envelope::read(body.clone()).ok()? {
        Received::One(Message::Response(RpcResponse { id: named, outcome: Err(error) })) => {
            match named.as_ref().and_then(Id::as_sent_number) {
                Some(named) if named == id => Some((error, ErrorSubject::ThisRequest)),
                Some(_) => None,
                None => Some((error, ErrorSubject::Unknown)),
            }
        }
        _ => None,
    }
}

/// Tells whether a body is one JSON-RPC response, to whatever request.
fn is_answer(body: &Bytes) -> bool {
    matches!(envelope::read(body.clone()), Ok(Received::One(Message::Response(_))))
}

/// Tells whether the body of an error response has the JSON-RPC response to this request.
pub(super) fn is_answer_to(body: &Bytes, id: u64) -> bool {
    let is_ours = |message: &Message| match message {
        Message::Response(answer) => answer.id.as_ref().and_then(Id::as_sent_number) == Some(id),
        _ => false,
    };
    match envelope::read(body.clone()) {
        Ok(Received::One(message)) => is_ours(&message),
        Ok(Received::Many { messages, .. }) => messages.iter().any(is_ours),
        Err(_) => false,
    }
}
