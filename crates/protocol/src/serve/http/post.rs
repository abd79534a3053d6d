//! POST: validates an incoming message, decides its era and dispatches it.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::get::{accepts, session};
use super::http_sessions::HttpSession;
use super::post_exchange::{IncomingRequest, PostExchange};
use super::{HttpServerState, reply, version};
use crate::envelope::{
    self, Malformed, Message, Notification, Received, Request, Response as RpcResponse, RpcError,
    code,
};
use crate::era::{Era, Revision};
use crate::serve::client::Client;
use crate::serve::client_meta::{ClientMeta, NamedRevision, ParamsMeta, unsupported_version};
use crate::serve::handshake::{self, InitializeParams};
use crate::serve::headers::{check_headers_match_body, header_mismatch};
use crate::serve::service::ClientNotification;

pub(super) async fn post(state: &Arc<HttpServerState>, headers: HeaderMap, body: Body) -> Response {
    let is_json = super::text(&headers, header::CONTENT_TYPE.as_str())
        .and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    if !is_json {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return reply::plain_error(status, "Content-Type must be application/json");
    }
    if !accepts(&headers, &["application/json", "text/event-stream"]) {
        let wanted = "Client must accept application/json and text/event-stream";
        return reply::plain_error(StatusCode::NOT_ACCEPTABLE, wanted);
    }
    let body = match read(state, body).await {
        Ok(body) => body,
        Err(refusal) => return *refusal,
    };
    match envelope::read(body) {
        Ok(Received::One(message)) => one(state, &headers, message).await,
        Ok(Received::Many { messages, malformed }) => {
            many(state, &headers, messages, malformed).await
        }
        Err(why) => {
            let error = match why {
                Malformed::NotJson => RpcError::new(code::PARSE, "Parse error"),
                Malformed::NotAMessage => RpcError::new(code::INVALID_REQUEST, "Invalid Request"),
            };
            reply::error(StatusCode::BAD_REQUEST, None, &error)
        }
    }
}

async fn read(state: &HttpServerState, body: Body) -> Result<Bytes, Box<Response>> {
    let reading = Limited::new(body, state.options.body_limit).collect();
    let refuse = |status, message| Err(Box::new(reply::plain_error(status, message)));
    match tokio::time::timeout(state.options.body_timeout, reading).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            refuse(StatusCode::PAYLOAD_TOO_LARGE, "Message too long")
        }
        Ok(Err(_)) => refuse(StatusCode::BAD_REQUEST, "Body ended early"),
        Err(_) => refuse(StatusCode::REQUEST_TIMEOUT, "Body took too long"),
    }
}

async fn one(state: &Arc<HttpServerState>, headers: &HeaderMap, message: Message) -> Response {
    match message {
        Message::Request(request) => {
            let meta = ParamsMeta::of(request.params.as_ref());
            match era(headers, &request, &meta) {
                Era::Modern => modern(state, headers, request, meta).await,
                Era::Legacy if request.method == "initialize" => initialize(state, &request).await,
                Era::Legacy => legacy(state, headers, request, meta).await,
            }
        }
        Message::Notification(it) if super::speaks_modern(headers) => {
            // A modern client cancels by closing the stream, and sends no other notifications.
            tracing::debug!(method = %it.method, "notification of a modern client ignored");
            reply::empty(StatusCode::ACCEPTED)
        }
        message => match session(state, headers, None) {
            Err(refusal) => *refusal,
            Ok(session) => {
                let _busy = session.mark_used();
                match message {
                    Message::Notification(it) => handle_notification(state, &session, it),
                    Message::Response(it) => resolve_client_request(&session, it),
                    Message::Request(_) => {}
                }
                reply::empty(StatusCode::ACCEPTED)
            }
        },
    }
}

/// Decides the era of a request; a request that is invalid in both eras gets a modern error.
fn era(headers: &HeaderMap, request: &Request, meta: &ParamsMeta) -> Era {
    if meta.named_revision() != NamedRevision::None {
        return Era::Modern;
    }
    if request.method == "initialize" || headers.contains_key("mcp-session-id") {
        return Era::Legacy;
    }
    let is_legacy_name = |version: &str| {
        version.parse().is_ok_and(|revision: Revision| revision.era() == Era::Legacy)
    };
    let is_modern_method =
        matches!(request.method.as_ref(), "server/discover" | "subscriptions/listen");
    match version(headers) {
        Some(version) if !is_legacy_name(version) => Era::Modern,
        None if is_modern_method => Era::Modern,
        _ => Era::Legacy,
    }
}

