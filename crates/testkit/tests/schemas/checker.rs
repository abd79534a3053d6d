//! Tests the schema checker itself: it accepts valid messages and reports invalid ones.

use serde_json::{Value, json};
use wharf_protocol::era::Revision;
use wharf_testkit::schema::{Schema, Sender, TrafficChecker};

#[test]
fn responses_are_matched_to_requests_by_sender_and_id() {
    let mut traffic = TrafficChecker::new(Revision::V2025_11_25);
    let mut check = |sender, text: &str| traffic.check(sender, text).map_err(|it| it.to_string());
    let (client, server) = (Sender::Client, Sender::Server);
    check(client, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#)
        .unwrap();
    check(server, r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#).unwrap();
    check(client, r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#).unwrap();
    check(server, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#).unwrap();
    let again = check(server, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
    assert_eq!(again.unwrap_err(), "response: no open request has the id 1");
}

#[test]
fn a_response_is_checked_against_its_request() {
    let schema = Schema::of(Revision::V2026_07_28);
    let check = |method: &str, result: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "result": result});
        schema.check_response(Sender::Server, method, &message).is_ok()
    };
    let content = json!({"resultType": "complete", "content": []});
    assert!(check("tools/call", content.clone()));
    assert!(!check("tools/list", content));
    assert!(check("tools/call", json!({"resultType": "input_required", "requestState": "s"})));
    assert!(!check("tools/call", json!({"resultType": "input_required", "requestState": 5})));
    assert!(!check("tools/call", json!({"content": []})));
}

#[test]
fn methods_that_a_revision_does_not_have_are_found() {
    let request = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let old = Schema::of(Revision::V2025_03_26);
    let discover = request("server/discover", json!({}));
    assert!(old.check_request(Sender::Client, &discover).is_err());
    let elicit = request("elicitation/create", json!({"message": "m"}));
    assert!(old.check_request(Sender::Server, &elicit).is_err());

    let modern = Schema::of(Revision::V2026_07_28);
    let roots = request("roots/list", json!({}));
    assert!(modern.check_request(Sender::Server, &roots).is_err());
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"roots": []}});
    assert!(modern.check_response(Sender::Client, "roots/list", &answer).is_err());
}

#[test]
fn members_that_a_schema_does_not_name_are_found() {
    let schema = Schema::of(Revision::V2025_06_18);
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"roots": {"listChanged": true, "more": 1}, "tasks": {}},
        "clientInfo": {"name": "n", "version": "1", "websiteUrl": "https://a.example"},
        "_meta": {"anything": 1},
    }});
    assert_eq!(
        schema.unknown_members(Sender::Client, &message),
        [
            "params/capabilities/roots/more",
            "params/capabilities/tasks",
            "params/clientInfo/websiteUrl"
        ]
    );
    assert_eq!(schema.check_request(Sender::Client, &message), Ok(()));
}

#[test]
fn batches_exist_in_one_revision_only() {
    let batch =
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    for revision in Revision::ALL {
        let found = TrafficChecker::new(revision).check(Sender::Client, batch);
        assert_eq!(found.is_ok(), revision == Revision::V2025_03_26, "{revision}");
    }
}
