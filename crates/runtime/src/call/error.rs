//! The error of a call, with a kind that an agent can act on.
//!
//! `kind` says whether a retry can help, `outcome_known` whether it is known if the tool ran. A
//! call that may have run is never `TRANSIENT`. The mapping from request errors is in
//! `request_errors`. Code decides by [`CallErrorReason`], never by the text of a message.

use std::time::Duration;

use serde::{Serialize, Serializer};
use wharf_config::text::clip;
use wharf_protocol::Json;

use crate::arguments::InvalidArguments;
use crate::status::{Status, one_line};

/// How many characters of untrusted text are kept in a message.
const MAX_MESSAGE_CHARS: usize = 1000;

/// How many lines of a server's error output are shown.
const STDERR_LINES: usize = 12;

/// How many bytes of a server's error output are shown.
const STDERR_BYTES: usize = 2000;

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
#[non_exhaustive]
pub struct CallError {
    /// The reason, for code.
    #[serde(rename = "code")]
    pub reason: CallErrorReason,
    /// What an agent can do about it.
    pub kind: CallErrorKind,
    /// The phase in which the call failed.
    pub phase: CallPhase,
    /// The message, on one line; may contain untrusted text of the server.
    pub message: String,
    /// Whether sending the same call again can succeed and is safe.
    pub retryable: bool,
    /// Whether it is known if the tool ran.
    pub outcome_known: bool,
    /// The stderr output of the server since the call or the attempt to connect began: untrusted
    /// text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// What a person can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The `error.data` of the server: untrusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
}

/// What an agent can do about a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CallErrorKind {
    /// Nothing: the same call fails again, or it is unknown whether it ran.
    Terminal,
    /// Try again: it did not run, and the cause may be temporary.
    Transient,
    /// Correct the call: the arguments, or the name of the tool.
    Misuse,
}

impl CallErrorKind {
    /// Returns the word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Terminal => "TERMINAL",
            Self::Transient => "TRANSIENT",
            Self::Misuse => "MISUSE",
        }
    }
}

/// The phase of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallPhase {
    /// Waiting for the connection.
    Connect,
    /// The call was not sent yet.
    Send,
    /// Waiting for the response.
    Receive,
    /// The response could not be decoded.
    Decode,
    /// The response was an error.
    Protocol,
}

impl CallPhase {
    /// Returns the word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Decode => "decode",
            Self::Protocol => "protocol",
        }
    }
}

/// The reason of a failed call: for exit codes and for code that reacts to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallErrorReason {
    /// There is no such tool.
    UnknownTool,
    /// The arguments do not match the schema.
    BadArguments,
    /// A person or a setting denied it.
    Denied,
    /// The tool has changed and must be accepted first.
    Withheld,
    /// The server came with a project and is not trusted.
    Untrusted,
    /// The server is disabled.
    Disabled,
    /// The entry of the server is not used: it is invalid, a duplicate, shadowed or native.
    NotUsed,
    /// The entry of the server excludes the tool, or its definition is unusable.
    Omitted,
    /// The server requires authorization.
    NeedsAuth,
    /// A timeout, also while connecting.
    TimedOut,
    /// The server is not connected.
    Connect,
    /// The connection ended before the response arrived.
    Lost,
    /// The caller cancelled the call.
    Cancelled,
    /// The server answered with an error.
    ErrorResponse,
    /// The response is not usable.
    InvalidResponse,
    /// The server sent a request of its own that nobody answered.
    Unanswered,
    /// This server cannot receive the call.
    Unsendable,
    /// The tool ran and reported an error of its own; only in [`Outcome::into_result`].
    ///
    /// [`Outcome::into_result`]: super::Outcome::into_result
    ToolFailed,
}

impl CallErrorReason {
    /// Returns the word for machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::UnknownTool => "not-found",
            Self::BadArguments => "usage",
            Self::Denied => "denied",
            Self::Withheld => "withheld",
            Self::Untrusted => "untrusted",
            Self::Disabled => "disabled",
            Self::NotUsed => "not-used",
            Self::Omitted => "omitted",
            Self::NeedsAuth => "needs-auth",
            Self::TimedOut => "timeout",
            Self::Connect => "not-connected",
            Self::Lost => "connection-lost",
            Self::Cancelled => "cancelled",
            Self::ErrorResponse => "error-response",
            Self::InvalidResponse => "invalid-response",
            Self::Unanswered => "unanswered",
            Self::Unsendable => "unsendable",
            Self::ToolFailed => "tool-failed",
        }
    }
}

