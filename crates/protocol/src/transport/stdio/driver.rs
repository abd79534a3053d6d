//! The reader task and the driver task of a stdio session, and how the session ends.
//!
//! The driver watches both the process and its stdout: a grandchild that inherited stdout keeps the
//! pipe open after the server has exited, and a server may close stdout and keep running.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::session::{EndReason, SessionCore, SessionEnd};
use crate::transport::lines::{LineTransport, MessageReader, Writer};
use crate::transport::process::{GracePeriod, Process, Stdout};

/// After stdout, stdin or the process ends: how long to wait for the exit or the rest of stdout.
const CONFIRMATION_LIMIT: Duration = Duration::from_millis(250);
/// How long to wait for the rest of stderr.
const STDERR_LIMIT: Duration = Duration::from_millis(50);

/// Starts the tasks of a stdio session.
pub(crate) fn open(
    core: &Arc<SessionCore>,
    mut process: Process,
    grace: GracePeriod,
) -> LineTransport {
    let stdout = process.take_stdout();
    let writer = Arc::new(Writer::to_stdin(process.take_stdin(), core.tracer.clone()));
    let stderr = process.stderr().clone();
    let (output_sender, output_closed) = oneshot::channel();
    let reader = MessageReader::new(core, &writer);
    let ended = core.ended.clone();
    core.spawn(async move {
        let reason = tokio::select! {
            () = ended.cancelled() => EndReason::Closed,
            reason = read(reader, stdout) => reason,
        };
        // The send fails if the driver has already ended the session.
        drop(output_sender.send(reason));
    });
    let driver = Driver { core: Arc::clone(core), writer: Arc::clone(&writer), process };
    core.spawn(driver.run(output_closed, grace));
    LineTransport::new("stdio", writer, Some(stderr))
}

async fn read(reader: MessageReader, stdout: Option<Stdout>) -> EndReason {
    match stdout {
        Some(mut stdout) => reader.run(&mut stdout).await,
        None => EndReason::OutputClosed,
    }
}

struct Driver {
    core: Arc<SessionCore>,
    writer: Arc<Writer>,
    process: Process,
}

impl Driver {
    async fn run(mut self, output_closed: oneshot::Receiver<EndReason>, grace: GracePeriod) {
        let core = Arc::clone(&self.core);
        let (ended, unsent) = tokio::select! {
            biased;
            end = self.run_until_end(output_closed) => end,
            never = core.pending.run_timer(|| core.last_server_request()) => match never {},
        };
        core.end(ended, &unsent);
        self.process.end(grace).await;
    }

    /// Runs until the session ends; returns how it ended, and the requests that were never written.
    async fn run_until_end(
        &mut self,
        output_closed: oneshot::Receiver<EndReason>,
    ) -> (SessionEnd, Vec<u64>) {
        let reason = self.wait_for_end(output_closed).await;
        let unsent = self.writer.close();
        // The last error messages of the server may not have been read yet.
        let limit = if matches!(reason, EndReason::Closed) { Duration::ZERO } else { STDERR_LIMIT };
        let stderr = self.process.final_stderr(limit).await;
        (SessionEnd { reason, stderr }, unsent)
    }

    /// Runs until the session ends, and returns the reason.
    async fn wait_for_end(&mut self, mut output_closed: oneshot::Receiver<EndReason>) -> EndReason {
        let status = tokio::select! {
            biased;
            () = self.core.stop.cancelled() => return EndReason::Closed,
            reason = &mut output_closed => {
                let reason = reason.unwrap_or(EndReason::OutputClosed);
                if !matches!(reason, EndReason::OutputClosed) {
                    return reason;
                }
                // Usually the process has just exited; its status says more.
                let exited = tokio::time::timeout(CONFIRMATION_LIMIT, self.process.exited()).await;
                return exited.map_or(reason, |status| EndReason::Exited { status });
            }
            status = self.process.exited() => status,
            _ = self.writer.write_queued() => {
                match tokio::time::timeout(CONFIRMATION_LIMIT, self.process.exited()).await {
                    Ok(status) => status,
                    Err(_) => return EndReason::InputClosed,
                }
            }
        };
        // Messages that the server wrote before its exit still count. When the reader gives up on
        // stdout, the server may exit because it fails to write; then the reader's reason counts.
        match tokio::time::timeout(CONFIRMATION_LIMIT, output_closed).await {
            Ok(Ok(reason @ (EndReason::NotMcp | EndReason::EndlessMessage))) => reason,
            _ => EndReason::Exited { status },
        }
    }
}
