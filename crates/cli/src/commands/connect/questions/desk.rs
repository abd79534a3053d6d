//! Where questions arrive: one is asked at a time, and the others wait for their turn.
//!
//! While a question is open the line about progress gives way. A question that its server takes
//! back is not waited for any longer.

use tokio::sync::{mpsc, oneshot};
use wharf::Elicitor;
use wharf::config::ServerName;
use wharf::protocol::transport::BoxFuture;
use wharf::protocol::view::send::{ElicitationAnswer, ElicitationSupport};
use wharf::protocol::view::{Elicitation, ElicitationMode};
use wharf_config::text::clean;

use super::super::progress::Progress;
use super::talk::Talk;
use super::{form, page};
use crate::ui::{Keyboard, Ui, phrase, style};

/// How many questions wait; whoever comes then waits to be let in.
const MOST_WAITING: usize = 8;

/// A question, and where its answer goes.
struct Question {
    server: ServerName,
    asked: Elicitation,
    reply: oneshot::Sender<ElicitationAnswer>,
}

/// Where servers leave their questions.
pub(in super::super) struct Bell(mpsc::Sender<Question>);

/// Where the person answers them.
pub(in super::super) struct Desk(mpsc::Receiver<Question>);

/// Makes a desk, and the bell in front of it.
pub(in super::super) fn desk() -> (Bell, Desk) {
    let (sender, receiver) = mpsc::channel(MOST_WAITING);
    (Bell(sender), Desk(receiver))
}

impl Elicitor for Bell {
    fn support(&self) -> ElicitationSupport {
        ElicitationSupport { form: true, url: true }
    }

    fn elicit(&self, server: ServerName, asked: Elicitation) -> BoxFuture<'_, ElicitationAnswer> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            // Nobody is at the desk any more when the run is over.
            if self.0.send(Question { server, asked, reply }).await.is_err() {
                return ElicitationAnswer::Cancel;
            }
            answer.await.unwrap_or(ElicitationAnswer::Cancel)
        })
    }
}

impl Desk {
    /// Asks the person one question after the other; never ends by itself.
    pub(in super::super) async fn attend(mut self, ui: &Ui, progress: &Progress<'_>) {
        let mut talk: Option<Talk<'_>> = None;
        while let Some(Question { server, asked, mut reply }) = self.0.recv().await {
            if reply.is_closed() {
                continue;
            }
            let talk = talk.get_or_insert_with(|| Talk::new(ui, Keyboard::open()));
            progress.give_way();
            let answer = tokio::select! {
                biased;
                () = reply.closed() => None,
                answer = ask(&server, &asked, talk) => Some(answer),
            };
            match answer {
                // The server may have gone meanwhile; its call tells of that.
                Some(answer) => drop(reply.send(answer)),
                None => ui.message("\nThe question was taken back.\n"),
            }
            progress.go_on();
        }
        std::future::pending::<()>().await;
    }
}

async fn ask(server: &ServerName, asked: &Elicitation, talk: &mut Talk<'_>) -> ElicitationAnswer {
    let server = phrase::quoted(server.as_str());
    let message = asked.message();
    let refused = match asked.mode() {
        ElicitationMode::Form { schema } => match wharf::elicitation::Form::read(&schema) {
            Ok(form) => return form::ask(&server, &message, &form, talk).await,
            Err(error) => error.to_string(),
        },
        ElicitationMode::Url { url, .. } => match wharf::elicitation::UrlElicitation::read(&url) {
            Ok(page) => return page::ask(&server, &message, &page, talk).await,
            Err(error) => error.to_string(),
        },
        ElicitationMode::Unknown => "it is of an unknown kind".to_owned(),
    };
    let label = style::odd("warning:");
    talk.say(&format!("{label} declined a question of {server}: {}\n", clean(&refused)));
    ElicitationAnswer::Decline
}
