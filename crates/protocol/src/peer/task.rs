//! Tasks: long-running tool calls, as in 2025-11-25 and as an extension since 2026-07-28.
//!
//! The client polls `tasks/get` at the interval that the server sets. The handler answers each
//! input request of a task once, even if the server still lists it at the next poll.

use std::collections::HashSet;
use std::time::Duration;

use super::{Peer, RequestOptions};
use crate::Json;
use crate::envelope::RpcError;
use crate::era::Era;
use crate::session::RequestError;
use crate::view::send::{self, Object};
use crate::view::{ListEntry as _, Task, TaskStatus, ToolResult};

const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);
const MIN_INTERVAL: Duration = Duration::from_millis(10);
const MAX_INTERVAL: Duration = Duration::from_secs(60);

/// A longer result cannot be a task.
const MAX_TASK_RESULT: usize = 16 << 10;

impl Peer {
    /// Calls a tool as a task of 2025-11-25 and waits for its result.
    ///
    /// `keep` is how long the server should keep the result (`ttl`).
    pub async fn call_tool_as_task(
        &self,
        name: &str,
        arguments: Option<&Object>,
        keep: Duration,
        options: &RequestOptions,
    ) -> Result<ToolResult, RequestError> {
        let params = send::call_tool(name, arguments, Some(keep));
        let result = self.request_with_input("tools/call", &params, options, &[]).await?;
        self.await_task("tools/call", result, options).await.map(ToolResult::read)
    }

    /// Gets the state of a task.
    pub(crate) async fn get_task(
        &self,
        id: &str,
        options: &RequestOptions,
    ) -> Result<Task, RequestError> {
        let result = self.request("tasks/get", Some(&send::task(id)), options).await?;
        task_in(&result)
    }

    /// Cancels a task.
    pub(crate) async fn cancel_task(
        &self,
        id: &str,
        options: &RequestOptions,
    ) -> Result<(), RequestError> {
        self.request("tasks/cancel", Some(&send::task(id)), options).await.map(drop)
    }

    /// Returns the result, or waits for the task if the result is one.
    ///
    /// The server has already started the task, so every error is [`RequestError::AfterStart`].
    pub(super) async fn await_task(
        &self,
        method: &str,
        result: Json,
        options: &RequestOptions,
    ) -> Result<Json, RequestError> {
        // A task is short, so large results are not parsed for it.
        if result.as_str().len() > MAX_TASK_RESULT {
            return Ok(result);
        }
        let Some(task) = Task::from_result(&result) else { return Ok(result) };
        let mut cancel_on_drop = CancelOnDrop { peer: self, id: Some(task.id().to_string()) };
        let waiting = Box::pin(self.poll_task(method, task, options));
        let cap = options.deadline.cap;
        let Ok(outcome) = tokio::time::timeout(cap, waiting).await else {
            return Err(RequestError::TimedOut { limit: cap, never_sent: false }.after_start());
        };
        cancel_on_drop.id = None;
        outcome.map_err(RequestError::after_start)
    }

    async fn poll_task(
        &self,
        method: &str,
        mut task: Task,
        options: &RequestOptions,
    ) -> Result<Json, RequestError> {
        let mut answered = HashSet::new();
        loop {
            match task.status() {
                // A legacy server sends its requests while the client waits for `tasks/result`.
                TaskStatus::InputRequired if self.era() == Era::Legacy => {
                    return self.result_of(&task, options).await;
                }
                TaskStatus::Completed => return self.result_of(&task, options).await,
                TaskStatus::Failed | TaskStatus::Cancelled => {
                    return match (task.error(), self.era()) {
                        (Some(error), _) => Err(RequestError::ErrorResponse(error)),
                        // In the legacy revision, the result contains the failure.
                        (None, Era::Legacy) => self.result_of(&task, options).await,
                        (None, Era::Modern) => {
                            Err(RequestError::ErrorResponse(failure(method, &task)))
                        }
                    };
                }
                TaskStatus::InputRequired => {
                    self.answer_task(&task, &mut answered, options).await?;
                }
                TaskStatus::Working => {}
            }
            let interval =
                task.poll_interval().unwrap_or(DEFAULT_INTERVAL).clamp(MIN_INTERVAL, MAX_INTERVAL);
            tokio::time::sleep(interval).await;
            task = self.get_task(task.id().as_ref(), options).await?;
        }
    }

    async fn answer_task(
        &self,
        task: &Task,
        answered: &mut HashSet<String>,
        options: &RequestOptions,
    ) -> Result<(), RequestError> {
        let mut open = task.requests();
        open.retain(|request| answered.insert(request.key.to_string()));
        if open.is_empty() {
            return Ok(());
        }
        let answers = self.collect_answers(open, options.cause.as_ref()).await?;
        let params = send::update_task(task.id(), &answers);
        self.request("tasks/update", Some(&params), options).await.map(drop)
    }

    async fn result_of(&self, task: &Task, options: &RequestOptions) -> Result<Json, RequestError> {
        if let Some(result) = task.result() {
            return Ok(result);
        }
        if self.era() == Era::Modern {
            return Err(RequestError::InvalidResponse("the finished task has no result".into()));
        }
        self.request("tasks/result", Some(&send::task(task.id())), options).await
    }
}

fn failure(method: &str, task: &Task) -> RpcError {
    let message = task.status_message().map_or_else(
        || format!("the task of `{method}` ended without a result"),
        |message| message.to_string(),
    );
    RpcError::new(crate::envelope::code::INTERNAL, message)
}

fn task_in(result: &Json) -> Result<Task, RequestError> {
    Task::from_result(result)
        .or_else(|| Task::read(result.clone()).ok())
        .ok_or_else(|| RequestError::InvalidResponse("it is not a task".into()))
}

/// Cancels a task when it is dropped.
struct CancelOnDrop<'a> {
    peer: &'a Peer,
    id: Option<String>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        let tasks = peer.0.connection.core.tasks.clone();
        tasks.spawn(async move {
            let options = RequestOptions::within(Duration::from_secs(5));
            let ended = peer.0.connection.core.ended.clone();
            tokio::select! {
                () = ended.cancelled() => {}
                // The result does not matter: the task is cancelled on a best-effort basis.
                _ = peer.cancel_task(&id, &options) => {}
            }
        });
    }
}
