//! A talk with the person: something is said on stderr, and a line is waited for.

use std::io::ErrorKind;

use crate::ui::{Keyboard, Ui, style};

/// What somebody types to say no.
const DECLINE: &str = "!";

/// The screen and the keyboard.
pub(super) struct Dialog<'a> {
    ui: &'a Ui,
    keyboard: Keyboard,
}

impl<'a> Dialog<'a> {
    pub(super) fn new(ui: &'a Ui, keyboard: Keyboard) -> Self {
        Self { ui, keyboard }
    }

    /// Says something. The text is safe to show.
    pub(super) fn say(&self, text: &str) {
        self.ui.message(text);
    }

    /// Warns. The text is safe to show.
    pub(super) fn warn(&self, text: &str) {
        self.say(&format!("{} {text}\n", style::warning("warning:")));
    }

    /// Asks for a line; none if the person wants no part in it.
    pub(super) async fn ask(&mut self, prompt: &str) -> Option<String> {
        loop {
            // What was typed before this question answers another one, or none.
            self.keyboard.discard_typed().await;
            self.say(prompt);
            match self.keyboard.line().await {
                Ok(Some(line)) if line.trim() == DECLINE => return None,
                Ok(Some(line)) => return Some(line),
                Err(error) if error.kind() == ErrorKind::InvalidData => {
                    self.say("  that is not text\n");
                }
                // Ctrl-D leaves the cursor where it is.
                Ok(None) | Err(_) => {
                    self.say("\n");
                    return None;
                }
            }
        }
    }

    /// Asks for a yes; none if the person wants no part in it, and anything else is a no.
    pub(super) async fn agrees(&mut self, question: &str) -> Option<bool> {
        let said = self.ask(&format!("{question} [y/N] ")).await?;
        Some(["y", "yes"].contains(&said.trim().to_ascii_lowercase().as_str()))
    }
}
