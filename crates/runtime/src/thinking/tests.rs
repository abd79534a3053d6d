//! Tests the server over its protocol: lines in, lines out.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::serve;

/// Runs a whole session, and returns the results (or errors) of the numbered requests.
async fn exchange(lines: &[Value]) -> Vec<Value> {
    let input = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let mut output = Vec::new();
    serve(input.as_bytes(), &mut output).await.unwrap();
    let output = String::from_utf8(output).unwrap();
    let answers = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut answers: Vec<Value> = answers.collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
        .into_iter()
        .map(|answer| answer.get("result").or(answer.get("error")).unwrap().clone())
        .collect()
}

fn initialize(revision: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": revision, "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" }
    }})
}

fn call(id: usize, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": "sequentialthinking", "arguments": arguments
    }})
}

/// Sends thoughts in one session, and returns the result of each.
async fn think(thoughts: &[Value]) -> Vec<String> {
    let mut lines = vec![initialize("2025-11-25")];
    lines.extend(thoughts.iter().enumerate().map(|(index, thought)| call(index + 1, thought)));
    let answers = exchange(&lines).await;
    answers[1..]
        .iter()
        .map(|answer| {
            let text = answer["content"][0]["text"].as_str().unwrap();
            if answer.get("isError").is_some() {
                return format!("error: {text}");
            }
            assert_eq!(answer["structuredContent"], serde_json::from_str::<Value>(text).unwrap());
            text.to_owned()
        })
        .collect()
}

fn thought(number: u32, total: u32) -> Value {
    json!({ "thought": "Hm.", "nextThoughtNeeded": true, "thoughtNumber": number,
            "totalThoughts": total })
}

fn with(mut thought: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        thought[name] = value.clone();
    }
    thought
}

#[tokio::test]
async fn thoughts_are_counted_and_branches_are_listed() {
    let branch = |name: &str| json!({ "branchFromThought": 1, "branchId": name });
    let results = think(&[
        thought(1, 3),
        with(thought(2, 3), &branch("a")),
        with(thought(3, 3), &branch("b")),
        with(thought(4, 3), &branch("a")),
        with(thought(5, 5), &json!({ "isRevision": true, "revisesThought": 2 })),
        with(thought(6, 6), &json!({ "nextThoughtNeeded": false })),
    ])
    .await;
    assert_snapshot!(results.join("\n"), @r#"
    {"thoughtNumber":1,"totalThoughts":3,"nextThoughtNeeded":true,"branches":[],"thoughtHistoryLength":1}
    {"thoughtNumber":2,"totalThoughts":3,"nextThoughtNeeded":true,"branches":["a"],"thoughtHistoryLength":2}
    {"thoughtNumber":3,"totalThoughts":3,"nextThoughtNeeded":true,"branches":["a","b"],"thoughtHistoryLength":3}
    {"thoughtNumber":4,"totalThoughts":4,"nextThoughtNeeded":true,"branches":["a","b"],"thoughtHistoryLength":4}
    {"thoughtNumber":5,"totalThoughts":5,"nextThoughtNeeded":true,"branches":["a","b"],"thoughtHistoryLength":5}
    {"thoughtNumber":6,"totalThoughts":6,"nextThoughtNeeded":false,"branches":["a","b"],"thoughtHistoryLength":6}
    "#);
}

#[tokio::test]
async fn an_invalid_argument_is_named_and_its_thought_is_not_counted() {
    let results = think(&[
        json!({}),
        json!([]),
        with(
            thought(0, 1),
            &json!({ "thought": 5, "nextThoughtNeeded": "maybe", "totalThoughts": 1.5,
                     "isRevision": 1, "revisesThought": "x", "branchFromThought": -1,
                     "branchId": {}, "needsMoreThoughts": [] }),
        ),
        with(thought(1, 1), &json!({ "thought": "x".repeat(100_001) })),
        with(thought(1, 1), &json!({ "branchFromThought": 1, "branchId": "x".repeat(101) })),
        thought(1, 1),
    ])
    .await;
    assert_snapshot!(results.join("\n"), @r#"
    error: thought must be a text that is not empty
    nextThoughtNeeded is missing; it must be true or false
    thoughtNumber is missing; it must be a whole number from 1
    totalThoughts is missing; it must be a whole number from 1
    error: arguments must be an object
    error: thought must be a text that is not empty
    nextThoughtNeeded must be true or false
    thoughtNumber must be a whole number from 1
    totalThoughts must be a whole number from 1
    isRevision must be true or false
    needsMoreThoughts must be true or false
    revisesThought must be a whole number from 1
    branchFromThought must be a whole number from 1
    branchId must be a text of at most 100 characters
    error: thought must not exceed 100000 characters
    error: branchId must be a text of at most 100 characters
    {"thoughtNumber":1,"totalThoughts":1,"nextThoughtNeeded":true,"branches":[],"thoughtHistoryLength":1}
    "#);
}

#[tokio::test]
async fn quoted_values_and_nulls_are_accepted() {
    let results = think(&[with(
        thought(1, 1),
        &json!({ "nextThoughtNeeded": "false", "thoughtNumber": "2", "totalThoughts": 3.0,
                 "isRevision": null, "branchFromThought": null, "branchId": "" }),
    )])
    .await;
    assert_snapshot!(results.join("\n"), @r#"{"thoughtNumber":2,"totalThoughts":3,"nextThoughtNeeded":false,"branches":[],"thoughtHistoryLength":1}"#);
}

#[tokio::test]
async fn the_number_of_branches_is_limited() {
    let branch = |number: usize| {
        with(thought(1, 1), &json!({ "branchFromThought": 1, "branchId": number.to_string() }))
    };
    let mut thoughts: Vec<Value> = (0..=100).map(branch).collect();
    thoughts.push(branch(0));
    let results = think(&thoughts).await;
    assert_eq!(
        results[100],
        "error: branchId must name an existing branch: at most 100 are allowed"
    );
    assert!(results[101].ends_with(r#""thoughtHistoryLength":101}"#), "{}", results[101]);
}

#[tokio::test]
async fn an_old_client_gets_only_fields_of_its_revision() {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for (revision, tool, result) in [
        ("2025-03-26", "description inputSchema name", "content"),
        (
            "2025-06-18",
            "annotations description inputSchema name outputSchema title",
            "content structuredContent",
        ),
    ] {
        let answers =
            exchange(&[initialize(revision), list.clone(), call(2, &thought(1, 1))]).await;
        assert_eq!(keys(&answers[1]["tools"][0]), tool, "{revision}");
        assert_eq!(keys(&answers[2]), result, "{revision}");
    }
}

fn keys(object: &Value) -> String {
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys.join(" ")
}

#[tokio::test]
async fn unknown_tools_and_methods_are_rejected() {
    let other = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                        "params": { "name": "other" } });
    let prompts = json!({ "jsonrpc": "2.0", "id": 2, "method": "prompts/list" });
    let answers = exchange(&[initialize("2025-11-25"), other, prompts]).await;
    assert_snapshot!(format!("{}\n{}", answers[1], answers[2]), @r#"
    {"code":-32602,"message":"Unknown tool; the only one is sequentialthinking"}
    {"code":-32601,"message":"Method not found: prompts/list"}
    "#);
}
