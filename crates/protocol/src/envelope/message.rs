//! The three kinds of messages, and the error object.

use std::borrow::Cow;

use bytestring::ByteString;

use super::Id;
use crate::{Json, Members};

/// One JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// Is an answer.
    Response(Response),
}

/// A message that wants an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// To be put on the answer.
    pub id: Id,
    /// What is wanted.
    pub method: ByteString,
    /// Its parameters, as they came.
    pub params: Option<Json>,
}

/// A message that wants no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// What happened.
    pub method: ByteString,
    /// Its parameters, as they came.
    pub params: Option<Json>,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The request's id; `None` if the other side could not tell, or forgot.
    pub id: Option<Id>,
    /// The result or the error.
    pub outcome: Result<Json, RpcError>,
}

/// Numbers of errors that mean something to us.
pub mod code {
    /// The message was no JSON.
    pub const PARSE: i64 = -32700;
    /// The message was no request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// There is no such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit.
    pub const INVALID_PARAMS: i64 = -32602;
    /// Something went wrong inside.
    pub const INTERNAL: i64 = -32603;
    /// A header does not agree with the body (2026-07-28).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client lacks a capability that the server needs (2026-07-28).
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The server does not speak the revision that was used (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// A page has to be visited before the call can go on (2025-11-25).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
}

/// An error that the other side answered with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct RpcError {
    /// Its number; see [`code`].
    pub code: i64,
    /// What the other side says about it: foreign text.
    pub message: String,
    /// More about it, as it came.
    pub data: Option<Json>,
}

impl RpcError {
    /// Makes an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Makes the error for a method that does not exist.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("Method not found: {method}"))
    }

    /// Makes the error for parameters that do not fit.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// Adds data.
    #[must_use]
    pub fn with_data(mut self, data: Json) -> Self {
        self.data = Some(data);
        self
    }

    /// Reads an error object, or whatever a server put in its place.
    pub(super) fn from_json(error: &Json) -> Self {
        let Some(members) = error.members() else {
            let message = error.to_text().unwrap_or_else(|| error.as_str().to_owned());
            return Self::new(code::INTERNAL, message);
        };
        let message = members.text("message").map_or_else(|| "no message".into(), Cow::into_owned);
        let data = members.get("data").map(|raw| error.part(raw)).filter(|data| !data.is_null());
        Self { code: code_of(&members), message, data }
    }
}

/// The code as a number, also when a server wrote it as a text or a float.
fn code_of(members: &Members<'_>) -> i64 {
    let Some(raw) = members.get("code") else { return code::INTERNAL };
    let text = raw.get().trim_matches('"');
    #[expect(clippy::cast_possible_truncation, reason = "a code with a fraction has no meaning")]
    text.parse().or_else(|_| text.parse::<f64>().map(|code| code as i64)).unwrap_or(code::INTERNAL)
}
