//! The outcome of a call: its text for a model or a person, and the result as the server sent it.
//!
//! The text of a failed tool starts with `Error: `, that of a failed call with `MCP error: `, that
//! of a cancelled call with `Cancelled: `. The blocks of a result are never changed.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Serialize, Serializer};
use wharf_config::text::clip;
use wharf_config::{ServerName, Source};
use wharf_protocol::Json;
use wharf_protocol::view::{ContentBlock, ToolResult};

use super::error::{CallError, CallErrorReason};
use super::result_text::text_of;

/// The beginning of the text of a failed tool.
const ERROR_MARK: &str = "Error: ";

/// The outcome of a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// The text: untrusted, and not escaped for a terminal. A tool that failed says `Error: …`, a
    /// call that failed `MCP error: …`, a cancelled call `Cancelled: …`.
    pub text: String,
    /// Whether the tool or the call failed.
    pub is_error: bool,
    /// The blocks of the result, unchanged.
    pub content: Vec<ContentBlock>,
    /// The structured content, unchanged.
    pub structured: Option<Json>,
    /// The server and the tool.
    pub details: CallDetails,
    /// Why there is no result; `None` also if the tool ran and reported an error of its own.
    pub error: Option<CallError>,
    /// The file with the full text, if the text was cut for a model.
    pub spilled_to: Option<PathBuf>,
}

/// The server, the tool and the duration of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallDetails {
    /// The server.
    pub server_name: String,
    /// The tool, as the server calls it.
    pub mcp_tool_name: String,
    /// The short name of the program that defines the server.
    pub provider: String,
    /// The display name of that program.
    pub provider_name: String,
    /// The time from the call to its end.
    #[serde(rename = "durationMs", serialize_with = "in_milliseconds")]
    pub duration: Duration,
    /// The values that were omitted in the connection, such as a header that could not be resolved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
}

impl CallDetails {
    /// Makes the details of a tool of a server.
    pub(crate) fn new(server: &ServerName, tool: &str, source: &Source) -> Self {
        Self {
            server_name: server.as_str().to_owned(),
            mcp_tool_name: tool.to_owned(),
            provider: source.provider.to_owned(),
            provider_name: source.provider_name.to_owned(),
            ..Self::default()
        }
    }

    /// Makes the details of a tool of no known server.
    pub(crate) fn without_server(tool: &str) -> Self {
        Self { mcp_tool_name: tool.to_owned(), ..Self::default() }
    }
}

