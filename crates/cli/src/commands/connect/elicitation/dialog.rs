//! A dialog on the terminal: prints text to stderr and reads a line.

use std::io::ErrorKind;

use crate::ui::{Confirmation, Keyboard, Ui, style};

/// The input that declines.
const DECLINE: &str = "!";

/// Output and input of the dialog.
pub(super) struct Dialog<'a> {
    ui: &'a Ui,
    keyboard: Keyboard,
}

impl<'a> Dialog<'a> {
    pub(super) fn new(ui: &'a Ui, keyboard: Keyboard) -> Self {
        Self { ui, keyboard }
    }

    /// Prints a text, which must be safe to print.
    pub(super) fn print(&self, text: &str) {
        self.ui.message(text);
    }

    /// Prints a warning, which must be safe to print.
    pub(super) fn warn(&self, text: &str) {
        self.print(&format!("{} {text}\n", style::warning("warning:")));
    }

    /// Asks for a line; `None` if the person declines.
    pub(super) async fn ask(&mut self, prompt: &str) -> Option<String> {
        loop {
            // Input that was typed before this question must not answer it.
            self.keyboard.discard_typed().await;
            self.print(prompt);
            match self.keyboard.line().await {
                Ok(Some(line)) if line.trim() == DECLINE => return None,
                Ok(Some(line)) => return Some(line),
                Err(error) if error.kind() == ErrorKind::InvalidData => {
                    self.print("  the input is not UTF-8 text\n");
                }
                // Ctrl-D leaves the cursor on the line of the question.
                Ok(None) | Err(_) => {
                    self.print("\n");
                    return None;
                }
            }
        }
    }

    /// Asks a yes/no question; `None` if the person declines. Anything but yes is no.
    pub(super) async fn agrees(&mut self, question: &str) -> Option<bool> {
        let answer = self.ask(&format!("{question} [y/N] ")).await?;
        Some(Confirmation::from_line(&answer) == Confirmation::Yes)
    }
}
