//! Writes JSON-RPC messages by concatenating texts: params and results are already JSON.

use super::{Id, RpcError};
use crate::Json;

/// Writes a request with a numeric id.
pub fn request(id: u64, method: &str, params: Option<&Json>) -> Vec<u8> {
    let mut text = start_message(method.len() + params.map_or(0, |it| it.as_str().len()));
    push_id(&mut text, id);
    push_method_and_params(&mut text, method, params);
    text
}

/// Writes a notification.
pub fn notification(method: &str, params: Option<&Json>) -> Vec<u8> {
    let mut text = start_message(method.len() + params.map_or(0, |it| it.as_str().len()));
    push_method_and_params(&mut text, method, params);
    text
}

/// Writes a response with a result.
pub fn success(id: &Id, result: &Json) -> Vec<u8> {
    let mut text = start_message(result.as_str().len());
    push_id(&mut text, id);
    text.extend_from_slice(b",\"result\":");
    text.extend_from_slice(result.as_str().as_bytes());
    text.push(b'}');
    text
}

/// Writes a response with an error; without an id if the id of the request is unknown.
pub fn failure(id: Option<&Id>, error: &RpcError) -> Vec<u8> {
    let RpcError { code, message, data } = error;
    let mut text = start_message(message.len() + data.as_ref().map_or(0, |it| it.as_str().len()));
    if let Some(id) = id {
        push_id(&mut text, id);
    }
    let message = serde_json::Value::from(message.as_str());
    text.extend_from_slice(
        format!(",\"error\":{{\"code\":{code},\"message\":{message}").as_bytes(),
    );
    if let Some(data) = data {
        text.extend_from_slice(b",\"data\":");
        text.extend_from_slice(data.as_str().as_bytes());
    }
    text.extend_from_slice(b"}}");
    text
}

/// Starts a message, with space for so many bytes of content, its frame and the line end.
fn start_message(content: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(content + 64);
    text.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
    text
}

fn push_id(text: &mut Vec<u8>, id: impl std::fmt::Display) {
    text.extend_from_slice(format!(",\"id\":{id}").as_bytes());
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
