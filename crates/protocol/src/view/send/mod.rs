//! Builders for what the client sends: params, capabilities, responses.
//!
//! They write only what the revision knows: a server may validate against its schema and reject
//! unknown members. `_meta` is added last, by `with_meta`.

mod answers;
mod capabilities;
mod info;
mod object;
mod params;
mod request_meta;

pub use answers::{
    ElicitationAnswer, RootEntry, SamplingAnswer, Unsendable, elicitation_result, roots_result,
    sampling_result, text_block,
};
pub use capabilities::{
    ClientCapabilities, ElicitationSupport, RootsSupport, SamplingSupport, TasksSupport,
};
pub use info::ClientInfo;
pub use object::{NotAnObject, Object};
pub use params::{
    CompletionRequest, Reference, call_tool, cancelled, complete, directory, get_prompt,
    initialize, listen, page, resource, set_level, task, update_task, with_responses,
};
pub use request_meta::RequestMeta;

use serde::Serialize;

use crate::Json;
use crate::json::push_string;
use crate::view::meta::push_member;

/// Encodes a value for which encoding cannot fail: string keys and validated JSON only.
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Json {
    Json::encode(value).unwrap_or_else(|_| Json::object())
}

/// Encodes a string.
pub(crate) fn string(value: &str) -> Json {
    let mut text = String::with_capacity(value.len() + 2);
    push_string(&mut text, value);
    Json::trusted(text)
}

/// Writes an object with these members, in their order; members without a value are left out.
pub(crate) fn object<'a>(members: impl AsRef<[(&'a str, Option<Json>)]>) -> Json {
    let written = members.as_ref().iter().filter_map(|(key, value)| Some((*key, value.as_ref()?)));
    // With the exact length, the text becomes a `Json` without another allocation.
    let length: usize =
        written.clone().map(|(key, value)| key.len() + value.as_str().len() + 4).sum();
    let mut text = String::with_capacity(length.max(1) + 1);
    text.push('{');
    for (key, value) in written {
        push_member(&mut text, key, value.as_str());
    }
    text.push('}');
    Json::trusted(text)
}