impl Serialize for CallErrorReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl From<InvalidArguments> for CallError {
    fn from(invalid: InvalidArguments) -> Self {
        let message = format!("the arguments do not match the schema of the tool: {invalid}");
        Self::not_run(CallErrorReason::BadArguments, message)
    }
}

impl CallError {
    /// Makes an error as Wharf makes it for this reason, for a program that runs calls of its own:
    /// if the call may have run, its outcome is unknown, and it is not retryable.
    ///
    /// ```
    /// use wharf::{CallError, CallErrorReason, CallPhase};
    ///
    /// let error = CallError::new(CallErrorReason::Lost, "the worker ended").with_hint("restart it");
    /// assert_eq!((error.phase, error.outcome_known), (CallPhase::Receive, false));
    /// ```
    pub fn new(reason: CallErrorReason, message: impl Into<String>) -> Self {
        let error = Self::not_run(reason, message);
        let phase = match reason {
            CallErrorReason::TimedOut | CallErrorReason::Lost | CallErrorReason::Cancelled => {
                return Self { phase: CallPhase::Receive, outcome_known: false, ..error };
            }
            CallErrorReason::ToolFailed => CallPhase::Receive,
            CallErrorReason::ErrorResponse => CallPhase::Protocol,
            CallErrorReason::InvalidResponse => CallPhase::Decode,
            _ => error.phase,
        };
        Self { phase, ..error }
    }

    /// Makes the error of a call that did not run and that would fail again.
    pub fn not_run(reason: CallErrorReason, message: impl Into<String>) -> Self {
        let kind = match reason {
            CallErrorReason::UnknownTool | CallErrorReason::BadArguments => CallErrorKind::Misuse,
            _ => CallErrorKind::Terminal,
        };
        let phase = match reason {
            CallErrorReason::Untrusted
            | CallErrorReason::Disabled
            | CallErrorReason::NotUsed
            | CallErrorReason::NeedsAuth
            | CallErrorReason::Connect => CallPhase::Connect,
            _ => CallPhase::Send,
        };
        Self {
            kind,
            phase,
            message: clip_message(&message.into()),
            retryable: false,
            outcome_known: true,
            stderr: None,
            reason,
            hint: None,
            data: None,
        }
    }

    /// Makes the error for a name that no tool has.
    pub(crate) fn unknown_tool(name: &str, nearest: Option<&str>) -> Self {
        let error = Self::not_run(
            CallErrorReason::UnknownTool,
            format!("there is no tool \"{}\"", clip(name, 100)),
        );
        match nearest {
            Some(nearest) => error.with_hint(format!("did you mean \"{}\"?", clip(nearest, 100))),
            None => error,
        }
    }

    /// Makes the error for a name that matches several tools.
    pub(crate) fn ambiguous_tool(name: &str, meant: &[&str]) -> Self {
        let name = clip(name, 100);
        let error = Self::not_run(
            CallErrorReason::UnknownTool,
            format!("several tools are called \"{name}\""),
        );
        let meant: Vec<String> = meant.iter().map(|meant| clip(meant, 100)).collect();
        error.with_hint(format!("use one of their full names: {}", meant.join(", ")))
    }

    /// Makes the error for a name that no tool has, while the tools of these servers are not known.
    pub(crate) fn tool_not_listed_yet(name: &str, missing: &[(&str, Status)]) -> Self {
        let states = missing.iter().map(|(server, status)| {
            let still = if status.is_pending() { "still " } else { "" };
            format!("server \"{}\" is {still}{status}", clip(server, 100))
        });
        let states: Vec<String> = states.collect();
        let message =
            format!("tool \"{}\" is not listed yet: {}", clip(name, 100), states.join(", "));
        let error = Self::not_run(CallErrorReason::Connect, message).into_transient();
        error.with_hint("wait until the servers are connected, or name the server of the tool")
    }

