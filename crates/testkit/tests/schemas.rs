//! Tests that every message Wharf can send is valid for the schema of its revision, without
//! unknown members.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

#[path = "schemas/checker.rs"]
mod checker;
#[path = "schemas/messages.rs"]
mod messages;

use serde_json::{Value, json};
use wharf_protocol::Json;
use wharf_protocol::envelope;
use wharf_protocol::era::{Era, Revision};
use wharf_protocol::view::send::{self, Object, RequestMeta};
use wharf_testkit::schema::{Schema, Sender};

use messages::{MessageSample, capabilities, client_info, notifications, requests, results};

/// Writes a request the way the peer does.
fn request_text(sample: &MessageSample, revision: Revision) -> Value {
    let params = match revision.era() {
        Era::Legacy => sample.params.clone(),
        Era::Modern => {
            let meta = RequestMeta::new(revision, &capabilities(), &client_info());
            Some(meta.apply(sample.params.as_ref(), &[("progressToken", "7")]))
        }
    };
    parsed(&envelope::request(7, sample.method, params.as_ref()))
}

fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn every_request_passes_in_every_revision_that_has_it() {
    for revision in Revision::ALL {
        let schema = Schema::of(revision);
        for sample in requests(revision) {
            let message = request_text(&sample, revision);
            let found = schema.check_request(Sender::Client, &message);
            assert_eq!(found, Ok(()), "{revision} {message}");
            assert_eq!(
                schema.unknown_members(Sender::Client, &message),
                [""; 0],
                "{revision} {message}"
            );
        }
    }
}

#[test]
fn every_request_of_the_schemas_is_covered() {
    for revision in Revision::ALL {
        let schema = Schema::of(revision);
        let built: Vec<_> = requests(revision).iter().map(|sample| sample.method).collect();
        for method in schema.methods(Sender::Client, "Request") {
            assert!(built.contains(&method), "{revision} {method}");
        }
    }
}

#[test]
fn every_notification_passes_in_every_revision_that_has_it() {
    for revision in Revision::ALL {
        let schema = Schema::of(revision);
        let samples = notifications(revision);
        for sample in &samples {
            let message = parsed(&envelope::notification(sample.method, sample.params.as_ref()));
            let found = schema.check_notification(Sender::Client, &message);
            assert_eq!(found, Ok(()), "{revision} {message}");
            assert_eq!(
                schema.unknown_members(Sender::Client, &message),
                [""; 0],
                "{revision} {message}"
            );
        }
        for method in schema.methods(Sender::Client, "Notification") {
            // Wharf runs no requests of a server as tasks, and reports no progress of them.
            let never = ["notifications/tasks/status", "notifications/progress"];
            let is_built = samples.iter().any(|sample| sample.method == method);
            assert!(is_built || never.contains(&method), "{revision} {method}");
        }
    }
}

#[test]
fn every_answer_passes_in_every_revision_that_has_it() {
    for revision in Revision::ALL {
        let schema = Schema::of(revision);
        for (definition, method, result) in results(revision) {
            let value: Value = serde_json::from_str(result.as_str()).unwrap();
            assert_eq!(schema.check_named(definition, &value), Ok(()), "{revision} {value}");
            assert_eq!(
                schema.unknown_members_of(definition, &value),
                [""; 0],
                "{revision} {value}"
            );
            if revision.era() == Era::Legacy {
                let message = parsed(&envelope::success(&3.into(), &result));
                let found = schema.check_response(Sender::Client, method, &message);
                assert_eq!(found, Ok(()), "{revision} {message}");
            }
        }
    }
}

#[test]
fn answers_inside_a_request_pass() {
    let revision = Revision::V2026_07_28;
    let schema = Schema::of(revision);
    let answers: Vec<(String, Json)> = results(revision)
        .into_iter()
        .enumerate()
        .map(|(number, (_, _, result))| (format!("key {number}"), result))
        .collect();
    let state: Json = r#""{\"n\":1}""#.parse().unwrap();
    for (method, params) in [
        ("tools/call", send::call_tool("t", Some(&Object::default()), None)),
        ("prompts/get", send::get_prompt("p", &[])),
        ("resources/read", send::resource("file:///a")),
    ] {
        let params = Some(send::with_responses(&params, &answers, Some(&state)));
        let message = request_text(&MessageSample { method, params }, revision);
        assert_eq!(schema.check_request(Sender::Client, &message), Ok(()), "{message}");
        assert_eq!(message["params"]["requestState"], json!("{\"n\":1}"));
    }
}

#[test]
fn a_request_without_its_meta_does_not_pass_since_2026() {
    let schema = Schema::of(Revision::V2026_07_28);
    let message = parsed(&envelope::request(1, "tools/list", Some(&Json::object())));
    assert!(schema.check_request(Sender::Client, &message).is_err());
}
