//! Answers that take their time: tasks, in the way of 2025-11-25 and as an extension since.
//!
//! The server is asked at the interval it names. Questions it has in between go to the handler,
//! each once, even if the server still shows them the next time.

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

/// The longest text that can be the promise of a task.
const MAX_TASK_RESULT: usize = 16 << 10;

impl Peer {
    /// Calls a tool as a task of 2025-11-25 and waits for its result.
    ///
    /// `keep` is how long the server should keep the result.
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

    /// Asks how a task stands.
    pub(crate) async fn get_task(
        &self,
        id: &str,
        options: &RequestOptions,
    ) -> Result<Task, RequestError> {
        let result = self.request("tasks/get", Some(&send::task(id)), options).await?;
        task_in(&result)
    }

    /// Asks a server to give a task up.
    pub(crate) async fn cancel_task(
        &self,
        id: &str,
        options: &RequestOptions,
    ) -> Result<(), RequestError> {
        self.request("tasks/cancel", Some(&send::task(id)), options).await.map(drop)
    }

    /// Returns the result itself, or waits for the task that it promises.
    ///
    /// The server has the task by then, so every error is [`RequestError::AfterStart`].
    pub(super) async fn await_task(
        &self,
        method: &str,
        result: Json,
        options: &RequestOptions,
    ) -> Result<Json, RequestError> {
        // A promise is short; large results are not even looked through.
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
                // A legacy server asks its questions while it is asked for the result.
                TaskStatus::InputRequired if self.era() == Era::Legacy => {
                    return self.result_of(&task, options).await;
                }
                TaskStatus::Completed => return self.result_of(&task, options).await,
                TaskStatus::Failed | TaskStatus::Cancelled => {
                    return match (task.error(), self.era()) {
                        (Some(error), _) => Err(RequestError::Refused(error)),
                        // The legacy way tells the failure as the result.
                        (None, Era::Legacy) => self.result_of(&task, options).await,
                        (None, Era::Modern) => Err(RequestError::Refused(failure(method, &task))),
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
        open.retain(|question| answered.insert(question.key.to_string()));
        if open.is_empty() {
            return Ok(());
        }
        let answers = self.collect_answers(open).await?;
        let params = send::update_task(task.id(), &answers);
        self.request("tasks/update", Some(&params), options).await.map(drop)
    }

    async fn result_of(&self, task: &Task, options: &RequestOptions) -> Result<Json, RequestError> {
        if let Some(result) = task.result() {
            return Ok(result);
        }
        if self.era() == Era::Modern {
            return Err(RequestError::InvalidResponse("a finished task without a result".into()));
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
        .ok_or_else(|| RequestError::InvalidResponse("no task".into()))
}

/// Tells the server when nobody waits for a task any more.
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
                // Whatever the server says to it, there is nothing more to do.
                _ = peer.cancel_task(&id, &options) => {}
            }
        });
    }
}