    /// Makes the error for a call that took longer than its deadline, in this phase.
    pub(crate) fn deadline_reached(limit: Duration, phase: CallPhase) -> Self {
        let message = format!("the call did not end within {limit:?}");
        let error = Self::not_run(CallErrorReason::TimedOut, message);
        let outcome_known = matches!(phase, CallPhase::Connect | CallPhase::Send);
        Self { phase, outcome_known, ..error }.into_transient()
    }

    /// Makes the error for a server that was not connected in time; nothing was sent.
    pub fn not_connected_in_time(limit: Duration) -> Self {
        let message = format!("the server was not connected within {limit:?}");
        let error = Self::not_run(CallErrorReason::TimedOut, message);
        Self { phase: CallPhase::Connect, ..error }.into_transient()
    }

    /// Makes the error for a cancelled call, to use as its outcome: dropping the future has
    /// cancelled the request at the server.
    pub fn cancelled() -> Self {
        Self::cancelled_in(CallPhase::Receive)
    }

    /// Makes the error for a call that was cancelled in this phase ([`PhaseTracker`] has it): a
    /// call that was not sent yet did not run.
    ///
    /// [`PhaseTracker`]: super::PhaseTracker
    pub fn cancelled_in(phase: CallPhase) -> Self {
        let error = Self::not_run(CallErrorReason::Cancelled, "the caller cancelled the call");
        Self {
            phase,
            outcome_known: matches!(phase, CallPhase::Connect | CallPhase::Send),
            ..error
        }
    }

    /// Makes the error for a panic during a call; the call may have been sent.
    pub(crate) fn panicked() -> Self {
        let message = "the call panicked, in Wharf or in a callback of the program";
        let error = Self::not_run(CallErrorReason::Lost, message);
        Self { phase: CallPhase::Receive, outcome_known: false, ..error }.with_hint(
            "the panic message names a source file; if it belongs to Wharf, please report it",
        )
    }

    /// Marks the error as transient, unless the call may have run.
    #[must_use]
    pub fn into_transient(mut self) -> Self {
        if self.outcome_known && self.kind != CallErrorKind::Misuse {
            self.kind = CallErrorKind::Transient;
            self.retryable = true;
        }
        self
    }

    /// Adds what a person can do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(clip_message(&hint.into()));
        self
    }

    /// Sets the phase. A call that was not sent yet did not run.
    #[must_use]
    pub fn in_phase(self, phase: CallPhase) -> Self {
        let not_sent = matches!(phase, CallPhase::Connect | CallPhase::Send);
        Self { phase, outcome_known: self.outcome_known || not_sent, ..self }
    }

    /// Adds the `error.data` of the server.
    #[must_use]
    pub fn with_data(mut self, data: Json) -> Self {
        self.data = Some(data);
        self
    }

    /// Adds the stderr output of the server, if it is not blank.
    #[must_use]
    pub fn with_stderr(mut self, stderr: &str) -> Self {
        let stderr = stderr.trim_end();
        self.stderr = (!stderr.trim().is_empty()).then(|| stderr.to_owned());
        self
    }

    /// Returns the hint for a model. How to allow a call that was denied is for a person only: a
    /// model that can write files could follow it.
    pub(super) fn hint_for_model(&self) -> Option<&str> {
        match self.reason {
            CallErrorReason::Denied
            | CallErrorReason::Withheld
            | CallErrorReason::Untrusted
            | CallErrorReason::Disabled => None,
            _ => self.hint.as_deref(),
        }
    }

    /// Returns the last lines of the stderr output, for a model.
    pub(super) fn stderr_tail(&self) -> Option<&str> {
        tail(self.stderr.as_deref()?)
    }

    /// Returns the message and the last meaningful line of stderr, on one line.
    pub fn in_one_line(&self) -> String {
        one_line(&self.message, self.stderr.as_deref())
    }

    /// Returns one sentence about whether a retry can help.
    pub fn advice(&self) -> &'static str {
        match (self.kind, self.outcome_known) {
            (_, true) if self.reason == CallErrorReason::Cancelled => "The tool did not run.",
            (_, false) => {
                "The outcome is unknown: the tool may have run. Check before calling it again."
            }
            (CallErrorKind::Transient, true) => "The tool did not run; trying again can help.",
            (CallErrorKind::Misuse, true) => "Correct the call before trying again.",
            (CallErrorKind::Terminal, true) => match self.reason {
                CallErrorReason::Denied
                | CallErrorReason::Withheld
                | CallErrorReason::Untrusted
                | CallErrorReason::Disabled
                | CallErrorReason::NeedsAuth
                | CallErrorReason::Unsendable
                | CallErrorReason::Connect => "Trying again will not help.",
                _ => "Trying again may not help.",
            },
        }
    }
}

