//! Params of the requests and notifications of a client.
//!
//! Methods without a function here have no params besides `_meta`: `ping`, `roots/list_changed`,
//! `initialized`, `server/discover`.

use std::time::Duration;

use serde::Serialize;

use super::{ClientCapabilities, ClientInfo, Object, PairsAsObject, encode};
use crate::Json;
use crate::era::Revision;
use crate::view::meta::with_members;
use crate::view::notification::LogLevel;
use crate::view::subscription_filter::SubscriptionFilter;

/// Writes the parameters of `initialize`.
pub fn initialize(
    revision: Revision,
    capabilities: &ClientCapabilities,
    info: &ClientInfo,
) -> Json {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        protocol_version: &'a str,
        capabilities: Json,
        client_info: Json,
    }

    encode(&Params {
        protocol_version: revision.as_str(),
        capabilities: capabilities.render(revision),
        client_info: info.render(revision),
    })
}

/// Writes the parameters of any list request; without a cursor, it requests the first page.
pub fn page(cursor: Option<&str>) -> Json {
    #[derive(Serialize)]
    struct Params<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        cursor: Option<&'a str>,
    }

    encode(&Params { cursor })
}

/// Writes the parameters of `tools/call`; `as_task` (2025-11-25) is the time to live of the task.
pub fn call_tool(name: &str, arguments: Option<&Object>, as_task: Option<Duration>) -> Json {
    #[derive(Serialize)]
    struct Params<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<&'a Json>,
        #[serde(skip_serializing_if = "Option::is_none")]
        task: Option<Task>,
    }

    #[derive(Serialize)]
    struct Task {
        ttl: u64,
    }

    let task = as_task.map(|ttl| Task { ttl: u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX) });
    encode(&Params { name, arguments: arguments.map(Object::as_json), task })
}

/// Writes the parameters of `resources/read`, `resources/subscribe`, `resources/unsubscribe` and
/// `skills/get`.
pub fn resource(uri: &str) -> Json {
    #[derive(Serialize)]
    struct Params<'a> {
        uri: &'a str,
    }

    encode(&Params { uri })
}

/// Writes the parameters of `resources/directory/read` (the extension for skills).
pub fn directory(uri: &str, cursor: Option<&str>) -> Json {
    #[derive(Serialize)]
    struct Params<'a> {
        uri: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cursor: Option<&'a str>,
    }

    encode(&Params { uri, cursor })
}

/// Writes the parameters of `prompts/get`; the arguments are strings.
pub fn get_prompt(name: &str, arguments: &[(String, String)]) -> Json {
    #[derive(Serialize)]
    struct Params<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<PairsAsObject<'a, String>>,
    }

    encode(&Params { name, arguments: (!arguments.is_empty()).then_some(PairsAsObject(arguments)) })
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
    #[derive(Serialize)]
    struct Params<'a> {
        r#ref: Ref<'a>,
        argument: Argument<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        context: Option<Context<'a>>,
    }

    #[derive(Serialize)]
    #[serde(tag = "type")]
    enum Ref<'a> {
        #[serde(rename = "ref/prompt")]
        Prompt { name: &'a str },
        #[serde(rename = "ref/resource")]
        Resource { uri: &'a str },
    }

    #[derive(Serialize)]
    struct Argument<'a> {
        name: &'a str,
        value: &'a str,
    }

    #[derive(Serialize)]
    struct Context<'a> {
        arguments: PairsAsObject<'a, String>,
    }

    let has_context = !request.known.is_empty() && revision >= Revision::V2025_06_18;
    encode(&Params {
        r#ref: match &request.reference {
            Reference::Prompt(name) => Ref::Prompt { name },
            Reference::ResourceTemplate(uri) => Ref::Resource { uri },
        },
        argument: Argument { name: &request.argument, value: &request.value },
        context: has_context.then_some(Context { arguments: PairsAsObject(&request.known) }),
    })
}

/// Writes the parameters of `logging/setLevel` (before 2026-07-28).
pub fn set_level(level: LogLevel) -> Json {
    #[derive(Serialize)]
    struct Params {
        level: &'static str,
    }

    encode(&Params { level: level.as_str() })
}

/// Writes the parameters of `subscriptions/listen` (from 2026-07-28 on).
pub fn listen(filter: &SubscriptionFilter) -> Json {
    #[derive(Serialize)]
    struct Params<'a> {
        notifications: &'a SubscriptionFilter,
    }

    encode(&Params { notifications: filter })
}

/// Writes the parameters of `tasks/get`, `tasks/cancel` and (2025-11-25) `tasks/result`.
pub fn task(id: &str) -> Json {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        task_id: &'a str,
    }

    encode(&Params { task_id: id })
}

/// Writes the parameters of `tasks/update` (the extension for tasks): input responses by key.
pub fn update_task(id: &str, responses: &[(String, Json)]) -> Json {
    with_responses(&task(id), responses, None)
}

/// Returns the parameters of a request that is repeated with input responses (from 2026-07-28 on).
///
/// The request state is sent back unchanged, if there was one.
pub fn with_responses(params: &Json, responses: &[(String, Json)], state: Option<&Json>) -> Json {
    let answers = encode(&PairsAsObject(responses));
    let mut entries = vec![("inputResponses", answers.as_str())];
    entries.extend(state.map(|state| ("requestState", state.as_str())));
    with_members(params.as_str(), &entries)
}

/// Writes the parameters of `notifications/cancelled`.
pub fn cancelled(request: u64, reason: Option<&str>) -> Json {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        request_id: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    }

    encode(&Params { request_id: request, reason })
}

/// The progress of a request of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressParams {
    /// The server's progress token, unchanged.
    pub token: Json,
    /// How much is done.
    pub progress: f64,
    /// How much there is to do in total.
    pub total: Option<f64>,
    /// What is being done (from 2025-03-26 on).
    pub message: Option<String>,
}

/// Writes the parameters of `notifications/progress` (before 2026-07-28).
pub fn progress(report: &ProgressParams, revision: Revision) -> Json {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        progress_token: &'a Json,
        progress: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
    }

    // A number that is not finite would be written as null.
    let finite = |number: f64| if number.is_finite() { number } else { 0.0 };
    encode(&Params {
        progress_token: &report.token,
        progress: finite(report.progress),
        total: report.total.filter(|total| total.is_finite()),
        message: report.message.as_deref().filter(|_| revision >= Revision::V2025_03_26),
    })
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

    #[test]
    fn progress_is_always_a_number() {
        let report = ProgressParams {
            token: r#""t""#.parse().unwrap(),
            progress: f64::NAN,
            total: Some(f64::INFINITY),
            message: Some("m".into()),
        };
        assert_eq!(
            progress(&report, Revision::V2024_11_05).as_str(),
            r#"{"progressToken":"t","progress":0.0}"#
        );
        assert!(progress(&report, Revision::V2025_03_26).as_str().contains("\"m\""));
    }
}
