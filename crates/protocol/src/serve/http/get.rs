//! GET and DELETE, which only the legacy era has: the event stream of a session, and its end.

use std::sync::Arc;

use axum::response::Response;
use http::{HeaderMap, StatusCode, header};

use super::event_stream::{StreamOpening, event_stream_response};
use super::http_sessions::HttpSession;
use super::{HttpServerState, reply, text};
use crate::envelope::Id;
use crate::era::Revision;
use crate::serve::client_meta::unsupported_version;

/// Opens the event stream of a session, or resumes a stream after `Last-Event-ID`.
pub(super) fn get(state: &HttpServerState, headers: &HeaderMap) -> Response {
    if !accepts(headers, &["text/event-stream"]) {
        return reply::plain_error(StatusCode::NOT_ACCEPTABLE, "Client must accept event streams");
    }
    let session = match session(state, headers, None) {
        Ok(session) => session,
        Err(refusal) => return *refusal,
    };
    let reader = match text(headers, "last-event-id").filter(|event| !event.is_empty()) {
        None => session.standalone().attach(None),
        Some(event) => match session.resume(event) {
            Some((queue, after)) => queue.attach(Some(after)),
            None => return reply::plain_error(StatusCode::BAD_REQUEST, "Unknown event id"),
        },
    };
    let (options, busy) = (&state.options, session.mark_used());
    event_stream_response(
        reader,
        StreamOpening::Fields,
        options.retry,
        options.keep_alive,
        Some(busy),
    )
}

/// Ends a session.
pub(super) fn delete(state: &HttpServerState, headers: &HeaderMap) -> Response {
    match session(state, headers, None) {
        Ok(session) => {
            if let Some(id) = session.client().session() {
                state.sessions.end(id);
            }
            reply::empty(StatusCode::NO_CONTENT)
        }
        Err(refusal) => *refusal,
    }
}

/// Finds the session of a request by its header; `id` is the request id for an error response.
pub(super) fn session(
    state: &HttpServerState,
    headers: &HeaderMap,
    id: Option<&Id>,
) -> Result<Arc<HttpSession>, Box<Response>> {
    let refuse = |status, message| Err(Box::new(reply::refused(status, id, message)));
    let Some(name) = text(headers, "mcp-session-id") else {
        return refuse(StatusCode::BAD_REQUEST, "Mcp-Session-Id header is required");
    };
    let Some(session) = state.sessions.find(name) else {
        return refuse(StatusCode::NOT_FOUND, "Session not found");
    };
    match super::version(headers) {
        Some(version) if version.parse::<Revision>().is_err() => {
            let error = unsupported_version(version);
            Err(Box::new(reply::error(StatusCode::BAD_REQUEST, id, &error)))
        }
        _ => Ok(session),
    }
}

/// Tells whether the client accepts all of `kinds`; without the header it accepts everything.
pub(super) fn accepts(headers: &HeaderMap, kinds: &[&str]) -> bool {
    let accepted: Vec<&str> = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .map(str::trim)
        .collect();
    let takes = |kind: &&str| {
        let group = kind.split('/').next().unwrap_or_default();
        accepted.iter().any(|range| {
            *range == "*/*"
                || range.eq_ignore_ascii_case(kind)
                || range.strip_suffix("/*").is_some_and(|it| it.eq_ignore_ascii_case(group))
        })
    };
    accepted.is_empty() || kinds.iter().all(takes)
}
