//! Builds a text line by line. The text that is added must already be safe to print.

use wharf_config::text::clean;

use super::style;

/// Lines to print.
#[derive(Debug, Default)]
pub(crate) struct Lines(String);

impl Lines {
    /// Adds a line.
    pub(crate) fn add(&mut self, line: impl AsRef<str>) {
        self.0.push_str(line.as_ref());
        self.0.push('\n');
    }

    /// Adds a line with a label in front.
    pub(crate) fn labelled(&mut self, label: &str, value: &str) {
        self.add(format!("  {}{value}", style::faint(&format!("{label:<15}"))));
    }

    /// Adds a hint. The hint may contain untrusted text.
    pub(crate) fn hint(&mut self, indent: &str, hint: Option<&str>) {
        if let Some(hint) = hint {
            self.add(format!("{indent}{} {}", style::advice("hint:"), clean(hint)));
        }
    }

    /// Adds a usage line. The line must be safe to print.
    pub(crate) fn usage(&mut self, indent: &str, usage: Option<&str>) {
        if let Some(usage) = usage {
            self.add(format!("{indent}{} {usage}", style::advice("usage:")));
        }
    }

    /// Returns the text.
    pub(crate) fn into_text(self) -> String {
        self.0
    }
}
