//! Log messages of servers, and their levels.

use bytestring::ByteString;
use serde::{Serialize, Serializer};

use super::fields::view;
use crate::Json;

view! {
    /// A log message: `notifications/message`.
    LogMessage
}

impl LogMessage {
    /// Returns the log level; the default is `info`.
    pub fn level(&self) -> LogLevel {
        let level = self.raw.text_at("level");
        level.and_then(|level| LogLevel::read(&level)).unwrap_or(LogLevel::Info)
    }

    /// Returns the data as text: the string, or the value as JSON. Untrusted text.
    pub fn text(&self) -> ByteString {
        let data = self.raw.get("data").or_else(|| self.raw.get("message"));
        let data = data.unwrap_or_else(Json::null);
        data.to_shared_text().unwrap_or_else(|| data.as_str().into())
    }
}

/// The level of a log message, from the least to the most severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Details for debugging.
    Debug,
    /// General information.
    Info,
    /// A normal but significant event.
    Notice,
    /// Something may be wrong.
    Warning,
    /// An operation failed.
    Error,
    /// A component failed.
    Critical,
    /// Somebody must act immediately.
    Alert,
    /// The system is unusable.
    Emergency,
}

/// Serializes as [`LogLevel::as_str`].
impl Serialize for LogLevel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl LogLevel {
    pub(crate) const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    const NAMES: &'static [&'static str] =
        &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

    /// Returns its name on the wire.
    pub fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Reads a level; also accepts the names that other loggers use, such as `warn`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        match text.as_str() {
            "trace" => Some(Self::Debug),
            "information" => Some(Self::Info),
            "warn" => Some(Self::Warning),
            "err" => Some(Self::Error),
            "fatal" => Some(Self::Critical),
            text => Self::named(text),
        }
    }

    /// Returns the level with exactly this name.
    pub(crate) fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        text.parse().unwrap()
    }

    #[test]
    fn log_levels_are_read_in_all_known_spellings() {
        for level in LogLevel::ALL {
            assert_eq!(LogLevel::read(level.as_str()), Some(level));
        }
        assert_eq!(LogLevel::read(" WARN"), Some(LogLevel::Warning));
        assert_eq!(LogLevel::read("loud"), None);
        assert_eq!(LogMessage::read(json(r#"{"level":5}"#)).level(), LogLevel::Info);
    }

    #[test]
    fn a_log_line_may_hold_anything() {
        let text = |text: &str| LogMessage::read(json(text)).text();
        assert_eq!(text(r#"{"data":"a\nb"}"#), "a\nb");
        assert_eq!(text(r#"{"data":{"a":1}}"#), r#"{"a":1}"#);
        assert_eq!(text(r#"{"message":"m"}"#), "m");
        assert_eq!(text("[]"), "null");
    }
}