async fn modern(
    state: &Arc<HttpServerState>,
    headers: &HeaderMap,
    request: Request,
    meta: ParamsMeta,
) -> Response {
    match checked(headers, &request, &meta) {
        Ok(client_meta) => {
            let level = client_meta.level;
            let exchange = PostExchange::modern(state, client_meta.into_client());
            exchange.serve(vec![IncomingRequest { request, meta, level }], headers).await
        }
        Err(error) => reply::error(StatusCode::BAD_REQUEST, Some(&request.id), &error),
    }
}

/// Validates the headers and the `_meta` of a modern request.
fn checked(
    headers: &HeaderMap,
    request: &Request,
    meta: &ParamsMeta,
) -> Result<ClientMeta, RpcError> {
    match (version(headers), meta.version()) {
        (None, _) => return Err(header_mismatch("MCP-Protocol-Version is required")),
        (Some(header), Some(body)) if *header != *body => {
            return Err(header_mismatch("MCP-Protocol-Version does not match _meta"));
        }
        (Some(header), None) if header.parse::<Revision>().is_err() => {
            return Err(unsupported_version(header));
        }
        _ => {}
    }
    let client_meta = meta.client_meta()?;
    check_headers_match_body(headers, &request.method, request.params.as_ref())?;
    Ok(client_meta)
}

async fn initialize(state: &Arc<HttpServerState>, request: &Request) -> Response {
    let id = Some(&request.id);
    let params = match InitializeParams::read(request.params.as_ref()) {
        Ok(params) => params,
        Err(error) => return reply::error(StatusCode::BAD_REQUEST, id, &error),
    };
    let unavailable =
        || reply::refused(StatusCode::SERVICE_UNAVAILABLE, id, "Could not open a session");
    let Ok(session) = HttpSession::new(params) else { return unavailable() };
    let result = handshake::initialize(&state.core, session.client()).await;
    let Some(session) = state.sessions.open(session) else { return unavailable() };
    let mut response = reply::json(StatusCode::OK, envelope::success(&request.id, &result));
    let name = session.client().session().and_then(|name| name.as_str().parse().ok());
    if let Some(name) = name {
        response.headers_mut().insert("mcp-session-id", name);
    }
    response
}

async fn legacy(
    state: &Arc<HttpServerState>,
    headers: &HeaderMap,
    request: Request,
    meta: ParamsMeta,
) -> Response {
    match session(state, headers, Some(&request.id)) {
        Ok(session) => {
            let exchange = PostExchange::legacy(state, session, 1);
            exchange.serve(vec![IncomingRequest { request, meta, level: None }], headers).await
        }
        Err(refusal) => *refusal,
    }
}

/// Handles a batch (revisions up to 2025-03-26).
async fn many(
    state: &Arc<HttpServerState>,
    headers: &HeaderMap,
    messages: Vec<Message>,
    malformed: usize,
) -> Response {
    let session = match session(state, headers, None) {
        Ok(session) => session,
        Err(refusal) => return *refusal,
    };
    if session.client().revision() > Revision::V2025_03_26 || malformed > 0 {
        let error = RpcError::new(code::INVALID_REQUEST, "Invalid Request");
        return reply::error(StatusCode::BAD_REQUEST, None, &error);
    }
    let _busy = session.mark_used();
    let mut requests = Vec::new();
    for message in messages {
        match message {
            Message::Notification(it) => handle_notification(state, &session, it),
            Message::Response(it) => resolve_client_request(&session, it),
            Message::Request(request) => {
                let meta = ParamsMeta::of(request.params.as_ref());
                requests.push(IncomingRequest { request, meta, level: None });
            }
        }
    }
    if requests.is_empty() {
        return reply::empty(StatusCode::ACCEPTED);
    }
    let exchange = PostExchange::legacy(state, Arc::clone(&session), requests.len());
    exchange.batched().serve(requests, headers).await
}

fn handle_notification(state: &HttpServerState, session: &HttpSession, notification: Notification) {
    let Notification { method, params } = notification;
    let client = session.client().clone();
    if method != "notifications/cancelled" {
        state.core.service().handle_notification(ClientNotification { method, params, client });
    } else if let Some(session) = client.legacy_session() {
        session.running_calls().cancel(params.as_ref());
    }
}

fn resolve_client_request(session: &HttpSession, answer: RpcResponse) {
    if let Some(session) = Client::legacy_session(session.client()) {
        session.client_requests().resolve(answer);
    }
}
