//! Builds HTTP responses.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};

use crate::envelope::{self, Id, RpcError};

/// The JSON-RPC error code for errors on the level of HTTP.
const TRANSPORT_ERROR: i64 = -32000;

pub(super) fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

pub(super) fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// Responds to a request with an error.
pub(super) fn error(status: StatusCode, id: Option<&Id>, error: &RpcError) -> Response {
    json(status, envelope::failure(id, error))
}

/// Responds with an error without a request id.
pub(super) fn plain_error(status: StatusCode, message: &str) -> Response {
    error(status, None, &RpcError::new(TRANSPORT_ERROR, message))
}

/// Responds to a request with an error on the level of HTTP.
pub(super) fn refused(status: StatusCode, id: Option<&Id>, message: &str) -> Response {
    error(status, id, &RpcError::new(TRANSPORT_ERROR, message))
}

pub(super) fn not_allowed(allowed: &'static str) -> Response {
    let mut response = plain_error(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}
