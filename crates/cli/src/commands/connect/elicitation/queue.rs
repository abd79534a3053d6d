//! The queue of elicitation requests: one is asked at a time, the others wait.
//!
//! While a question is open, the progress line is paused. A request that its server cancels is no
//! longer waited for.

use tokio::sync::{mpsc, oneshot};
use wharf::config::ServerName;
use wharf::protocol::transport::BoxFuture;
use wharf::protocol::view::send::{ElicitationAnswer, ElicitationSupport};
use wharf::protocol::view::{Elicitation, ElicitationMode};
use wharf::{ElicitationRequest, Elicitor};
use wharf_config::text::clean;

use super::super::progress::Progress;
use super::dialog::Dialog;
use super::{form, url};
use crate::ui::{Keyboard, Ui, phrase, style};

/// The capacity of the queue; further requests wait until there is space.
const MAX_QUEUED: usize = 8;

/// An elicitation request with the channel for its answer.
struct QueuedElicitation {
    server: ServerName,
    elicitation: Elicitation,
    reply: oneshot::Sender<ElicitationAnswer>,
}

/// The elicitor of the runtime: puts requests into the queue.
pub(in super::super) struct QueuedElicitor(mpsc::Sender<QueuedElicitation>);

/// The receiving end of the queue.
pub(in super::super) struct ElicitationQueue(mpsc::Receiver<QueuedElicitation>);

/// Creates the queue and its elicitor.
pub(in super::super) fn elicitation_queue() -> (QueuedElicitor, ElicitationQueue) {
    let (sender, receiver) = mpsc::channel(MAX_QUEUED);
    (QueuedElicitor(sender), ElicitationQueue(receiver))
}

impl Elicitor for QueuedElicitor {
    fn support(&self) -> ElicitationSupport {
        ElicitationSupport { form: true, url: true }
    }

    fn elicit(&self, request: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer> {
        let ElicitationRequest { server, elicitation, .. } = request;
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            // The receiver is gone when the run is over.
            if self.0.send(QueuedElicitation { server, elicitation, reply }).await.is_err() {
                return ElicitationAnswer::Cancel;
            }
            answer.await.unwrap_or(ElicitationAnswer::Cancel)
        })
    }
}

impl ElicitationQueue {
    /// Asks the person one question after the other; never returns.
    pub(in super::super) async fn answer_all(mut self, ui: &Ui, progress: &Progress<'_>) {
        let mut dialog: Option<Dialog<'_>> = None;
        while let Some(QueuedElicitation { server, elicitation, mut reply }) = self.0.recv().await {
            if reply.is_closed() {
                continue;
            }
            let dialog = dialog.get_or_insert_with(|| Dialog::new(ui, Keyboard::open()));
            progress.pause();
            let answer = tokio::select! {
                biased;
                () = reply.closed() => None,
                answer = ask(&server, &elicitation, dialog) => Some(answer),
            };
            match answer {
                // The server may be gone meanwhile; its call reports that.
                Some(answer) => drop(reply.send(answer)),
                None => ui.message("\nThe server cancelled the elicitation.\n"),
            }
            progress.resume();
        }
        std::future::pending::<()>().await;
    }
}

async fn ask(
    server: &ServerName,
    elicitation: &Elicitation,
    dialog: &mut Dialog<'_>,
) -> ElicitationAnswer {
    let server = phrase::quoted(server.as_str());
    let message = elicitation.message();
    let refused = match elicitation.mode() {
        ElicitationMode::Form { schema } => match wharf::elicitation::Form::read(&schema) {
            Ok(form) => return form::ask(&server, &message, &form, dialog).await,
            Err(error) => error.to_string(),
        },
        ElicitationMode::Url { url, .. } => match wharf::elicitation::UrlElicitation::read(&url) {
            Ok(page) => return url::ask(&server, &message, &page, dialog).await,
            Err(error) => error.to_string(),
        },
        ElicitationMode::Unknown => "its kind is unknown".to_owned(),
    };
    let label = style::warning("warning:");
    dialog.print(&format!("{label} declined an elicitation from {server}: {}\n", clean(&refused)));
    ElicitationAnswer::Decline
}
