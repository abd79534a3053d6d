//! Tests resources, prompts, completions and instructions, of one server and of all.

use insta::assert_snapshot;
use serde_json::json;
use wharf::protocol::view::send::{CompletionRequest, Reference};
use wharf_testkit::actor::Script;

use super::fixture::Fixture;

#[tokio::test]
async fn resources_prompts_and_completions_can_be_listed_and_used() {
    let mut fixture = Fixture::new();
    let script = Script { extras: 2, instructions: Some("be kind".into()), ..Script::default() };
    fixture.actor("one", &script, json!({}));
    fixture.actor("two", &script, json!({ "instructions": false }));
    fixture.actor("plain", &Script::with_tools(["a"]), json!({}));
    fixture.actor("bad", &Script { exit: Some(1), ..Script::default() }, json!({}));
    let runtime = fixture.start();
    runtime.ready().await;
    let resources = runtime.resources(None).await;
    let listed: Vec<_> = resources
        .items
        .iter()
        .map(|(server, it)| format!("{server} {}", it.raw().as_str()))
        .collect();
    assert_snapshot!(listed.join("\n"), @r#"
    one {"uri":"actor://0","name":"r0"}
    one {"uri":"actor://1","name":"r1"}
    two {"uri":"actor://0","name":"r0"}
    two {"uri":"actor://1","name":"r1"}
    "#);
    let errors: Vec<_> = resources.errors.iter().map(|(server, _)| server.as_str()).collect();
    assert_eq!(errors, ["bad"]);
    assert_eq!(runtime.resource_templates(Some("one")).await.items.len(), 1);
    assert_eq!(runtime.prompts(None).await.items.len(), 4);
    let read = runtime.read_resource("one", "actor://0").await.unwrap();
    assert!(read.raw().as_str().contains("what is in it"));
    let arguments = [("who".to_owned(), "world".to_owned())];
    let prompt = runtime.get_prompt("two", "p0", &arguments).await.unwrap();
    assert!(prompt.raw().as_str().contains("hello world"));
    let request = CompletionRequest {
        reference: Reference::Prompt("p0".into()),
        argument: "who".into(),
        value: "o".into(),
        known: Vec::new(),
    };
    let completion = runtime.complete("one", &request).await.unwrap();
    assert_eq!(completion.values(), ["one", "two"]);
    let told: Vec<_> =
        runtime.instructions().iter().map(|(server, text)| format!("{server}: {text}")).collect();
    assert_eq!(told, ["one: be kind"]);
    assert!(runtime.read_resource("nobody", "x").await.is_err());
    runtime.shutdown().await;
}
