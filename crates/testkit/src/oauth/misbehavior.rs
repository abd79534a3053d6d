//! What an endpoint does instead of its duty, and how the response is made.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::stream;
use http::{StatusCode, header};
use serde_json::Value;

/// The endpoints that can misbehave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OAuthEndpoint {
    /// The metadata of the protected resource (RFC 9728).
    ResourceMetadata,
    /// The metadata of the authorization server (RFC 8414 and `OpenID` Connect).
    ServerMetadata,
    /// The authorization endpoint. An edit changes the parameters of the redirect.
    Authorize,
    /// The token endpoint.
    Token,
    /// Dynamic client registration.
    Register,
    /// The device authorization endpoint.
    Device,
    /// Token revocation.
    Revoke,
    /// The MCP server. An edit changes the parameters of the challenge, if there is one.
    Mcp,
}

/// What an endpoint does instead of its duty.
#[derive(Clone)]
pub enum Misbehavior {
    /// Does its duty, and changes the JSON of the response.
    Edit(Arc<dyn Fn(&mut Value) + Send + Sync>),
    /// Answers with this status, content type and body.
    Answer(u16, &'static str, String),
    /// Redirects to this address, with a status that keeps method and body.
    Redirect(String),
    /// Redirects to itself, each time with another query.
    RedirectLoop,
    /// Answers with a JSON text of this many bytes.
    Huge(usize),
    /// Starts an answer that never ends.
    Endless,
    /// Never answers.
    Silent,
    /// Closes the connection in the middle of the answer.
    Abort,
    /// Does its duty after this time.
    Delay(Duration),
}

impl Misbehavior {
    /// Does the duty, and changes the JSON of the response.
    ///
    /// ```
    /// use wharf_testkit::oauth::Misbehavior;
    ///
    /// let expires_in_the_past = Misbehavior::edit(|answer| answer["expires_in"] = (-5).into());
    /// ```
    pub fn edit(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        Self::Edit(Arc::new(change))
    }

    /// Answers with a status and a JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::Answer(status, "application/json", body.to_string())
    }

    /// Returns the response, unless the endpoint does its duty (perhaps later, or changed).
    pub(super) async fn response(&self, path: &str) -> Option<Response> {
        match self {
            Self::Edit(_) => None,
            Self::Answer(status, kind, body) => Some(answer(*status, kind, body.clone().into())),
            Self::Redirect(to) => Some(redirect(StatusCode::TEMPORARY_REDIRECT, to)),
            Self::RedirectLoop => {
                let again = format!("{path}{}again", if path.contains('?') { '&' } else { '?' });
                Some(redirect(StatusCode::TEMPORARY_REDIRECT, &again))
            }
            Self::Huge(bytes) => {
                let body = format!("{{\"padding\":\"{}\"}}", "x".repeat(*bytes));
                Some(answer(200, "application/json", body.into()))
            }
            Self::Endless => {
                let drops = stream::unfold((), |()| async {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    Some((Ok::<_, io::Error>(Bytes::from_static(b" ")), ()))
                });
                Some(answer(200, "application/json", Body::from_stream(drops)))
            }
            Self::Silent => std::future::pending().await,
            Self::Abort => {
                let parts = [
                    Ok(Bytes::from_static(b"{\"cut\":")),
                    Err(io::Error::from(io::ErrorKind::ConnectionAborted)),
                ];
                Some(answer(200, "application/json", Body::from_stream(stream::iter(parts))))
            }
            Self::Delay(time) => {
                tokio::time::sleep(*time).await;
                None
            }
        }
    }

    /// Changes the JSON of a response, if that is the misbehavior.
    pub(super) fn change(&self, json: &mut Value) {
        if let Self::Edit(change) = self {
            change(json);
        }
    }
}

impl fmt::Debug for Misbehavior {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Edit(_) => "Edit",
            Self::Answer(..) => "Answer",
            Self::Redirect(_) => "Redirect",
            Self::RedirectLoop => "RedirectLoop",
            Self::Huge(_) => "Huge",
            Self::Endless => "Endless",
            Self::Silent => "Silent",
            Self::Abort => "Abort",
            Self::Delay(_) => "Delay",
        })
    }
}

/// Returns a response that redirects.
pub(super) fn redirect(status: StatusCode, to: &str) -> Response {
    let response = Response::builder().status(status).header(header::LOCATION, to);
    response.body(Body::empty()).unwrap_or_default()
}

/// Returns a response with a body that nobody may store.
pub(super) fn answer(status: u16, kind: &str, body: Body) -> Response {
    let response = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, kind)
        .header(header::CACHE_CONTROL, "no-store");
    response.body(body).unwrap_or_default()
}
