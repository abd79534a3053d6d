//! The three kinds of messages, and the error object.

use std::borrow::Cow;

use bytestring::ByteString;

use super::Id;
use crate::{Json, Members};

/// One JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message {
    /// Expects a response.
    Request(Request),
    /// Expects no response.
    Notification(Notification),
    /// Answers a request.
    Response(Response),
}

/// A message that expects a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    /// The id that the response must have.
    pub(crate) id: Id,
    /// The method.
    pub(crate) method: ByteString,
    /// The parameters, unchanged.
    pub(crate) params: Option<Json>,
}

/// A message that expects no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The method.
    pub method: ByteString,
    /// The parameters, unchanged.
    pub params: Option<Json>,
}

/// The response to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    /// The request's id; `None` if the other side did not know it, or left it out.
    pub(crate) id: Option<Id>,
    /// The result or the error.
    pub(crate) outcome: Result<Json, RpcError>,
}

/// The error codes that Wharf evaluates or sends.
pub mod code {
    /// The message was not JSON.
    pub const PARSE: i64 = -32700;
    /// The message was not a valid request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// There is no such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters are not valid for the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// An internal error.
    pub const INTERNAL: i64 = -32603;
    /// A header does not match the body (2026-07-28).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client lacks a capability that the server needs (2026-07-28).
    pub(crate) const MISSING_CAPABILITY: i64 = -32021;
    /// The server does not support the revision of the request (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// The person must visit a URL before the call can continue (URL elicitation, 2025-11-25).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
}

/// The error object of a JSON-RPC response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct RpcError {
    /// The error code; see [`code`].
    pub code: i64,
    /// The message of the other side: untrusted text.
    pub message: String,
    /// More details, unchanged.
    pub data: Option<Json>,
}

impl RpcError {
    /// Creates an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Creates the error for a method that does not exist.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("Method not found: {method}"))
    }

    /// Creates the error for invalid parameters.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// Adds data.
    #[must_use]
    pub(crate) fn with_data(mut self, data: Json) -> Self {
        self.data = Some(data);
        self
    }

    /// Reads an error object; any other JSON value becomes the message.
    pub(super) fn from_json(error: &Json) -> Self {
        let Some(members) = error.members() else {
            let message = error.to_text().unwrap_or_else(|| error.as_str().to_owned());
            return Self::new(code::INTERNAL, message);
        };
        let message = members
            .text("message")
            .map_or_else(|| "error without a message".into(), Cow::into_owned);
        let data = members.get("data").map(|raw| error.part(raw)).filter(|data| !data.is_null());
        Self { code: code_of(&members), message, data }
    }
}

/// Returns the code as a number, also if a server wrote it as a string or a float.
fn code_of(members: &Members<'_>) -> i64 {
    let Some(raw) = members.get("code") else { return code::INTERNAL };
    let text = raw.get().trim_matches('"');
    #[expect(clippy::cast_possible_truncation, reason = "a code with a fraction has no meaning")]
    text.parse().or_else(|_| text.parse::<f64>().map(|code| code as i64)).unwrap_or(code::INTERNAL)
}
