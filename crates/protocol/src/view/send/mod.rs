//! Builders for what the client sends: params, capabilities, responses.
//!
//! They write only what the revision knows: a server may validate against its schema and reject
//! unknown members. `_meta` is added last, by [`with_meta`](super::with_meta).

mod answers;
mod capabilities;
mod info;
mod object;
mod params;

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
    CompletionRequest, ProgressParams, Reference, call_tool, cancelled, complete, directory,
    get_prompt, initialize, listen, page, progress, resource, set_level, task, update_task,
    with_responses,
};
pub use request_meta::RequestMeta;

mod request_meta;

use serde::Serialize;

use crate::Json;

/// Encodes a value for which encoding cannot fail: string keys and validated JSON only.
fn encode<T: Serialize>(value: &T) -> Json {
    Json::encode(value).unwrap_or_else(|_| Json::object())
}

/// An empty object, for capabilities that are declared by presence.
#[derive(Debug, Clone, Copy, Serialize)]
struct EmptyObject {}

impl EmptyObject {
    fn when(is_there: bool) -> Option<Self> {
        is_there.then_some(Self {})
    }
}

/// Serializes key-value pairs as an object, in their order.
struct PairsAsObject<'a, V>(&'a [(String, V)]);

impl<V: Serialize> Serialize for PairsAsObject<'_, V> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
