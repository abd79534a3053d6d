//! Writes JSON-RPC messages by concatenating texts: params and results are already JSON.

use std::fmt::{Display, Write};

use super::{Id, RpcError};
use crate::Json;
use crate::json::push_string;

/// Writes a request with a numeric id.
pub fn request(id: u64, method: &str, params: Option<&Json>) -> Vec<u8> {
    request_with(id, method, length(params), params.map(push_json))
}

/// Writes a request whose params are appended by a function; their length is about `length`.
pub(crate) fn request_with(
    id: u64,
    method: &str,
    length: usize,
    push_params: Option<impl FnOnce(&mut String)>,
) -> Vec<u8> {
    let mut text = start_message(method.len() + length);
    push_id(&mut text, id);
    push_method_and_params(&mut text, method, push_params);
    text.into_bytes()
}

/// Writes a notification.
pub fn notification(method: &str, params: Option<&Json>) -> Vec<u8> {
    let mut text = start_message(method.len() + length(params));
    push_method_and_params(&mut text, method, params.map(push_json));
    text.into_bytes()
}

/// Writes a response with a result.
pub fn success(id: &Id, result: &Json) -> Vec<u8> {
    let mut text = start_message(result.as_str().len());
    push_id(&mut text, id);
    text.push_str(",\"result\":");
    text.push_str(result.as_str());
    text.push('}');
    text.into_bytes()
}

/// Writes a response with an error; without an id if the id of the request is unknown.
pub fn failure(id: Option<&Id>, error: &RpcError) -> Vec<u8> {
    let RpcError { code, message, data } = error;
    let mut text = start_message(message.len() + length(data.as_ref()));
    if let Some(id) = id {
        push_id(&mut text, id);
    }
    push(&mut text, format_args!(",\"error\":{{\"code\":{code},\"message\":"));
    push_string(&mut text, message);
    if let Some(data) = data {
        text.push_str(",\"data\":");
        text.push_str(data.as_str());
    }
    text.push_str("}}");
    text.into_bytes()
}

/// Starts a message, with space for so many bytes of content, its frame and the line end.
fn start_message(content: usize) -> String {
    let mut text = String::with_capacity(content + 64);
    text.push_str("{\"jsonrpc\":\"2.0\"");
    text
}

fn push_id(text: &mut String, id: impl Display) {
    text.push_str(",\"id\":");
    // For an integer, this is several times faster than formatting it into the text.
    text.push_str(&id.to_string());
}

fn push_method_and_params(
    text: &mut String,
    method: &str,
    push_params: Option<impl FnOnce(&mut String)>,
) {
    text.push_str(",\"method\":");
    push_string(text, method);
    if let Some(push_params) = push_params {
        text.push_str(",\"params\":");
        push_params(text);
    }
    text.push('}');
}

fn push_json(json: &Json) -> impl FnOnce(&mut String) {
    |text| text.push_str(json.as_str())
}

fn length(json: Option<&Json>) -> usize {
    json.map_or(0, |json| json.as_str().len())
}

fn push(text: &mut String, part: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _infallible = text.write_fmt(part);
}