impl Outcome {
    /// Makes the outcome of a tool that succeeded with this text, for a program that has tools of
    /// its own or tests without servers.
    ///
    /// ```
    /// use wharf::Outcome;
    ///
    /// let outcome = Outcome::text("3 files");
    /// assert!(outcome.ok() && outcome.content.len() == 1);
    /// let failed = Outcome::text("no such folder").failed();
    /// assert_eq!(failed.text, "Error: no such folder");
    /// assert_eq!(failed.into_result().unwrap_err().message, "no such folder");
    /// ```
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![ContentBlock::text(&text.into())])
    }

    /// Makes the outcome of a tool that succeeded with these blocks.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        let text = text_of(&content, None);
        Self {
            text,
            is_error: false,
            content,
            structured: None,
            details: CallDetails::default(),
            error: None,
            spilled_to: None,
        }
    }

    /// Sets the structured content. It is the text, too, if there is no text block.
    #[must_use]
    pub fn with_structured(mut self, structured: Json) -> Self {
        if !self.is_error {
            self.text = text_of(&self.content, Some(&structured));
        }
        self.structured = Some(structured);
        self
    }

    /// Sets the server, the tool and the duration.
    #[must_use]
    pub fn with_details(mut self, details: CallDetails) -> Self {
        self.details = details;
        self
    }

    /// Marks the tool as failed; its text is the reason.
    #[must_use]
    pub fn failed(mut self) -> Self {
        if self.error.is_none() {
            self.is_error = true;
            mark_as_error(&mut self.text);
        }
        self
    }

    /// Makes the outcome of a call with a result, as the server sent it.
    pub fn from_result(result: &ToolResult, details: CallDetails) -> Self {
        let (content, structured) = (result.content(), result.structured());
        let is_error = result.is_error();
        let mut text = text_of(&content, structured.as_ref());
        if is_error {
            mark_as_error(&mut text);
        }
        Self { text, is_error, content, structured, details, error: None, spilled_to: None }
    }

    /// Makes the outcome of a call without a result; hosts use it also for calls that never
    /// started.
    pub fn from_error(error: CallError, details: CallDetails) -> Self {
        Self {
            text: error_text(&error, &details, error.hint_for_model(), error.stderr_tail()),
            is_error: true,
            content: Vec::new(),
            structured: None,
            details,
            error: Some(error),
            spilled_to: None,
        }
    }

    /// Returns the text of a failure for a person, with all of the stderr output and with the hint.
    /// `text` has only the last lines of stderr, and does not tell a model how to allow a call that
    /// was denied.
    pub fn failure_text(&self) -> Option<String> {
        let error = self.error.as_ref()?;
        Some(error_text(error, &self.details, error.hint.as_deref(), error.stderr.as_deref()))
    }

    /// Tells whether neither the tool nor the call failed.
    pub fn ok(&self) -> bool {
        !self.is_error
    }

    /// Returns the outcome of a tool that succeeded.
    ///
    /// # Errors
    /// If the call failed, its error; if the tool failed, an error with
    /// [`CallErrorReason::ToolFailed`], the start of its text, and its structured content as data.
    pub fn into_result(self) -> Result<Self, CallError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if !self.is_error {
            return Ok(self);
        }
        let text = self.text.strip_prefix(ERROR_MARK).unwrap_or(&self.text);
        let error = CallError::new(CallErrorReason::ToolFailed, text);
        Err(CallError { data: self.structured, ..error })
    }

    /// Returns the outcome as JSON, for programs.
    pub fn to_json(&self) -> Json {
        // Encoding cannot fail: every `Json` in it is valid and all keys are strings.
        Json::encode(self).unwrap_or_else(|_| Json::object())
    }
}

/// Serializes as [`Outcome::to_json`].
impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = OutcomeJson {
            ok: self.ok(),
            is_error: self.is_error,
            text: &self.text,
            content: self.content.iter().map(ContentBlock::raw).collect(),
            structured_content: self.structured.as_ref(),
            spilled_to: self.spilled_to.as_ref().map(|path| path.to_string_lossy()),
            details: &self.details,
            error: self.error.as_ref(),
        };
        json.serialize(serializer)
    }
}

/// Puts the mark of a failed tool in front of its text.
fn mark_as_error(text: &mut String) {
    if text.trim().is_empty() {
        "the tool failed and did not say why".clone_into(text);
    }
    if !text.starts_with(ERROR_MARK) {
        text.insert_str(0, ERROR_MARK);
    }
}

/// Renders an error: message, server, tool, phase, whether a retry can help, and stderr.
fn error_text(
    error: &CallError,
    details: &CallDetails,
    hint: Option<&str>,
    stderr: Option<&str>,
) -> String {
    let what = if error.reason == CallErrorReason::Cancelled { "Cancelled" } else { "MCP error" };
    let mut text = format!("{what}: {} (", error.message);
    for (label, name) in [("server", &details.server_name), ("tool", &details.mcp_tool_name)] {
        if !name.is_empty() {
            let _infallible = write!(text, "{label} \"{}\", ", clip(name, 100));
        }
    }
    let _infallible = write!(text, "phase {})\n{}", error.phase.word(), error.advice());
    if let Some(hint) = hint {
        let _infallible = write!(text, "\nhint: {hint}");
    }
    if let Some(stderr) = stderr {
        text.push_str("\nthe server's last error output:");
        for line in stderr.lines() {
            let _infallible = write!(text, "\n  {line}");
        }
    }
    text
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OutcomeJson<'a> {
    ok: bool,
    is_error: bool,
    text: &'a str,
    content: Vec<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spilled_to: Option<Cow<'a, str>>,
    details: &'a CallDetails,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a CallError>,
}

