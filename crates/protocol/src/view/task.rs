//! Tasks: requests whose result is available later.
//!
//! There are two protocols. In 2025-11-25 a task is in the member `task` of a result, and
//! `tasks/result` returns its result. Since 2026-07-28 tasks are an extension: the task is the
//! result itself, and `tasks/get` includes the final result or error. One view reads both.

use std::sync::LazyLock;
use std::time::Duration;

use bytestring::ByteString;
use memchr::memmem::Finder;

use super::fields::entry;
use super::input_request::InputRequest;
use super::list_page::ListEntry;
use super::tool_result::ResultType;
use super::violation::{JsonType, MemberRule, ObjectRules};
use crate::Json;
use crate::envelope::{RpcError, code};

/// The name of the extension.
pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";

const TASK: ObjectRules = &[(
    "",
    &[
        MemberRule::required("taskId", JsonType::String),
        MemberRule::required("status", JsonType::String).one_of(TaskStatus::NAMES),
        MemberRule::required("createdAt", JsonType::String),
        MemberRule::required("lastUpdatedAt", JsonType::String),
        MemberRule::optional("statusMessage", JsonType::String),
        MemberRule::optional("pollInterval", JsonType::Number),
        MemberRule::optional("pollIntervalMs", JsonType::Number),
        MemberRule::optional("result", JsonType::Object),
        MemberRule::optional("error", JsonType::Object),
    ],
)];

entry! {
    /// A task: a request whose result is available later.
    Task, "tasks", "taskId" as id, TASK
}

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskStatus {
    /// It is running; also used for an unknown status.
    Working,
    /// It waits for answers to its input requests.
    InputRequired,
    /// It is completed.
    Completed,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl TaskStatus {
    const NAMES: &'static [&'static str] =
        &["working", "input_required", "completed", "failed", "cancelled"];
}

/// Occurs in every task: as a member of a legacy result, and as the type of a modern one.
static TASK_NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"task\""));

impl Task {
    /// Returns the task in a result; `None` if the result has none.
    pub(crate) fn from_result(result: &Json) -> Option<Self> {
        // Most results are not tasks; a search is much faster than reading their members.
        TASK_NAME.find(result.as_str().as_bytes())?;
        let [task, result_type] = result.get_all(["task", "resultType"]);
        if let Some(task) = task.filter(Json::is_object) {
            return Self::read(task).ok();
        }
        let is_task = ResultType::named(result_type.as_ref()) == ResultType::Task;
        is_task.then(|| Self::read(result.clone()).ok())?
    }

    /// Returns the status.
    pub(crate) fn status(&self) -> TaskStatus {
        match self.raw.text_at("status").as_deref() {
            Some("input_required") => TaskStatus::InputRequired,
            Some("completed") => TaskStatus::Completed,
            Some("failed") => TaskStatus::Failed,
            Some("cancelled" | "canceled") => TaskStatus::Cancelled,
            _ => TaskStatus::Working,
        }
    }

    /// Returns the status message: untrusted text.
    pub(crate) fn status_message(&self) -> Option<ByteString> {
        self.raw.text_at("statusMessage")
    }

    /// Returns how long to wait before polling again.
    pub(crate) fn poll_interval(&self) -> Option<Duration> {
        let interval = self.raw.u64_at("pollIntervalMs");
        interval.or_else(|| self.raw.u64_at("pollInterval")).map(Duration::from_millis)
    }

    /// Returns the result of a completed task (extension only).
    pub(crate) fn result(&self) -> Option<Json> {
        self.raw.object_at("result")
    }

    /// Returns the error of a failed task (extension only).
    pub(crate) fn error(&self) -> Option<RpcError> {
        let error = self.raw.get("error").filter(|error| !error.is_null())?;
        let number = error.get("code").and_then(|number| number.as_str().parse().ok());
        let message =
            error.to_shared_text().or_else(|| error.text_at("message")).unwrap_or_default();
        let read = RpcError::new(number.unwrap_or(code::INTERNAL), String::from(message));
        Some(match error.get("data") {
            Some(data) => read.with_data(data),
            None => read,
        })
    }

    /// Returns the input requests that it waits for (extension only).
    pub(crate) fn requests(&self) -> Vec<InputRequest> {
        InputRequest::list(&self.raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task_in(text: &str) -> Option<Task> {
        Task::from_result(&text.parse().unwrap())
    }

    #[test]
    fn a_task_is_read_from_both_kinds_of_result() {
        let legacy = task_in(
            r#"{"task":{"taskId":"a","status":"working","ttl":60000,"pollInterval":50,
            "createdAt":"x","lastUpdatedAt":"x"}}"#,
        )
        .unwrap();
        let modern = task_in(
            r#"{"resultType":"task","taskId":"a","status":"working","ttlMs":60000,
            "pollIntervalMs":50,"createdAt":"x","lastUpdatedAt":"x"}"#,
        )
        .unwrap();
        for task in [legacy, modern] {
            assert_eq!(task.id(), "a");
            assert_eq!(task.status(), TaskStatus::Working);
            assert_eq!(task.poll_interval(), Some(Duration::from_millis(50)));
            assert_eq!(task.violations(), []);
        }
    }

    #[test]
    fn a_result_without_a_task_gives_none() {
        for text in
            [r#"{"content":[],"taskId":"a"}"#, r#"{"task":{}}"#, r#"{"resultType":"task"}"#, "7"]
        {
            assert_eq!(task_in(text), None, "{text}");
        }
    }

    #[test]
    fn the_result_and_the_error_of_a_task_are_read() {
        let task = |text: &str| Task::read(text.parse().unwrap()).unwrap();
        let done = task(r#"{"taskId":"a","status":"completed","result":{"content":[]}}"#);
        assert_eq!(done.status(), TaskStatus::Completed);
        assert_eq!(done.result().unwrap().as_str(), r#"{"content":[]}"#);
        let failed =
            task(r#"{"taskId":"a","status":"failed","error":{"code":-5,"message":"m","data":1}}"#);
        assert_eq!(failed.error().unwrap().to_string(), "m (code -5)");
        let input_required = task(
            r#"{"taskId":"a","status":"input_required","inputRequests":{"k":{"method":"roots/list"}}}"#,
        );
        assert_eq!(input_required.requests()[0].key, "k");
        let other = task(r#"{"taskId":"a","status":"napping"}"#);
        assert_eq!(other.status(), TaskStatus::Working);
    }
}
