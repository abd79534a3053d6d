//! Quirks of calls that become tasks: the modern extension, and the legacy tasks of 2025-11-25.

use serde_json::Value;

use super::StdioQuirk;
use super::server::{Event, NextStep, StdioBehavior, StdioServer};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WORKS, call_fails};
use crate::quirk::responses;

/// The common members of a modern task.
const TASK: &str = r#""taskId":"task-1","createdAt":"2026-07-28T10:00:00Z","lastUpdatedAt":"2026-07-28T10:00:01Z","ttlMs":60000,"pollIntervalMs":10"#;
/// The common members of a legacy task.
const LEGACY_TASK: &str = r#""taskId":"task-1","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:01Z","ttl":60000,"pollInterval":10"#;
const INPUT_REQUESTS: &str = r#"{"berth":{"method":"elicitation/create","params":{"mode":"form","message":"Which berth?","requestedSchema":{"type":"object","properties":{"berth":{"type":"string"}}}}}}"#;

const fn task_quirk(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    handle: fn(&mut StdioServer, &Event<'_>) -> NextStep,
) -> StdioQuirk {
    StdioQuirk::new(name, description, expect, StdioBehavior::Handler(handle))
        .modern()
        .tagged(&[ModeTag::NeedsTasks])
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    task_quirk(
        "task-completes",
        "runs a call as a task that is completed at the third poll",
        WORKS,
        |server, event| {
            handle_modern(server, event, |polls| {
                if polls < 3 { TaskStatus::Working } else { TaskStatus::Completed }
            })
        },
    ),
    task_quirk(
        "task-at-once",
        "runs a call as a task that is completed at the first poll",
        WORKS,
        |server, event| handle_modern(server, event, |_| TaskStatus::Completed),
    ),
    task_quirk(
        "task-fails",
        "runs a call as a task that fails",
        call_fails(FailureReason::ErrorResponse),
        |server, event| handle_modern(server, event, |_| TaskStatus::Failed),
    ),
    task_quirk(
        "task-cancelled",
        "runs a call as a task that it cancels",
        call_fails(FailureReason::ErrorResponse),
        |server, event| handle_modern(server, event, |_| TaskStatus::Cancelled),
    ),
    task_quirk(
        "task-for-ever",
        "runs a call as a task that never completes",
        call_fails(FailureReason::TimedOut),
        |server, event| handle_modern(server, event, |_| TaskStatus::Working),
    ),
    task_quirk(
        "task-vanishes",
        "runs a call as a task that does not exist later",
        call_fails(FailureReason::ErrorResponse),
        |server, event| handle_modern(server, event, |_| TaskStatus::Gone),
    ),
    task_quirk(
        "task-unknown-status",
        "runs a call as a task with an unknown status",
        call_fails(FailureReason::TimedOut),
        |server, event| handle_modern(server, event, |_| TaskStatus::Unknown),
    ),
    task_quirk(
        "task-needs-input",
        "runs a call as a task that requires input",
        WORKS,
        |server, event| {
            if let Some(update) = event.request("tasks/update") {
                let is_answered = update.params.pointer("/inputResponses/berth").is_some();
                if is_answered {
                    server.held_requests.push_back(update.clone());
                    server.send_result(update, "{}");
                } else {
                    server.send_error(
                        update,
                        -32602,
                        "the input does not match the requested input",
                    );
                }
                return NextStep::Done;
            }
            let status = if server.held_requests.len() > 1 {
                TaskStatus::Completed
            } else {
                TaskStatus::InputRequired
            };
            match status {
                TaskStatus::Completed => handle_modern(server, event, |_| TaskStatus::Completed),
                _ => handle_modern(server, event, |_| TaskStatus::InputRequired),
            }
        },
    )
    .tagged(&[ModeTag::NeedsTasks, ModeTag::NeedsInput]),
    task_quirk(
        "task-undeclared",
        "runs a call as a task although the client did not declare tasks",
        call_fails(FailureReason::ErrorResponse),
        |server, event| match event.call() {
            Some(_) if client_has_tasks(server) => NextStep::Default,
            Some(request) => {
                let created = format!(r#"{{"resultType":"task","status":"working",{TASK}}}"#);
                server.send_result(request, &created);
                NextStep::Done
            }
            None => NextStep::Default,
        },
    )
    .tagged(&[]),
    StdioQuirk::new(
        "legacy-task-optional",
        "runs a call as a task if the client requests it",
        WORKS,
        StdioBehavior::Handler(|server, event| handle_legacy(server, event, "optional")),
    )
    .legacy()
    .tagged(&[ModeTag::NeedsTasks]),
    StdioQuirk::new(
        "legacy-task-required",
        "accepts a call only as a task",
        WORKS,
        StdioBehavior::Handler(|server, event| handle_legacy(server, event, "required")),
    )
    .legacy()
    .tagged(&[ModeTag::NeedsTasks]),
];

/// The status of a modern task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TaskStatus {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
    Unknown,
    Gone,
}

fn client_has_tasks(server: &StdioServer) -> bool {
    server.client_has("/extensions/io.modelcontextprotocol~1tasks")
}

/// Runs a call as a task; its status depends on the number of polls.
fn handle_modern(
    server: &mut StdioServer,
    event: &Event<'_>,
    status: fn(u32) -> TaskStatus,
) -> NextStep {
    if let Some(call) = event.call()
        && client_has_tasks(server)
    {
        server.held_requests.clear();
        server.held_requests.push_back(call.clone());
        server.send_result(call, &format!(r#"{{"resultType":"task","status":"working",{TASK}}}"#));
        return NextStep::Done;
    }
    if let Some(cancel) = event.request("tasks/cancel") {
        server.send_result(cancel, "{}");
        return NextStep::Done;
    }
    let Some(poll) = event.request("tasks/get") else { return NextStep::Default };
    let is_ours = poll.params.get("taskId").and_then(Value::as_str) == Some("task-1");
    let call = server.held_requests.front().cloned().filter(|_| is_ours);
    let Some(call) = call else {
        server.send_error(poll, -32602, "Task not found");
        return NextStep::Done;
    };
    let rest = match status(server.message_count("tasks/get")) {
        TaskStatus::Gone => {
            server.send_error(poll, -32602, "Task not found");
            return NextStep::Done;
        }
        TaskStatus::Working => r#""status":"working""#.to_owned(),
        TaskStatus::InputRequired => {
            format!(r#""status":"input_required","inputRequests":{INPUT_REQUESTS}"#)
        }
        TaskStatus::Completed => {
            let result = r#"{"content":[{"type":"text","text":$TEXT}],"isError":false}"#;
            format!(
                r#""status":"completed","result":{}"#,
                responses::fill_placeholders(result, &call)
            )
        }
        TaskStatus::Failed => {
            r#""status":"failed","error":{"code":-32603,"message":"the crane broke"}"#.to_owned()
        }
        TaskStatus::Cancelled => r#""status":"cancelled""#.to_owned(),
        TaskStatus::Unknown => r#""status":"adrift""#.to_owned(),
    };
    server.send_result(poll, &format!(r#"{{"resultType":"complete",{TASK},{rest}}}"#));
    NextStep::Done
}

/// Runs a call as a task of 2025-11-25: the client requests the task and fetches its result.
fn handle_legacy(server: &mut StdioServer, event: &Event<'_>, support: &str) -> NextStep {
    let Event::Request(request) = event else { return NextStep::Default };
    match request.method.as_str() {
        "initialize" => server.send_result(request, r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":$INFO}"#),
        "tools/list" => {
            let execution = format!(r#"{{"execution":{{"taskSupport":"{support}"}},"#);
            let tools = [responses::ECHO_TOOL, responses::ADD_TOOL].map(|tool| tool.replacen('{', &execution, 1));
            server.send_result(request, &format!(r#"{{"tools":[{}]}}"#, tools.join(",")));
        }
        "tools/call" if request.params.get("task").is_some() => {
            server.held_requests.push_back((*request).clone());
            server.send_result(request, &format!(r#"{{"task":{{"status":"working",{LEGACY_TASK}}}}}"#));
        }
        "tools/call" if support == "required" => {
            server.send_error(request, -32601, "this tool runs as a task only");
        }
        "tasks/get" => {
            let status = if server.message_count("tasks/get") < 3 { "working" } else { "completed" };
            server.send_result(request, &format!(r#"{{"status":"{status}",{LEGACY_TASK}}}"#));
        }
        "tasks/result" => match server.held_requests.pop_front() {
            Some(call) => {
                let result = responses::fill_placeholders(
                    r#"{"content":[{"type":"text","text":$TEXT}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"task-1"}}}"#,
                    &call,
                );
                server.send_line(&responses::rpc_response(request.id(), &Ok(result)));
            }
            None => server.send_error(request, -32602, "Task not found"),
        },
        "tasks/cancel" => {
            server.send_result(request, &format!(r#"{{"status":"cancelled",{LEGACY_TASK}}}"#));
        }
        _ => return NextStep::Default,
    }
    NextStep::Done
}
