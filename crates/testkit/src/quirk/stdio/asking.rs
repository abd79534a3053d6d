//! Quirks of servers that ask the client something in the middle of a call.
//!
//! The server waits for the reply and looks at it: a client that answers wrongly gets a failed
//! call, with the reason in its text.

use serde_json::Value;

use super::StdioQuirk;
use super::server::{Act, Event, Flow, Server};
use super::settings;
use crate::quirk::answers::Request;
use crate::quirk::mode::{Tag, WARNS, WORKS};

const SAMPLING: &str = r#"{"messages":[{"role":"user","content":{"type":"text","text":"Which berth?"}}],"maxTokens":10}"#;
const ELICITATION: &str = r#"{"message":"Which berth?","requestedSchema":{"type":"object","properties":{"berth":{"type":"string"}},"required":["berth"]}}"#;
const ELICITATION_BY_URL: &str = r#"{"mode":"url","elicitationId":"e-1","message":"Sign in","url":"https://harbour.example/sign-in"}"#;

const fn asks(
    name: &'static str,
    sentence: &'static str,
    act: fn(&mut Server, &Event<'_>) -> Flow,
) -> StdioQuirk {
    StdioQuirk::new(name, sentence, WORKS, Act::Code(act)).legacy()
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    asks("asks-ping", "pings the client during a call", |server, event| {
        ask_first(server, event, "70001", &Question("ping", "{}", Wanted::Result))
    }),
    asks("asks-ping-early", "pings the client before it answers `initialize`", |server, event| {
        let Some(request) = event.asks("initialize") else { return Flow::Usual };
        match ask(server, "\"early\"", &Question("ping", "{}", Wanted::Result)) {
            None => Flow::Usual,
            Some(complaint) => {
                server.refuse(request, -32603, &complaint);
                Flow::Done
            }
        }
    }),
    asks("asks-roots", "asks for the roots during a call", |server, event| {
        ask_first(server, event, "70001", &Question("roots/list", "{}", Wanted::Any))
    }),
    asks("asks-sampling", "asks for a message of the model during a call", |server, event| {
        ask_first(server, event, "70001", &Question("sampling/createMessage", SAMPLING, Wanted::Any))
    }),
    asks("asks-elicitation", "asks the person something during a call", |server, event| {
        ask_first(server, event, "70001", &Question("elicitation/create", ELICITATION, Wanted::Any))
    }),
    asks("asks-elicitation-url", "sends the person to an address", |server, event| {
        ask_first(server, event, "70001", &Question("elicitation/create", ELICITATION_BY_URL, Wanted::Any))
    }),
    asks("asks-nonsense", "asks for sampling without saying what about", |server, event| {
        ask_first(server, event, "70001", &Question("sampling/createMessage", "7", Wanted::Error))
    }),
    asks("asks-unknown", "asks for something that nobody knows", |server, event| {
        ask_first(server, event, "70001", &Question("harbour/pilot", "{}", Wanted::Error))
    }),
    asks("asks-with-text-id", "asks with an id that is an odd text", |server, event| {
        ask_first(server, event, r#""a/b \"ü\" ""#, &Question("ping", "{}", Wanted::Result))
    }),
    asks("asks-with-empty-id", "asks with an id that is an empty text", |server, event| {
        ask_first(server, event, "\"\"", &Question("ping", "{}", Wanted::Result))
    }),
    asks("asks-with-big-id", "asks with an id beyond the integers of a double", |server, event| {
        ask_first(server, event, "9007199254740993", &Question("ping", "{}", Wanted::Result))
    }),
    asks("asks-with-negative-id", "asks with a negative id", |server, event| {
        ask_first(server, event, "-1", &Question("ping", "{}", Wanted::Result))
    }),
    asks("asks-with-zero-id", "asks with the id 0", |server, event| {
        ask_first(server, event, "0", &Question("ping", "{}", Wanted::Result))
    }),
    asks("asks-with-our-id", "asks with the id of the call it works on", |server, event| {
        let id = event.call().map(|request| request.id().to_owned()).unwrap_or_default();
        ask_first(server, event, &id, &Question("ping", "{}", Wanted::Result))
    }),
    asks("asks-twice-with-one-id", "asks two things with the same id", |server, event| {
        if event.call().is_some() {
            server.say(r#"{"jsonrpc":"2.0","id":70001,"method":"roots/list"}"#);
        }
        ask_first(server, event, "70001", &Question("ping", "{}", Wanted::Any))
    }),
    asks("asks-without-params", "asks without parameters", |server, event| {
        ask_first(server, event, "70001", &Question("ping", "", Wanted::Result))
    }),
    asks("asks-in-a-batch", "asks two things in one array", |server, event| {
        let Some(request) = event.call() else { return Flow::Usual };
        server.say(r#"[{"jsonrpc":"2.0","id":"b1","method":"ping"},{"jsonrpc":"2.0","id":"b2","method":"roots/list"}]"#);
        for id in ["b1", "b2"] {
            // The answers may come one by one or in an array again.
            let is_reply = |message: &Value| {
                let answers = |one: &Value| one.get("id") == Some(&Value::from(id));
                answers(message) || message.as_array().is_some_and(|all| all.iter().any(answers))
            };
            match server.wait_for(settings::lifetime(), is_reply) {
                Some(Value::Array(_)) => break,
                Some(_) => {}
                None => {
                    complain(server, request, "the batch was not answered");
                    return Flow::Done;
                }
            }
        }
        Flow::Usual
    }),
    asks("asks-and-goes-on", "asks and answers the call without waiting", |server, event| {
        if event.call().is_some() {
            say_request(server, "70001", "sampling/createMessage", SAMPLING);
        }
        Flow::Usual
    }),
    asks("asks-and-cancels", "asks the person something and takes it back", |server, event| {
        if event.call().is_some() {
            say_request(server, "70001", "elicitation/create", ELICITATION);
            server.notify("notifications/cancelled", r#"{"requestId":70001}"#);
        }
        Flow::Usual
    }),
    StdioQuirk::new(
        "asks-with-null-id",
        "asks with the id null, which nobody can answer",
        WARNS,
        Act::Code(|server, event| {
            if event.call().is_some() {
                say_request(server, "null", "ping", "{}");
            }
            Flow::Usual
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "asks-with-odd-id",
        "asks with ids that are objects, arrays and booleans",
        WARNS,
        Act::Code(|server, event| {
            if event.call().is_some() {
                for id in ["{\"a\":1}", "[1]", "true", "1.5"] {
                    say_request(server, id, "ping", "{}");
                }
            }
            Flow::Usual
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "asks-though-modern",
        "asks although it is modern, and looks for 200 ms (`QUIRK_DELAY_MS`) whether somebody answers, which is forbidden",
        WARNS,
        Act::Code(|server, event| {
            let Some(request) = event.call() else { return Flow::Usual };
            say_request(server, "70001", "roots/list", "{}");
            let is_reply = |message: &Value| message.get("method").is_none();
            if server.wait_for(settings::delay(200), is_reply).is_some() {
                complain(server, request, "a modern server must not be answered");
                return Flow::Done;
            }
            Flow::Usual
        }),
    )
    .modern()
    .tagged(&[Tag::Waits]),
];

/// A method, its parameters as JSON text (none if empty), and what should come back.
struct Question(&'static str, &'static str, Wanted);

/// What a reply should be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Result,
    Error,
    /// It depends on what the client declared.
    Any,
}

/// Asks during a call, and fails the call if the reply is wrong.
fn ask_first(server: &mut Server, event: &Event<'_>, id: &str, question: &Question) -> Flow {
    let Some(request) = event.call() else { return Flow::Usual };
    match ask(server, id, question) {
        None => Flow::Usual,
        Some(complaint) => {
            complain(server, request, &complaint);
            Flow::Done
        }
    }
}

/// Asks and returns what is wrong with the reply.
fn ask(server: &mut Server, id: &str, question: &Question) -> Option<String> {
    let Question(method, params, wanted) = question;
    say_request(server, id, method, params);
    let sent: Value = serde_json::from_str(id).unwrap_or_default();
    let is_reply =
        |message: &Value| message.get("method").is_none() && message.get("id") == Some(&sent);
    let Some(reply) = server.wait_for(settings::lifetime(), is_reply) else {
        return Some(format!("`{method}` was not answered"));
    };
    let (result, error) = (reply.get("result"), reply.get("error"));
    let fits = match wanted {
        Wanted::Result => result.is_some_and(Value::is_object) && error.is_none(),
        Wanted::Error => result.is_none() && error.is_some(),
        Wanted::Any => result.is_some() != error.is_some(),
    };
    let is_an_error = |error: &Value| {
        error.get("code").is_some_and(Value::is_i64)
            && error.get("message").is_some_and(Value::is_string)
    };
    let is_sound = reply.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
        && error.is_none_or(is_an_error);
    (!fits || !is_sound).then(|| format!("`{method}` was answered with {reply}"))
}

fn say_request(server: &mut Server, id: &str, method: &str, params: &str) {
    let params = if params.is_empty() { String::new() } else { format!(r#","params":{params}"#) };
    server.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#));
}

/// Fails a call with a reason.
fn complain(server: &mut Server, request: &Request, reason: &str) {
    let text = Value::from(reason);
    server.result(
        request,
        &format!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true}}"#),
    );
}