/// Puts untrusted text on one line of limited length.
pub(crate) fn clip_message(words: &str) -> String {
    clip(words.trim(), MAX_MESSAGE_CHARS)
}

/// Returns the last lines of a text; `None` if it is blank.
fn tail(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let lines = text.rmatch_indices('\n').nth(STDERR_LINES - 1).map_or(0, |(at, _)| at + 1);
    let mut start = lines.max(text.len().saturating_sub(STDERR_BYTES));
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let kept = &text[start..];
    (!kept.trim().is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_end_of_the_error_output_is_kept() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(tail(text), expected, "{text:?}");
        };
        check("", None);
        check(" \n\n ", None);
        check("one\n", Some("one"));
        check("one\ntwo\n\n", Some("one\ntwo"));
        let many: Vec<String> = (0..40).map(|line| line.to_string()).collect();
        check(&many.join("\n"), Some(&many[28..].join("\n")));
        check(&"é".repeat(3000), Some(&"é".repeat(1000)));
    }

    #[test]
    fn a_new_error_is_not_known_to_have_run_only_if_it_was_sent() {
        let check = |error: &CallError, expected: (CallPhase, bool)| {
            assert_eq!((error.phase, error.outcome_known), expected, "{error:?}");
        };
        let lost = CallError::new(CallErrorReason::Lost, "x");
        check(&lost, (CallPhase::Receive, false));
        check(&lost.in_phase(CallPhase::Send), (CallPhase::Send, true));
        check(&CallError::new(CallErrorReason::Denied, "x"), (CallPhase::Send, true));
        check(&CallError::new(CallErrorReason::Connect, "x"), (CallPhase::Connect, true));
        check(&CallError::new(CallErrorReason::ErrorResponse, "x"), (CallPhase::Protocol, true));
    }

    #[test]
    fn only_a_call_that_did_not_run_may_be_retried() {
        let late = CallError::cancelled().into_transient();
        assert_eq!((late.kind, late.retryable), (CallErrorKind::Terminal, false));
        let early = CallError::not_connected_in_time(Duration::from_secs(1));
        assert_eq!((early.kind, early.retryable), (CallErrorKind::Transient, true));
        let wrong = CallError::unknown_tool("x", None).into_transient();
        assert_eq!((wrong.kind, wrong.retryable), (CallErrorKind::Misuse, false));
    }

    #[test]
    fn an_unknown_tool_is_reported_with_the_nearest_name() {
        let error = CallError::unknown_tool("mcp_fs_raed\n", Some("mcp_fs_read"));
        insta::assert_snapshot!(format!("{error} | {}", error.hint.as_ref().unwrap()), @r#"there is no tool "mcp_fs_raed\n" | did you mean "mcp_fs_read"?"#);
    }

    #[test]
    fn a_tool_that_is_not_listed_yet_is_reported_with_the_servers_that_may_have_it() {
        let missing =
            [("a", Status::Connecting), ("b", Status::Reconnecting), ("c", Status::Disconnected)];
        let error = CallError::tool_not_listed_yet("read", &missing);
        insta::assert_snapshot!(error, @r#"tool "read" is not listed yet: server "a" is still connecting, server "b" is still reconnecting, server "c" is disconnected"#);
    }

    proptest! {
        #[test]
        fn a_tail_is_the_end_and_never_longer_than_allowed(text in "[a-zé\n ]{0,3000}") {
            if let Some(kept) = tail(&text) {
                prop_assert!(text.trim_end().ends_with(kept));
                prop_assert!(kept.len() <= STDERR_BYTES && kept.lines().count() <= STDERR_LINES);
            }
        }
    }
}
