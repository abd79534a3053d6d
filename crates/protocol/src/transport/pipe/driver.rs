//! The tasks of a session over a [`Pipe`], and how the session ends.
//!
//! The reader task reads the output of the server. The driver task owns the writer and decides when
//! the session ends. A third task runs the future that came with the pipe. The driver owns the guard
//! that stops the other two, so nothing is left if it panics in code of the program.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Pipe;
use crate::session::{EndReason, SessionCore, SessionEnd};
use crate::transport::BoxFuture;
use crate::transport::lines::{LineTransport, MessageReader, Writer, YIELD_AFTER};

/// After the output, the input or the task ends: how long to wait for the end of the others.
const CONFIRMATION_LIMIT: Duration = Duration::from_millis(250);
/// The size of the buffer for output that nobody needs any more.
const DISCARD_SIZE: usize = 4 << 10;

type PipeReader = Box<dyn AsyncRead + Send + Unpin>;
type PipeWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// Starts the tasks of a session over a pipe.
pub(crate) fn open(core: &Arc<SessionCore>, pipe: Pipe) -> LineTransport {
    let Pipe { name, reader, writer: stream, task, grace } = pipe;
    let writer = Arc::new(Writer::to_stream(core.tracer.clone()));
    let dropped = CancellationToken::new();
    let (output_sender, output_closed) = oneshot::channel();
    let (drained_sender, drained) = oneshot::channel::<()>();
    let messages = MessageReader::new(core, &writer);
    let (ended, stopped) = (core.ended.clone(), dropped.clone());
    core.spawn(async move {
        let reading = async {
            read(messages, reader, ended, output_sender).await;
            // This tells the driver that the output has ended.
            drop(drained_sender);
        };
        tokio::select! {
            () = stopped.cancelled() => {}
            () = reading => {}
        }
    });
    let task = PipeTask(task.map(|task| spawn_task(core, task, dropped.clone())));
    let driver = Driver {
        core: Arc::clone(core),
        writer: Arc::clone(&writer),
        stream,
        task,
        _dropped: dropped.drop_guard(),
    };
    core.spawn(driver.run(output_closed, drained, grace));
    LineTransport::new(name, writer, None)
}

/// Reads messages until the output or the session ends; then reads the rest of the output, because
/// a server that cannot write may not end.
async fn read(
    messages: MessageReader,
    mut reader: PipeReader,
    ended: CancellationToken,
    output_sender: oneshot::Sender<EndReason>,
) {
    tokio::select! {
        () = ended.cancelled() => {}
        reason = messages.run(&mut reader) => {
            // The send fails if the driver has already ended the session.
            drop(output_sender.send(reason));
            return;
        }
    }
    let mut discarded = vec![0; DISCARD_SIZE];
    let mut turn = 0;
    while let Ok(count @ 1..) = reader.read(&mut discarded).await {
        turn += count;
        if turn >= YIELD_AFTER {
            turn = 0;
            tokio::task::yield_now().await;
        }
    }
}

/// The future that came with a pipe.
type TaskFuture = BoxFuture<'static, ()>;

/// Runs the future that came with the pipe; the receiver gets how it ended.
fn spawn_task(
    core: &Arc<SessionCore>,
    task: TaskFuture,
    stopped: CancellationToken,
) -> oneshot::Receiver<TaskEnd> {
    let (sender, end) = oneshot::channel();
    core.tasks.spawn(async move {
        tokio::select! {
            biased;
            () = stopped.cancelled() => {}
            // Unwind safe: nothing of the task is used after a panic.
            outcome = AssertUnwindSafe(task).catch_unwind() => {
                let end = if outcome.is_ok() { TaskEnd::Returned } else { TaskEnd::Panicked };
                // The send fails if the driver no longer waits.
                let _ignored = sender.send(end);
            }
        }
    });
    end
}

/// The task of a pipe until its end was seen; `None` from then on, and if there is no task.
struct PipeTask(Option<oneshot::Receiver<TaskEnd>>);

impl PipeTask {
    fn is_running(&self) -> bool {
        self.0.is_some()
    }

    /// Waits for the end of the task; a task that is not running has ended. Cancel safe.
    async fn end(&mut self) -> TaskEnd {
        let Some(running) = &mut self.0 else { return TaskEnd::Returned };
        // The sender is dropped unused only together with the session.
        let end = running.await.unwrap_or(TaskEnd::Returned);
        self.0 = None;
        end
    }
}

/// How the task of a pipe ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskEnd {
    Returned,
    Panicked,
}

impl TaskEnd {
    fn reason(self) -> EndReason {
        match self {
            Self::Returned => EndReason::OutputClosed,
            Self::Panicked => EndReason::PipeTaskPanicked,
        }
    }
}

struct Driver {
    core: Arc<SessionCore>,
    writer: Arc<Writer>,
    stream: PipeWriter,
    task: PipeTask,
    /// Ends the reader and the task of the pipe.
    _dropped: DropGuard,
}

impl Driver {
    async fn run(
        mut self,
        output_closed: oneshot::Receiver<EndReason>,
        drained: oneshot::Receiver<()>,
        grace: Duration,
    ) {
        let core = Arc::clone(&self.core);
        let reason = tokio::select! {
            biased;
            reason = self.wait_for_end(output_closed) => reason,
            never = core.pending.run_timer(|| core.last_server_request()) => match never {},
        };
        let unsent = self.writer.close();
        core.end(SessionEnd { reason, stderr: String::new() }, &unsent);
        let ending = async {
            // An error means that the server has closed its input already.
            drop(self.stream.shutdown().await);
            // The sender is only dropped.
            drop(drained.await);
            self.task.end().await;
        };
        // What has not ended by then is dropped.
        drop(tokio::time::timeout(grace, ending).await);
    }

    /// Runs until the session ends, and returns the reason.
    async fn wait_for_end(&mut self, mut output_closed: oneshot::Receiver<EndReason>) -> EndReason {
        let has_task = self.task.is_running();
        tokio::select! {
            biased;
            () = self.core.stop.cancelled() => EndReason::Closed,
            reason = &mut output_closed => {
                let reason = reason.unwrap_or(EndReason::OutputClosed);
                if !has_task || !matches!(reason, EndReason::OutputClosed) {
                    return reason;
                }
                // Usually the task has just ended; its panic says more.
                let end = tokio::time::timeout(CONFIRMATION_LIMIT, self.task.end()).await;
                end.map_or(reason, TaskEnd::reason)
            }
            end = self.task.end(), if has_task => {
                // Messages that the server wrote before its end still count.
                match tokio::time::timeout(CONFIRMATION_LIMIT, output_closed).await {
                    Ok(Ok(reason @ (EndReason::NotMcp | EndReason::EndlessMessage))) => reason,
                    _ => end.reason(),
                }
            }
            _ = self.writer.write_queued_to(&mut self.stream) => {
                match tokio::time::timeout(CONFIRMATION_LIMIT, output_closed).await {
                    Ok(Ok(reason)) => reason,
                    _ => EndReason::InputClosed,
                }
            }
        }
    }
}
