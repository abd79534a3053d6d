//! Params of the requests and notifications of a client.
//!
//! Methods without a function here have no params besides `_meta`: `ping`, `roots/list_changed`,
//! `initialized`, `server/discover`.

use std::time::Duration;

use super::{ClientCapabilities, ClientInfo, Object, encode, object, string};
use crate::Json;
use crate::era::Revision;
use crate::json::push_string;
use crate::view::meta::{push_member, with_members};
use crate::view::notification::LogLevel;
use crate::view::subscription_filter::SubscriptionFilter;

/// Writes the parameters of `initialize`.
pub fn initialize(
    revision: Revision,
    capabilities: &ClientCapabilities,
    info: &ClientInfo,
) -> Json {
    object([
        ("protocolVersion", Some(string(revision.as_str()))),
        ("capabilities", Some(capabilities.render(revision))),
        ("clientInfo", Some(info.render(revision))),
    ])
}

/// Writes the parameters of any list request; without a cursor, it requests the first page.
pub fn page(cursor: Option<&str>) -> Json {
    object([("cursor", cursor.map(string))])
}

/// Writes the parameters of `tools/call`; `as_task` (2025-11-25) is the time to live of the task.
///
/// Written directly, because every call passes here, and the arguments may be long.
pub fn call_tool(name: &str, arguments: Option<&Object>, as_task: Option<Duration>) -> Json {
    const FRAME: usize = r#"{"name":"","arguments":}"#.len();
    let arguments = arguments.map_or("", |arguments| arguments.as_json().as_str());
    // Usually the exact length, with which the text becomes a `Json` without another allocation.
    let mut text = String::with_capacity(FRAME + name.len() + arguments.len());
    text.push_str("{\"name\":");
    push_string(&mut text, name);
    if !arguments.is_empty() {
        push_member(&mut text, "arguments", arguments);
    }
    if let Some(ttl) = as_task {
        let millis = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        push_member(&mut text, "task", &format!("{{\"ttl\":{millis}}}"));
    }
    text.push('}');
    Json::trusted(text)
}

/// Writes the parameters of `resources/read`, `resources/subscribe`, `resources/unsubscribe` and
/// `skills/get`.
pub fn resource(uri: &str) -> Json {
    object([("uri", Some(string(uri)))])
}

/// Writes the parameters of `resources/directory/read` (the extension for skills).
pub fn directory(uri: &str, cursor: Option<&str>) -> Json {
    object([("uri", Some(string(uri))), ("cursor", cursor.map(string))])
}

/// Writes the parameters of `prompts/get`; the arguments are strings.
pub fn get_prompt(name: &str, arguments: &[(String, String)]) -> Json {
    object([
        ("name", Some(string(name))),
        ("arguments", (!arguments.is_empty()).then(|| texts(arguments))),
    ])
}

fn texts(pairs: &[(String, String)]) -> Json {
    let members = pairs.iter().map(|(key, value)| (key.as_str(), Some(string(value))));
    object(members.collect::<Vec<_>>())
}

/// The prompt or template that an argument belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A prompt, by name.
    Prompt(String),
    /// A resource template, by its URI template.
    ResourceTemplate(String),
}

/// A request to complete an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionRequest {
    /// The prompt or template of the argument.
    pub reference: Reference,
    /// The name of the argument.
    pub argument: String,
    /// The incomplete value.
    pub value: String,
    /// The values of other arguments (from 2025-06-18 on).
    pub known: Vec<(String, String)>,
}

/// Writes the parameters of `completion/complete`.
pub fn complete(request: &CompletionRequest, revision: Revision) -> Json {
    let (kind, key, name) = match &request.reference {
        Reference::Prompt(name) => ("ref/prompt", "name", name),
        Reference::ResourceTemplate(uri) => ("ref/resource", "uri", uri),
    };
    let has_context = !request.known.is_empty() && revision >= Revision::V2025_06_18;
    let argument =
        [("name", Some(string(&request.argument))), ("value", Some(string(&request.value)))];
    object([
        ("ref", Some(object([("type", Some(string(kind))), (key, Some(string(name)))]))),
        ("argument", Some(object(argument))),
        ("context", has_context.then(|| object([("arguments", Some(texts(&request.known)))]))),
    ])
}

/// Writes the parameters of `logging/setLevel` (before 2026-07-28).
pub fn set_level(level: LogLevel) -> Json {
    object([("level", Some(string(level.as_str())))])
}

/// Writes the parameters of `subscriptions/listen` (from 2026-07-28 on).
pub fn listen(filter: &SubscriptionFilter) -> Json {
    object([("notifications", Some(encode(filter)))])
}

/// Writes the parameters of `tasks/get`, `tasks/cancel` and (2025-11-25) `tasks/result`.
pub fn task(id: &str) -> Json {
    object([("taskId", Some(string(id)))])
}

/// Writes the parameters of `tasks/update` (the extension for tasks): input responses by key.
pub fn update_task(id: &str, responses: &[(String, Json)]) -> Json {
    with_responses(&task(id), responses, None)
}

/// Returns the parameters of a request that is repeated with input responses (from 2026-07-28 on).
///
/// The request state is sent back unchanged, if there was one.
pub fn with_responses(params: &Json, responses: &[(String, Json)], state: Option<&Json>) -> Json {
    let answers = responses.iter().map(|(key, value)| (key.as_str(), Some(value.clone())));
    let answers = object(answers.collect::<Vec<_>>());
    let mut entries = vec![("inputResponses", answers.as_str())];
    entries.extend(state.map(|state| ("requestState", state.as_str())));
    with_members(params.as_str(), &entries)
}

/// Writes the parameters of `notifications/cancelled`.
pub fn cancelled(request: u64, reason: Option<&str>) -> Json {
    object([("requestId", Some(encode(&request))), ("reason", reason.map(string))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_their_digits() {
        let arguments: Json = r#"{"n": 10000000000000000000001, "f":1.0}"#.parse().unwrap();
        let arguments = Object::try_from(arguments).unwrap();
        assert_eq!(
            call_tool("t", Some(&arguments), None).as_str(),
            r#"{"name":"t","arguments":{"n": 10000000000000000000001, "f":1.0}}"#
        );
        assert_eq!(
            call_tool("t", None, Some(Duration::from_secs(1))).as_str(),
            r#"{"name":"t","task":{"ttl":1000}}"#
        );
    }

    #[test]
    fn the_request_state_is_sent_back_byte_for_byte() {
        let params: Json = r#"{"name":"t","arguments":{"a":1.0}}"#.parse().unwrap();
        let state: Json = r#""\u00e9{\"a\": 1}""#.parse().unwrap();
        let answers = [("k".to_owned(), r#"{"action":"accept"}"#.parse().unwrap())];
        assert_eq!(
            with_responses(&params, &answers, Some(&state)).as_str(),
            r#"{"inputResponses":{"k":{"action":"accept"}},"requestState":"\u00e9{\"a\": 1}","name":"t","arguments":{"a":1.0}}"#
        );
        let again = with_responses(&params, &[], None);
        assert!(!again.as_str().contains("requestState"));
    }

    #[test]
    fn input_responses_of_an_earlier_round_are_replaced() {
        let params: Json =
            r#"{"inputResponses":{"old":1},"requestState":"s","name":"t"}"#.parse().unwrap();
        let state: Json = r#""next""#.parse().unwrap();
        assert_eq!(
            with_responses(&params, &[], Some(&state)).as_str(),
            r#"{"inputResponses":{},"requestState":"next","name":"t"}"#
        );
    }
}
