//! Quirks of servers that send requests to the client during a call: ping, roots, sampling,
//! elicitation, unknown methods, unusual ids.
//!
//! The server waits for the client's response and checks it. If it is wrong, the call fails with
//! the reason in its text.

use serde_json::Value;

use super::StdioQuirk;
use super::environment;
use super::server::{Event, NextStep, StdioBehavior, StdioServer};
use crate::quirk::mode::{ModeTag, WARNS, WORKS};
use crate::quirk::responses::ClientMessage;

const SAMPLING: &str = r#"{"messages":[{"role":"user","content":{"type":"text","text":"Which berth?"}}],"maxTokens":10}"#;
const ELICITATION: &str = r#"{"message":"Which berth?","requestedSchema":{"type":"object","properties":{"berth":{"type":"string"}},"required":["berth"]}}"#;
const ELICITATION_BY_URL: &str = r#"{"mode":"url","elicitationId":"e-1","message":"Sign in","url":"https://harbour.example/sign-in"}"#;

const fn server_request(
    name: &'static str,
    description: &'static str,
    handle: fn(&mut StdioServer, &Event<'_>) -> NextStep,
) -> StdioQuirk {
    StdioQuirk::new(name, description, WORKS, StdioBehavior::Handler(handle)).legacy()
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    server_request("asks-ping", "pings the client during a call", |server, event| {
        request_before_result(server, event, "70001", &ServerRequest("ping", "{}", ExpectedResponse::Result))
    }),
    server_request("asks-ping-early", "pings the client before it responds to `initialize`", |server, event| {
        let Some(request) = event.request("initialize") else { return NextStep::Default };
        match request_and_check(server, "\"early\"", &ServerRequest("ping", "{}", ExpectedResponse::Result)) {
            None => NextStep::Default,
            Some(reason) => {
                server.send_error(request, -32603, &reason);
                NextStep::Done
            }
        }
    }),
    server_request("asks-roots", "requests the roots during a call", |server, event| {
        request_before_result(server, event, "70001", &ServerRequest("roots/list", "{}", ExpectedResponse::Result))
    }),
    server_request("asks-sampling", "requests sampling during a call", |server, event| {
        request_before_result(server, event, "70001", &ServerRequest("sampling/createMessage", SAMPLING, ExpectedResponse::Result))
    }),
    server_request("asks-elicitation", "requests elicitation by form during a call", |server, event| {
        request_before_result(server, event, "70001", &ServerRequest("elicitation/create", ELICITATION, ExpectedResponse::Result))
    }),
    server_request("asks-elicitation-url", "requests elicitation by URL during a call", |server, event| {
        request_before_result(server, event, "70001", &ServerRequest("elicitation/create", ELICITATION_BY_URL, ExpectedResponse::Result))
    }),
    server_request("asks-nonsense", "requests sampling with invalid parameters", |server, event| {
        request_before_result(server, event, "70001", &ServerRequest("sampling/createMessage", "7", ExpectedResponse::Error))
    }),
    server_request("asks-unknown", "sends a request with an unknown method", |server, event| {
        request_before_result(server, event, "70001", &ServerRequest("harbour/pilot", "{}", ExpectedResponse::Error))
    }),
    server_request("asks-with-text-id", "sends a request with an id that is a string of special characters", |server, event| {
        request_before_result(server, event, r#""a/b \"ü\" ""#, &ServerRequest("ping", "{}", ExpectedResponse::Result))
    }),
    server_request("asks-with-empty-id", "sends a request with an id that is an empty string", |server, event| {
        request_before_result(server, event, "\"\"", &ServerRequest("ping", "{}", ExpectedResponse::Result))
    }),
    server_request("asks-with-big-id", "sends a request with an id that a double cannot hold", |server, event| {
        request_before_result(server, event, "9007199254740993", &ServerRequest("ping", "{}", ExpectedResponse::Result))
    }),
    server_request("asks-with-negative-id", "sends a request with a negative id", |server, event| {
        request_before_result(server, event, "-1", &ServerRequest("ping", "{}", ExpectedResponse::Result))
    }),
    server_request("asks-with-zero-id", "sends a request with the id 0", |server, event| {
        request_before_result(server, event, "0", &ServerRequest("ping", "{}", ExpectedResponse::Result))
    }),
    server_request("asks-with-our-id", "sends a request with the id of the current call", |server, event| {
        let id = event.call().map(|request| request.id().to_owned()).unwrap_or_default();
        request_before_result(server, event, &id, &ServerRequest("ping", "{}", ExpectedResponse::Result))
    }),
    server_request("asks-twice-with-one-id", "sends two requests with the same id", |server, event| {
        if event.call().is_some() {
            server.send_line(r#"{"jsonrpc":"2.0","id":70001,"method":"roots/list"}"#);
        }
        request_before_result(server, event, "70001", &ServerRequest("ping", "{}", ExpectedResponse::Result))
    }),
    server_request("asks-without-params", "sends a request without parameters", |server, event| {
        request_before_result(server, event, "70001", &ServerRequest("ping", "", ExpectedResponse::Result))
    }),
    server_request("asks-in-a-batch", "sends two requests in one array", |server, event| {
        let Some(request) = event.call() else { return NextStep::Default };
        server.send_line(r#"[{"jsonrpc":"2.0","id":"b1","method":"ping"},{"jsonrpc":"2.0","id":"b2","method":"roots/list"}]"#);
        for id in ["b1", "b2"] {
            // The responses may arrive one by one or in an array.
            let is_response = |message: &Value| {
                let is_response_to_id = |one: &Value| one.get("id") == Some(&Value::from(id));
                is_response_to_id(message) || message.as_array().is_some_and(|all| all.iter().any(is_response_to_id))
            };
            match server.wait_for(environment::lifetime(), is_response) {
                Some(Value::Array(_)) => break,
                Some(_) => {}
                None => {
                    fail_call(server, request, "the batch was not answered");
                    return NextStep::Done;
                }
            }
        }
        NextStep::Default
    }),
    server_request("asks-and-goes-on", "sends a request and responds to the call without waiting", |server, event| {
        if event.call().is_some() {
            send_request(server, "70001", "sampling/createMessage", SAMPLING);
        }
        NextStep::Default
    }),
    server_request("asks-and-cancels", "requests elicitation and cancels the request", |server, event| {
        if event.call().is_some() {
            send_request(server, "70001", "elicitation/create", ELICITATION);
            server.notify("notifications/cancelled", r#"{"requestId":70001}"#);
        }
        NextStep::Default
    }),
    StdioQuirk::new(
        "asks-with-null-id",
        "sends a request with the id null, to which no response is possible",
        WARNS,
        StdioBehavior::Handler(|server, event| {
            if event.call().is_some() {
                send_request(server, "null", "ping", "{}");
            }
            NextStep::Default
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "asks-with-invalid-id",
        "sends requests with ids that are objects, arrays, booleans and fractions",
        WARNS,
        StdioBehavior::Handler(|server, event| {
            if event.call().is_some() {
                for id in ["{\"a\":1}", "[1]", "true", "1.5"] {
                    send_request(server, id, "ping", "{}");
                }
            }
            NextStep::Default
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "asks-though-modern",
        "sends a request although it is modern, and waits 200 ms (`QUIRK_DELAY_MS`) for a response, which is forbidden",
        WARNS,
        StdioBehavior::Handler(|server, event| {
            let Some(request) = event.call() else { return NextStep::Default };
            send_request(server, "70001", "roots/list", "{}");
            let is_response = |message: &Value| message.get("method").is_none();
            if server.wait_for(environment::delay(200), is_response).is_some() {
                fail_call(server, request, "a client must not respond to a modern server");
                return NextStep::Done;
            }
            NextStep::Default
        }),
    )
    .modern()
    .tagged(&[ModeTag::Waits]),
];

/// A method, its parameters as JSON text (none if empty), and the expected response.
struct ServerRequest(&'static str, &'static str, ExpectedResponse);

/// The kind of response that the client must send.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpectedResponse {
    Result,
    Error,
}

/// Sends a request during a call, and fails the call if the response is wrong.
fn request_before_result(
    server: &mut StdioServer,
    event: &Event<'_>,
    id: &str,
    server_request: &ServerRequest,
) -> NextStep {
    let Some(request) = event.call() else { return NextStep::Default };
    match request_and_check(server, id, server_request) {
        None => NextStep::Default,
        Some(reason) => {
            fail_call(server, request, &reason);
            NextStep::Done
        }
    }
}

/// Sends a request, waits for the response, and returns what is wrong with it.
fn request_and_check(
    server: &mut StdioServer,
    id: &str,
    server_request: &ServerRequest,
) -> Option<String> {
    let ServerRequest(method, params, expected) = server_request;
    send_request(server, id, method, params);
    let sent: Value = serde_json::from_str(id).unwrap_or_default();
    let is_response =
        |message: &Value| message.get("method").is_none() && message.get("id") == Some(&sent);
    let Some(response) = server.wait_for(environment::lifetime(), is_response) else {
        return Some(format!("`{method}` was not answered"));
    };
    let (result, error) = (response.get("result"), response.get("error"));
    let fits = match expected {
        ExpectedResponse::Result => result.is_some_and(Value::is_object) && error.is_none(),
        ExpectedResponse::Error => result.is_none() && error.is_some(),
    };
    let is_valid_error = |error: &Value| {
        error.get("code").is_some_and(Value::is_i64)
            && error.get("message").is_some_and(Value::is_string)
    };
    let is_valid = response.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
        && error.is_none_or(is_valid_error);
    (!fits || !is_valid).then(|| format!("`{method}` was answered with {response}"))
}

fn send_request(server: &mut StdioServer, id: &str, method: &str, params: &str) {
    let params = if params.is_empty() { String::new() } else { format!(r#","params":{params}"#) };
    server.send_line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#));
}

/// Fails a call with this reason.
fn fail_call(server: &mut StdioServer, request: &ClientMessage, reason: &str) {
    let text = Value::from(reason);
    server.send_result(
        request,
        &format!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true}}"#),
    );
}