fn in_milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::CallPhase;

    fn details() -> CallDetails {
        CallDetails {
            server_name: "fs".into(),
            mcp_tool_name: "read".into(),
            provider: "claude".into(),
            provider_name: "Claude Code".into(),
            duration: Duration::from_micros(12_900),
            omitted: Vec::new(),
        }
    }

    fn of(result: &str) -> Outcome {
        Outcome::from_result(&ToolResult::read(result.parse().unwrap()), details())
    }

    fn check(result: &str, expected: &str) {
        assert_eq!(of(result).text, expected, "{result}");
    }

    #[test]
    fn texts_are_joined_and_stay_as_they_are() {
        check(
            r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b\u001b[1m"}]}"#,
            "a\nb\u{1b}[1m",
        );
        check(r#"{"content":[]}"#, "");
        check(r#"{"content":"bare"}"#, "bare");
    }

    #[test]
    fn every_block_appears_in_the_text() {
        let data = "A".repeat(16_400);
        let result = format!(
            r#"{{"content":[
            {{"type":"text","text":"look:"}},
            {{"type":"image","data":"{data}","mimeType":"image/png"}},
            {{"type":"image","data":"AA=="}},
            {{"type":"audio","data":"AAAA","mimeType":"audio/wav\n"}},
            {{"type":"resource_link","uri":"file:///x","name":"x.txt","mimeType":"text/plain","size":1500000}},
            {{"type":"resource_link","uri":"file:///y"}},
            {{"type":"resource","resource":{{"uri":"file:///x","mimeType":"text/plain","text":"inside"}}}},
            {{"type":"resource","resource":{{"uri":"file:///z","blob":"AAAA"}}}},
            {{"type":"resource","resource":{{}}}},
            {{"type":"tool_use","id":"1","name":"n","input":{{}}}},
            {{"type":"hologram","depth":3}},
            7
            ]}}"#
        );
        let outcome = of(&result);
        assert_eq!(outcome.content.len(), 12);
        insta::assert_snapshot!(outcome.text, @r"
        look:
        [image image/png, 12.3 KB]
        [image, 1 B]
        [audio audio/wav\n, 3 B]
        [link file:///x x.txt text/plain, 1.5 MB]
        [link file:///y]
        [resource file:///x text/plain]
        inside
        [resource file:///z, 3 B]
        [resource]
        [tool_use n]
        [hologram, 29 B]
        [unknown content, 1 B]
        ");
    }

    #[test]
    fn structured_content_is_shown_only_where_there_is_no_text() {
        let image = r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#;
        for (content, expected) in [
            ("", r#"{"a":1}"#.to_owned()),
            (r#"{"type":"text","text":"done"}"#, "done".to_owned()),
            (r#"{"type":"text","text":""}"#, String::new()),
            (image, format!("[image image/png, 1 B]\n{}", r#"{"a":1}"#)),
        ] {
            let outcome =
                of(&format!(r#"{{"structuredContent":{{"a":1}},"content":[{content}]}}"#));
            assert_eq!(outcome.text, expected);
            assert_eq!(outcome.structured.unwrap().as_str(), r#"{"a":1}"#);
        }
    }

    #[test]
    fn the_text_of_a_failed_tool_starts_with_error() {
        check(r#"{"isError":true,"content":"no such file"}"#, "Error: no such file");
        check(r#"{"isError":true,"content":"Error: no such file"}"#, "Error: no such file");
        check(r#"{"isError":true,"content":[]}"#, "Error: the tool failed and did not say why");
        assert!(!of(r#"{"isError":true}"#).ok() && of("{}").ok());
    }

    #[test]
    fn the_text_of_a_failed_call_names_the_server_and_the_remedy() {
        let lost = CallError {
            phase: CallPhase::Receive,
            outcome_known: false,
            ..CallError::not_run(CallErrorReason::Lost, "the server's process ended")
        };
        let lost = lost.with_stderr("thinking\npanic\n").with_hint("look at its log");
        insta::assert_snapshot!(Outcome::from_error(lost, details()).text, @r#"
        MCP error: the server's process ended (server "fs", tool "read", phase receive)
        The outcome is unknown: the tool may have run. Check before calling it again.
        hint: look at its log
        the server's last error output:
          thinking
          panic
        "#);
        let unknown = CallError::unknown_tool("raed", Some("read"));
        insta::assert_snapshot!(Outcome::from_error(unknown, CallDetails::default()).text, @r#"
        MCP error: there is no tool "raed" (phase send)
        Correct the call before trying again.
        hint: did you mean "read"?
        "#);
        let cancelled = CallError::cancelled();
        insta::assert_snapshot!(Outcome::from_error(cancelled, details()).text, @r#"
        Cancelled: the caller cancelled the call (server "fs", tool "read", phase receive)
        The outcome is unknown: the tool may have run. Check before calling it again.
        "#);
    }

    #[test]
    fn a_model_is_not_told_how_to_allow_a_denied_call() {
        for (reason, is_told) in [
            (CallErrorReason::Denied, false),
            (CallErrorReason::Withheld, false),
            (CallErrorReason::Untrusted, false),
            (CallErrorReason::Disabled, false),
            (CallErrorReason::BadArguments, true),
        ] {
            let error = CallError::not_run(reason, "no").with_hint("edit the file");
            let outcome = Outcome::from_error(error, details());
            assert_eq!(outcome.text.contains("edit the file"), is_told, "{reason:?}");
            assert!(outcome.failure_text().unwrap().contains("hint: edit the file"), "{reason:?}");
        }
    }

    #[test]
    fn a_result_is_an_error_if_the_call_or_the_tool_failed() {
        assert_eq!(of(r#"{"content":"a"}"#).into_result().unwrap().text, "a");
        let failed = of(r#"{"isError":true,"content":"no\nfile","structuredContent":{"a":1}}"#);
        let error = failed.into_result().unwrap_err();
        assert_eq!(error.data.as_ref().map(Json::as_str), Some(r#"{"a":1}"#));
        assert_eq!(
            (error.reason, error.outcome_known, &*error.message),
            (CallErrorReason::ToolFailed, true, "no\\nfile")
        );
        let lost = CallError::new(CallErrorReason::Lost, "x");
        let outcome = Outcome::from_error(lost.clone(), details());
        assert_eq!(outcome.into_result().unwrap_err(), lost);
    }

    #[test]
    fn an_outcome_can_be_made_without_a_server() {
        let made = Outcome::new(Vec::new())
            .with_structured(r#"{"a":1}"#.parse().unwrap())
            .with_details(details());
        let sent = of(r#"{"content":[],"structuredContent":{"a":1}}"#);
        assert_eq!(made.to_json(), sent.to_json());
        let made = Outcome::text("a \"b\"").failed().with_details(details());
        let sent = of(r#"{"isError":true,"content":[{"type":"text","text":"a \"b\""}]}"#);
        assert_eq!(made.to_json(), sent.to_json());
    }

    #[test]
    fn the_json_has_the_blocks_unchanged() {
        let result = r#"{"content":[{"z":1.0,"type":"text","text":"\u0061\ud800","n":12345678901234567890}],"structuredContent":{"b":1e400,"a":-0}}"#;
        let mut outcome = of(result);
        outcome.spilled_to = Some("/r/1.txt".into());
        insta::assert_snapshot!(outcome.to_json().as_str(), @r#"{"ok":true,"isError":false,"text":"a���","content":[{"z":1.0,"type":"text","text":"\u0061\ud800","n":12345678901234567890}],"structuredContent":{"b":1e400,"a":-0},"spilledTo":"/r/1.txt","details":{"serverName":"fs","mcpToolName":"read","provider":"claude","providerName":"Claude Code","durationMs":12}}"#);
    }

    #[test]
    fn the_json_has_all_fields_of_the_error() {
        let error = CallError::not_connected_in_time(Duration::from_secs(5)).with_stderr("x");
        let json = Outcome::from_error(error, details()).to_json();
        insta::assert_snapshot!(json.as_str(), @r#"{"ok":false,"isError":true,"text":"MCP error: the server was not connected within 5s (server \"fs\", tool \"read\", phase connect)\nThe tool did not run; trying again can help.\nthe server's last error output:\n  x","content":[],"details":{"serverName":"fs","mcpToolName":"read","provider":"claude","providerName":"Claude Code","durationMs":12},"error":{"code":"timeout","kind":"TRANSIENT","phase":"connect","message":"the server was not connected within 5s","retryable":true,"outcomeKnown":true,"stderr":"x"}}"#);
    }
}
