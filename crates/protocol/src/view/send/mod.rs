//! What Wharf sends, written strictly: only what the revision in use knows.
//!
//! A server may be built from the schema alone, so what it does not name is left out rather than
//! sent and hoped to be ignored. `_meta` is added last, by [`with_meta`](super::with_meta).

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

/// Encodes what cannot fail: structs with texts as keys and JSON that is checked already.
fn encode<T: Serialize>(value: &T) -> Json {
    Json::encode(value).unwrap_or_else(|_| Json::object())
}

/// An empty object, which says "yes" wherever only presence counts.
#[derive(Debug, Clone, Copy, Serialize)]
struct EmptyObject {}

impl EmptyObject {
    fn when(is_there: bool) -> Option<Self> {
        is_there.then_some(Self {})
    }
}

/// Pairs as an object, in their order.
struct PairsAsObject<'a, V>(&'a [(String, V)]);

impl<V: Serialize> Serialize for PairsAsObject<'_, V> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
