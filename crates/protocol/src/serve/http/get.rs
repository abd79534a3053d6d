//! What only the older era has: the stream that a client opens itself, and the end of a session.

use std::sync::Arc;

use axum::response::Response;
use http::{HeaderMap, StatusCode, header};

use super::event_stream::{StreamOpening, event_stream_response};
use super::http_sessions::HttpSession;
use super::{App, reply, text};
use crate::envelope::Id;
use crate::era::Revision;
use crate::serve::client_meta::unsupported_version;

/// Opens the stream of a session, or takes one up again behind the event that the client names.
pub(super) fn get(app: &App, headers: &HeaderMap) -> Response {
    if !accepts(headers, &["text/event-stream"]) {
        return reply::plain_error(StatusCode::NOT_ACCEPTABLE, "Client must accept event streams");
    }
    let session = match session(app, headers, None) {
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
    let opening = (StreamOpening::Fields, app.options.retry);
    event_stream_response(reader, opening, app.options.keep_alive, Some(session.mark_used()))
}

/// Ends a session.
pub(super) fn delete(app: &App, headers: &HeaderMap) -> Response {
    match session(app, headers, None) {
        Ok(session) => {
            if let Some(id) = session.client().session() {
                app.sessions.end(id);
            }
            reply::empty(StatusCode::NO_CONTENT)
        }
        Err(refusal) => *refusal,
    }
}

/// Finds the session that the headers name; `id` is that of the request, for the refusal.
pub(super) fn session(
    app: &App,
    headers: &HeaderMap,
    id: Option<&Id>,
) -> Result<Arc<HttpSession>, Box<Response>> {
    let refuse = |status, message| Err(Box::new(reply::refused(status, id, message)));
    let Some(name) = text(headers, "mcp-session-id") else {
        return refuse(StatusCode::BAD_REQUEST, "Mcp-Session-Id header is required");
    };
    let Some(session) = app.sessions.find(name) else {
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

/// Tells whether the client takes all of `kinds`; one that says nothing takes everything.
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
