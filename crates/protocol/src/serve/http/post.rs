//! A message comes in: which era it belongs to, and what is wrong with it if it is refused.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::exchange::{Exchange, Source};
use super::get::{accepts, session};
use super::sessions::HttpSession;
use super::{App, reply, version};
use crate::envelope::{
    self, Malformed, Message, Notification, Received, Request, Response as Answer, RpcError, code,
};
use crate::era::{Era, Revision};
use crate::serve::claims::{Claims, Meta, Named, unsupported_version};
use crate::serve::client::Client;
use crate::serve::discover::{self, Hello};
use crate::serve::headers::{agree, header_mismatch};
use crate::serve::service::Notice;

pub(super) async fn post(app: &Arc<App>, headers: HeaderMap, body: Body) -> Response {
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
    let body = match read(app, body).await {
        Ok(body) => body,
        Err(refusal) => return *refusal,
    };
    match envelope::read(body) {
        Ok(Received::One(message)) => one(app, &headers, message).await,
        Ok(Received::Many { messages, malformed }) => {
            many(app, &headers, messages, malformed).await
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

async fn read(app: &App, body: Body) -> Result<Bytes, Box<Response>> {
    let reading = Limited::new(body, app.options.body_limit).collect();
    let refuse = |status, message| Err(Box::new(reply::plain_error(status, message)));
    match tokio::time::timeout(app.options.body_time, reading).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            refuse(StatusCode::PAYLOAD_TOO_LARGE, "Message too long")
        }
        Ok(Err(_)) => refuse(StatusCode::BAD_REQUEST, "Body broke off"),
        Err(_) => refuse(StatusCode::REQUEST_TIMEOUT, "Body took too long"),
    }
}

async fn one(app: &Arc<App>, headers: &HeaderMap, message: Message) -> Response {
    match message {
        Message::Request(request) => {
            let meta = Meta::of(request.params.as_ref());
            match era(headers, &request, &meta) {
                Era::Modern => modern(app, headers, request, meta).await,
                Era::Legacy if request.method == "initialize" => initialize(app, &request).await,
                Era::Legacy => legacy(app, headers, request, meta).await,
            }
        }
        Message::Notification(it) if super::speaks_modern(headers) => {
            // A modern client cancels by closing the stream, and has nothing else to notify of.
            tracing::debug!(method = %it.method, "notification of a modern client ignored");
            reply::empty(StatusCode::ACCEPTED)
        }
        message => match session(app, headers, None) {
            Err(refusal) => *refusal,
            Ok(session) => {
                let _busy = session.busy();
                match message {
                    Message::Notification(it) => notified(app, &session, it),
                    Message::Response(it) => settle(&session, it),
                    Message::Request(_) => {}
                }
                reply::empty(StatusCode::ACCEPTED)
            }
        },
    }
}

/// Decides which era a request belongs to; one that is wrong in both is told what the modern one wants.
fn era(headers: &HeaderMap, request: &Request, meta: &Meta) -> Era {
    if meta.names() != Named::None {
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

async fn modern(app: &Arc<App>, headers: &HeaderMap, request: Request, meta: Meta) -> Response {
    match checked(headers, &request, &meta) {
        Ok(claims) => {
            let level = claims.level;
            let exchange = Exchange::modern(app, claims.into_client());
            exchange.serve(vec![Source { request, meta, level }], headers).await
        }
        Err(error) => reply::error(StatusCode::BAD_REQUEST, Some(&request.id), &error),
    }
}

/// Checks what a modern request says about itself, in its headers and in its body.
fn checked(headers: &HeaderMap, request: &Request, meta: &Meta) -> Result<Claims, RpcError> {
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
    let claims = meta.claims()?;
    agree(headers, &request.method, request.params.as_ref())?;
    Ok(claims)
}

async fn initialize(app: &Arc<App>, request: &Request) -> Response {
    let id = Some(&request.id);
    let hello = match Hello::read(request.params.as_ref()) {
        Ok(hello) => hello,
        Err(error) => return reply::error(StatusCode::BAD_REQUEST, id, &error),
    };
    let unavailable =
        || reply::refused(StatusCode::SERVICE_UNAVAILABLE, id, "No session can be opened");
    let Ok(session) = HttpSession::new(hello) else { return unavailable() };
    let result = discover::initialize(&app.core, session.client()).await;
    let Some(session) = app.sessions.open(session) else { return unavailable() };
    let mut response = reply::json(StatusCode::OK, envelope::success(&request.id, &result));
    let name = session.client().session().and_then(|name| name.as_str().parse().ok());
    if let Some(name) = name {
        response.headers_mut().insert("mcp-session-id", name);
    }
    response
}

async fn legacy(app: &Arc<App>, headers: &HeaderMap, request: Request, meta: Meta) -> Response {
    match session(app, headers, Some(&request.id)) {
        Ok(session) => {
            let exchange = Exchange::legacy(app, session, 1);
            exchange.serve(vec![Source { request, meta, level: None }], headers).await
        }
        Err(refusal) => *refusal,
    }
}

/// Serves a batch, as the first revisions have them.
async fn many(
    app: &Arc<App>,
    headers: &HeaderMap,
    messages: Vec<Message>,
    malformed: usize,
) -> Response {
    let session = match session(app, headers, None) {
        Ok(session) => session,
        Err(refusal) => return *refusal,
    };
    if session.client().revision() > Revision::V2025_03_26 || malformed > 0 {
        let error = RpcError::new(code::INVALID_REQUEST, "Invalid Request");
        return reply::error(StatusCode::BAD_REQUEST, None, &error);
    }
    let _busy = session.busy();
    let mut requests = Vec::new();
    for message in messages {
        match message {
            Message::Notification(it) => notified(app, &session, it),
            Message::Response(it) => settle(&session, it),
            Message::Request(request) => {
                let meta = Meta::of(request.params.as_ref());
                requests.push(Source { request, meta, level: None });
            }
        }
    }
    if requests.is_empty() {
        return reply::empty(StatusCode::ACCEPTED);
    }
    let exchange = Exchange::legacy(app, Arc::clone(&session), requests.len());
    exchange.batched().serve(requests, headers).await
}

fn notified(app: &App, session: &HttpSession, notification: Notification) {
    let Notification { method, params } = notification;
    let client = session.client().clone();
    if method != "notifications/cancelled" {
        app.core.service().notified(Notice { method, params, client });
    } else if let Some(session) = client.legacy() {
        session.running().cancel(params.as_ref());
    }
}

fn settle(session: &HttpSession, answer: Answer) {
    if let Some(session) = Client::legacy(session.client()) {
        session.asks().settle(answer);
    }
}
