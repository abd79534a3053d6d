//! Quirks of calls that become tasks: the modern extension, and the legacy tasks of 2025-11-25.

use serde_json::Value;

use super::StdioQuirk;
use super::server::{Act, Event, Flow, Server};
use crate::quirk::answers;
use crate::quirk::mode::{Expect, Failure, Tag, WORKS, call_fails};

/// What every description of a modern task has.
const TASK: &str = r#""taskId":"task-1","createdAt":"2026-07-28T10:00:00Z","lastUpdatedAt":"2026-07-28T10:00:01Z","ttlMs":60000,"pollIntervalMs":10"#;
/// What every description of a legacy task has.
const LEGACY_TASK: &str = r#""taskId":"task-1","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:01Z","ttl":60000,"pollInterval":10"#;
const QUESTION: &str = r#"{"berth":{"method":"elicitation/create","params":{"mode":"form","message":"Which berth?","requestedSchema":{"type":"object","properties":{"berth":{"type":"string"}}}}}}"#;

const fn task(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    act: fn(&mut Server, &Event<'_>) -> Flow,
) -> StdioQuirk {
    StdioQuirk::new(name, sentence, expect, Act::Code(act)).modern().tagged(&[Tag::NeedsTasks])
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    task("task-completes", "makes a call a task that is done at the third look", WORKS, |s, e| {
        modern(s, e, |looks| if looks < 3 { Status::Working } else { Status::Completed })
    }),
    task("task-at-once", "makes a call a task that is done at the first look", WORKS, |s, e| {
        modern(s, e, |_| Status::Completed)
    }),
    task("task-fails", "makes a call a task that fails", call_fails(Failure::Refused), |s, e| {
        modern(s, e, |_| Status::Failed)
    }),
    task(
        "task-cancelled",
        "makes a call a task that it cancels",
        call_fails(Failure::Any),
        |s, e| modern(s, e, |_| Status::Cancelled),
    ),
    task(
        "task-for-ever",
        "makes a call a task that is never done",
        call_fails(Failure::TimedOut),
        |s, e| modern(s, e, |_| Status::Working),
    ),
    task(
        "task-vanishes",
        "makes a call a task that nobody knows later",
        call_fails(Failure::Refused),
        |s, e| modern(s, e, |_| Status::Gone),
    ),
    task(
        "task-unknown-status",
        "makes a call a task with a status that nobody knows",
        call_fails(Failure::Any),
        |s, e| modern(s, e, |_| Status::Unknown),
    ),
    task("task-needs-input", "makes a call a task that wants to know something", WORKS, |s, e| {
        if let Some(update) = e.asks("tasks/update") {
            let is_answered = update.params.pointer("/inputResponses/berth").is_some();
            if is_answered {
                s.held.push_back(update.clone());
                s.result(update, "{}");
            } else {
                s.refuse(update, -32602, "the input is not what was asked for");
            }
            return Flow::Done;
        }
        let status = if s.held.len() > 1 { Status::Completed } else { Status::InputRequired };
        match status {
            Status::Completed => modern(s, e, |_| Status::Completed),
            _ => modern(s, e, |_| Status::InputRequired),
        }
    })
    .tagged(&[Tag::NeedsTasks, Tag::NeedsInput]),
    task(
        "task-undeclared",
        "makes a call a task although the client did not say that it knows tasks",
        call_fails(Failure::Any),
        |s, e| match e.call() {
            Some(_) if knows_tasks(s) => Flow::Usual,
            Some(request) => {
                let created = format!(r#"{{"resultType":"task","status":"working",{TASK}}}"#);
                s.result(request, &created);
                Flow::Done
            }
            None => Flow::Usual,
        },
    )
    .tagged(&[]),
    StdioQuirk::new(
        "legacy-task-optional",
        "makes a call a task for who asks for it",
        WORKS,
        Act::Code(|s, e| legacy(s, e, "optional")),
    )
    .legacy()
    .tagged(&[Tag::NeedsTasks]),
    StdioQuirk::new(
        "legacy-task-required",
        "takes a call only as a task",
        WORKS,
        Act::Code(|s, e| legacy(s, e, "required")),
    )
    .legacy()
    .tagged(&[Tag::NeedsTasks]),
];

/// How a task stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
    Unknown,
    Gone,
}

fn knows_tasks(server: &Server) -> bool {
    server.can("/extensions/io.modelcontextprotocol~1tasks")
}

/// Makes a call a task, and tells how it stands by the number of looks.
fn modern(server: &mut Server, event: &Event<'_>, status: fn(u32) -> Status) -> Flow {
    if let Some(call) = event.call()
        && knows_tasks(server)
    {
        server.held.clear();
        server.held.push_back(call.clone());
        server.result(call, &format!(r#"{{"resultType":"task","status":"working",{TASK}}}"#));
        return Flow::Done;
    }
    if let Some(cancel) = event.asks("tasks/cancel") {
        server.result(cancel, "{}");
        return Flow::Done;
    }
    let Some(look) = event.asks("tasks/get") else { return Flow::Usual };
    let is_ours = look.params.get("taskId").and_then(Value::as_str) == Some("task-1");
    let call = server.held.front().cloned().filter(|_| is_ours);
    let Some(call) = call else {
        server.refuse(look, -32602, "Task not found");
        return Flow::Done;
    };
    let rest = match status(server.times("tasks/get")) {
        Status::Gone => {
            server.refuse(look, -32602, "Task not found");
            return Flow::Done;
        }
        Status::Working => r#""status":"working""#.to_owned(),
        Status::InputRequired => {
            format!(r#""status":"input_required","inputRequests":{QUESTION}"#)
        }
        Status::Completed => {
            let result = r#"{"content":[{"type":"text","text":$TEXT}],"isError":false}"#;
            format!(r#""status":"completed","result":{}"#, answers::fill(result, &call))
        }
        Status::Failed => {
            r#""status":"failed","error":{"code":-32603,"message":"the crane broke"}"#.to_owned()
        }
        Status::Cancelled => r#""status":"cancelled""#.to_owned(),
        Status::Unknown => r#""status":"adrift""#.to_owned(),
    };
    server.result(look, &format!(r#"{{"resultType":"complete",{TASK},{rest}}}"#));
    Flow::Done
}

/// The tasks of 2025-11-25, where the client asks for a task and fetches its result.
fn legacy(server: &mut Server, event: &Event<'_>, support: &str) -> Flow {
    let Event::Asked(request) = event else { return Flow::Usual };
    match request.method.as_str() {
        "initialize" => server.result(request, r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":$INFO}"#),
        "tools/list" => {
            let execution = format!(r#"{{"execution":{{"taskSupport":"{support}"}},"#);
            let tools = [answers::ECHO, answers::ADD].map(|tool| tool.replacen('{', &execution, 1));
            server.result(request, &format!(r#"{{"tools":[{}]}}"#, tools.join(",")));
        }
        "tools/call" if request.params.get("task").is_some() => {
            server.held.push_back((*request).clone());
            server.result(request, &format!(r#"{{"task":{{"status":"working",{LEGACY_TASK}}}}}"#));
        }
        "tools/call" if support == "required" => {
            server.refuse(request, -32601, "this tool runs as a task only");
        }
        "tasks/get" => {
            let status = if server.times("tasks/get") < 3 { "working" } else { "completed" };
            server.result(request, &format!(r#"{{"status":"{status}",{LEGACY_TASK}}}"#));
        }
        "tasks/result" => match server.held.pop_front() {
            Some(call) => {
                let result = answers::fill(
                    r#"{"content":[{"type":"text","text":$TEXT}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"task-1"}}}"#,
                    &call,
                );
                server.say(&answers::reply(request.id(), &Ok(result)));
            }
            None => server.refuse(request, -32602, "Task not found"),
        },
        "tasks/cancel" => {
            server.result(request, &format!(r#"{{"status":"cancelled",{LEGACY_TASK}}}"#));
        }
        _ => return Flow::Usual,
    }
    Flow::Done
}
