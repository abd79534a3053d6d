//! Writes JSON-RPC messages by concatenating texts: params and results are already JSON.

use serde::Serialize;

use super::{Id, RpcError};
use crate::Json;

/// Writes a request with a numeric id.
pub fn request(id: u64, method: &str, params: Option<&Json>) -> Vec<u8> {
    let mut text =
        start_message(method.len() + params.map_or(0, |params| params.as_str().len()) + 64);
    text.extend_from_slice(b",\"id\":");
    text.extend_from_slice(id.to_string().as_bytes());
    push_method_and_params(&mut text, method, params);
    text
}

/// Writes a notification.
pub fn notification(method: &str, params: Option<&Json>) -> Vec<u8> {
    let mut text =
        start_message(method.len() + params.map_or(0, |params| params.as_str().len()) + 48);
    push_method_and_params(&mut text, method, params);
    text
}

/// Writes a response with a result.
pub fn success(id: &Id, result: &Json) -> Vec<u8> {
    let mut text = start_message(result.as_str().len() + 64);
    text.extend_from_slice(b",\"id\":");
    text.extend_from_slice(id.to_string().as_bytes());
    text.extend_from_slice(b",\"result\":");
    text.extend_from_slice(result.as_str().as_bytes());
    text.push(b'}');
    text
}

/// Writes a response with an error; without an id if the id of the request is unknown.
pub fn failure(id: Option<&Id>, error: &RpcError) -> Vec<u8> {
    #[derive(Serialize)]
    struct Body<'a> {
        code: i64,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a Json>,
    }

    let body = Body { code: error.code, message: &error.message, data: error.data.as_ref() };
    let body = serde_json::to_vec(&body).unwrap_or_else(|_| b"{\"code\":-32603}".to_vec());
    let mut text = start_message(body.len() + 64);
    if let Some(id) = id {
        text.extend_from_slice(b",\"id\":");
        text.extend_from_slice(id.to_string().as_bytes());
    }
    text.extend_from_slice(b",\"error\":");
    text.extend_from_slice(&body);
    text.push(b'}');
    text
}

/// Starts a message; reserves one more byte than `capacity` for the line end.
fn start_message(capacity: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(capacity + 1);
    text.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
    text
}

fn push_method_and_params(text: &mut Vec<u8>, method: &str, params: Option<&Json>) {
    text.extend_from_slice(b",\"method\":");
    text.extend_from_slice(serde_json::Value::from(method).to_string().as_bytes());
    if let Some(params) = params {
        text.extend_from_slice(b",\"params\":");
        text.extend_from_slice(params.as_str().as_bytes());
    }
    text.push(b'}');
}
