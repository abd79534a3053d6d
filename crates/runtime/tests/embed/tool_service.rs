//! Tools that are functions of the program: what a function gets, and what clients see of it.

use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::json;
use wharf::protocol::Json;
use wharf::protocol::serve::{CallProgress, FunctionCall, FunctionTool, ToolReply, ToolService};
use wharf::protocol::view::LogLevel;
use wharf::{Approval, Event, Runtime, in_process};

use super::world::LIMIT;

async fn start(tool: FunctionTool) -> Runtime {
    start_with(tool, "2026-07-28").await
}

async fn start_with(tool: FunctionTool, revision: &str) -> Runtime {
    let entry = in_process(ToolService::new("own", "1.0.0").tool(tool).into_server());
    let entry = entry.approval(Approval::Never).protocol_version(revision);
    let runtime = Runtime::builder().server("own", entry).start().await.unwrap();
    runtime.settled().await;
    runtime
}

#[tokio::test]
async fn a_function_reports_progress_and_logs_to_its_caller() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let tool = FunctionTool::new("work", async |call: FunctionCall| {
            let half = CallProgress { progress: 1.0, total: Some(2.0), message: Some("half") };
            call.context.progress(half).await.map_err(|error| error.to_string())?;
            let text = Json::from(json!("nearly done"));
            call.context.log(LogLevel::Info, &text).await.map_err(|error| error.to_string())?;
            Ok(ToolReply::text(call.context.client().revision().to_string()))
        });
        let runtime = start_with(tool, revision).await;
        let mut events = runtime.events();
        runtime.set_log_level("own", LogLevel::Info).await.unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let call = runtime.call("own/work", ()).on_progress(move |report| {
            sink.lock().unwrap().extend(report.get("message").and_then(|text| text.to_text()));
        });
        assert_eq!(call.await.text, revision);
        assert_eq!(*seen.lock().unwrap(), ["half"]);
        let logged = async {
            loop {
                if let Some(Event::Log { text, .. }) = events.next().await {
                    return text;
                }
            }
        };
        let logged = tokio::time::timeout(LIMIT, logged).await.expect("the message arrives");
        assert_eq!(logged, "nearly done");
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn a_function_sees_that_its_call_was_cancelled() {
    let (sender, mut cancelled) = tokio::sync::mpsc::unbounded_channel();
    let (began, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
    let tool = FunctionTool::new("wait", move |call: FunctionCall| {
        let (sender, began) = (sender.clone(), began.clone());
        async move {
            began.send(()).unwrap();
            call.context.cancellation().cancelled().await;
            sender.send(()).unwrap();
            Err("cancelled".to_owned())
        }
    });
    let runtime = start(tool).await;
    let mut call = runtime.call("own/wait", ()).into_future();
    tokio::select! {
        _ = &mut call => panic!("it never answers"),
        signal = has_begun.recv() => assert!(signal.is_some()),
    }
    drop(call);
    let seen = tokio::time::timeout(LIMIT, cancelled.recv()).await.expect("it is told");
    assert!(seen.is_some());
    runtime.shutdown().await;
}

#[tokio::test]
async fn what_a_tool_says_about_itself_reaches_clients_of_revisions_that_know_it() {
    let tool = || {
        FunctionTool::new("add", async |_| Ok(ToolReply::structured(json!({ "sum": 1 }))))
            .title("Add")
            .description("Adds.")
            .input_schema(json!({ "type": "object", "properties": { "a": {} } }))
            .output_schema(json!({ "type": "object", "properties": { "sum": {} } }))
            .read_only()
            .idempotent()
            .additive()
            .closed_world()
    };
    let runtime = start(tool()).await;
    let listed = runtime.tools().remove(0);
    assert_eq!(listed.title().as_deref(), Some("Add"));
    assert_eq!(listed.description().as_deref(), Some("Adds."));
    let annotations = serde_json::Value::try_from(listed.annotations().unwrap()).unwrap();
    assert_eq!(
        annotations,
        json!({
            "readOnlyHint": true, "idempotentHint": true,
            "destructiveHint": false, "openWorldHint": false,
        })
    );
    assert!(listed.output_schema().is_some());
    let outcome = runtime.call(listed, ()).await;
    assert_eq!(outcome.structured.unwrap().as_str(), r#"{"sum":1}"#);
    runtime.shutdown().await;

    let runtime = start_with(tool(), "2024-11-05").await;
    let listed = runtime.tools().remove(0);
    assert_eq!(listed.description().as_deref(), Some("Adds."));
    assert!(listed.annotations().is_none() && listed.output_schema().is_none());
    let outcome = runtime.call(listed, ()).await;
    assert_eq!((outcome.text.as_str(), outcome.structured), (r#"{"sum":1}"#, None));
    runtime.shutdown().await;
}

#[derive(Deserialize)]
struct Numbers {
    a: i64,
    b: Option<i64>,
}

#[tokio::test]
async fn a_wrong_argument_is_named_to_the_model() {
    let tool = FunctionTool::new("add", async |call: FunctionCall| {
        let (a, b): (i64, Option<i64>) = (call.argument("a")?, call.argument("b")?);
        let whole: Numbers = call.decode()?;
        assert_eq!((whole.a, whole.b), (a, b));
        Ok(ToolReply::text((a + b.unwrap_or(0)).to_string()))
    });
    let runtime = start(tool).await;
    let text = async |arguments| runtime.call("own/add", arguments).await.text;
    assert_eq!(text(json!({ "a": 1, "b": 2 })).await, "3");
    assert_eq!(text(json!({ "a": 1 })).await, "1");
    assert_eq!(text(json!({})).await, "Error: \"a\" is missing");
    let wrong = text(json!({ "a": "one" })).await;
    assert!(wrong.starts_with("Error: \"a\" is wrong: invalid type"), "{wrong}");
    runtime.shutdown().await;
}
