//! The host of a sign-in on a terminal: a queue between the runtime, which signs in, and the run,
//! which prints and reads lines.
//!
//! The address of the page is printed whatever happens: the browser may be on another machine.

use std::thread;

use tokio::sync::{mpsc, oneshot};
use wharf::auth::{Browser, BrowserError, PageAddress, SignInHost, SignInProgress, SignInPrompt};
use wharf::protocol::transport::BoxFuture;

use super::steps;
use crate::commands::connect::Progress;
use crate::host;
use crate::ui::{Confirmation, Keyboard, Ui};

/// A request of the runtime to the command that is running.
enum SignInMessage {
    /// Show a step.
    Show(SignInProgress),
    /// Read a line that the person pastes.
    Read(oneshot::Sender<Option<String>>),
    /// Ask whether to sign in. The question is safe to print.
    Confirm(String, oneshot::Sender<bool>),
}

/// The runtime's end of the queue.
#[derive(Clone)]
pub(crate) struct SignInSender(mpsc::UnboundedSender<SignInMessage>);

/// The run's end of the queue.
pub(crate) struct SignInQueue(mpsc::UnboundedReceiver<SignInMessage>);

/// Creates the queue. It is not bounded: a sign-in has a few steps, and they must not block.
pub(crate) fn sign_in_queue() -> (SignInSender, SignInQueue) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (SignInSender(sender), SignInQueue(receiver))
}

impl SignInSender {
    /// Returns the host of one sign-in.
    pub(super) fn host(&self) -> SignInHost {
        SignInHost::new(self.clone()).with_browser(SystemBrowser)
    }

    /// Asks a yes/no question; a run that is over means no.
    pub(super) async fn confirm(&self, question: &str) -> bool {
        let (sender, answer) = oneshot::channel();
        drop(self.0.send(SignInMessage::Confirm(question.to_owned(), sender)));
        answer.await.unwrap_or_default()
    }
}

impl SignInPrompt for SignInSender {
    fn show(&self, progress: &SignInProgress) {
        // The receiver is gone when the run is over.
        drop(self.0.send(SignInMessage::Show(progress.clone())));
    }

    fn pasted(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            let (sender, line) = oneshot::channel();
            drop(self.0.send(SignInMessage::Read(sender)));
            line.await.ok().flatten()
        })
    }
}

impl SignInQueue {
    /// Shows the steps and reads lines; never returns.
    pub(crate) async fn serve(mut self, ui: &Ui, progress: &Progress<'_>) {
        let mut keyboard = Keyboard::open();
        let mut reader: Option<oneshot::Sender<Option<String>>> = None;
        loop {
            tokio::select! {
                biased;
                message = self.0.recv() => match message {
                    Some(SignInMessage::Show(step)) => {
                        // What was typed before the page is shown is no answer; what is typed from
                        // then on is, even if the sign-in begins to read a moment later.
                        let is_page = matches!(step, SignInProgress::OpenPage { .. });
                        if is_page && reader.is_none() && ui.is_stdin_terminal {
                            keyboard.discard_typed().await;
                        }
                        steps::show(&step, ui, progress);
                    }
                    Some(SignInMessage::Read(sender)) if ui.is_stdin_terminal => {
                        reader = Some(sender);
                    }
                    Some(SignInMessage::Read(sender)) => drop(sender.send(None)),
                    Some(SignInMessage::Confirm(question, sender)) => {
                        progress.pause();
                        let answer = ui.confirm_with(&mut keyboard, &question).await;
                        progress.resume();
                        // The verb may have ended meanwhile.
                        let _ = sender.send(answer == Confirmation::Yes);
                    }
                    None => return std::future::pending().await,
                },
                line = keyboard.line(), if reader.is_some() => match line {
                    // An empty line is an impatient person.
                    Ok(Some(line)) if line.trim().is_empty() => {}
                    line => {
                        let line = line.ok().flatten();
                        // The sign-in may have ended without the line.
                        drop(reader.take().map(|sender| sender.send(line)));
                    }
                },
            }
        }
    }
}

/// The browser of the system.
struct SystemBrowser;

impl Browser for SystemBrowser {
    fn open<'a>(&'a self, page: &'a PageAddress) -> BoxFuture<'a, Result<(), BrowserError>> {
        let address = page.as_str().to_owned();
        Box::pin(async move {
            let (sender, opened) = oneshot::channel();
            // Some browsers block until they are closed.
            let open = move || drop(sender.send(host::open_page(&address)));
            let started = thread::Builder::new().name("browser".to_owned()).spawn(open);
            if let Err(error) = started {
                return Err(BrowserError::new(error.to_string()));
            }
            match opened.await {
                Ok(outcome) => outcome.map_err(BrowserError::new),
                Err(_) => Err(BrowserError::new("it failed")),
            }
        })
    }
}
