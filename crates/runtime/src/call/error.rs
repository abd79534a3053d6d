//! Why a call has no result, in the three words an agent can act on.
//!
//! Two questions are kept apart: may it be tried again (`kind`), and is it known whether the tool
//! ran (`outcome_known`). The rule that ties them: what may have run is never `TRANSIENT`. Where
//! the answers come from is in `request_errors`; who decides by an error decides by [`Reason`], not
//! by its text.

use std::time::Duration;

use serde::Serialize;
use wharf_config::text::clip;
use wharf_protocol::Json;

use crate::arguments::Misuse;
use crate::status::one_line;

/// How much of one foreign text is worth repeating.
const MAX_MESSAGE_CHARS: usize = 1000;

/// How many lines of a server's error output are shown.
const STDERR_LINES: usize = 12;

/// How many bytes of a server's error output are shown.
const STDERR_BYTES: usize = 2000;

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct CallError {
    /// What an agent can do about it.
    pub kind: ErrorKind,
    /// How far the call had come.
    pub phase: CallPhase,
    /// What happened, on one line; may contain words of the server.
    pub message: String,
    /// Whether the same call, sent again, can help and cannot do harm.
    pub retryable: bool,
    /// Whether it is known if the tool ran.
    pub outcome_known: bool,
    /// What the server wrote to its error output since the call or the attempt to connect began:
    /// text of a third party.
    pub stderr: Option<String>,
    /// What it is, for those who decide by it.
    pub reason: Reason,
    /// What a person can do about it.
    pub hint: Option<String>,
    /// What the server sent as `error.data`: foreign.
    pub data: Option<Json>,
}

/// What an agent can do about a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ErrorKind {
    /// Nothing: the same call fails again, or nobody knows whether it ran.
    Terminal,
    /// Try again: it did not run, and the cause may pass.
    Transient,
    /// Correct the arguments.
    Misuse,
}

impl ErrorKind {
    /// Returns the word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Terminal => "TERMINAL",
            Self::Transient => "TRANSIENT",
            Self::Misuse => "MISUSE",
        }
    }
}

/// How far a call had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallPhase {
    /// There was no connection yet.
    Connect,
    /// The call was not on its way yet.
    Send,
    /// The answer was awaited.
    Receive,
    /// The answer could not be read.
    Decode,
    /// The answer was no.
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

/// What a failure is, by type: for exit codes and for those who react to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// There is no such tool.
    UnknownTool,
    /// The arguments do not fit.
    BadArguments,
    /// A person or a setting said no.
    Denied,
    /// The tool has changed and waits for a person's yes.
    Withheld,
    /// The definition comes with a folder that is not trusted.
    Untrusted,
    /// The server is switched off.
    Disabled,
    /// The server's entry is not used: it is invalid, a duplicate, hidden or handled otherwise.
    NotUsed,
    /// The entry of the server leaves the tool out, or the tool cannot be used as it is listed.
    LeftOut,
    /// The server wants to know who asks.
    NeedsAuth,
    /// Something took too long, connecting included.
    TimedOut,
    /// There is no connection.
    Connect,
    /// The connection ended before the answer came.
    Lost,
    /// The caller gave up.
    Cancelled,
    /// The server answered with an error.
    Refused,
    /// The answer cannot be used.
    BadAnswer,
    /// The server asked back, and there was no answer to give.
    Unanswered,
    /// The call cannot be made with this server.
    Impossible,
}

impl Reason {
    /// Returns the word that programs are told.
    pub fn word(self) -> &'static str {
        match self {
            Self::UnknownTool => "not-found",
            Self::BadArguments => "usage",
            Self::Denied => "denied",
            Self::Withheld => "withheld",
            Self::Untrusted => "untrusted",
            Self::Disabled => "disabled",
            Self::NotUsed => "not-used",
            Self::LeftOut => "left-out",
            Self::NeedsAuth => "needs-auth",
            Self::TimedOut => "timeout",
            Self::Connect => "not-connected",
            Self::Lost => "connection-lost",
            Self::Cancelled => "cancelled",
            Self::Refused => "refused",
            Self::BadAnswer => "bad-answer",
            Self::Unanswered => "unanswered",
            Self::Impossible => "impossible",
        }
    }
}

impl From<Misuse> for CallError {
    fn from(misuse: Misuse) -> Self {
        Self::not_run(Reason::BadArguments, format!("the arguments do not fit: {misuse}"))
    }
}

impl CallError {
    /// Makes an error of a call that did not run and that would not fare better the next time.
    pub fn not_run(reason: Reason, message: impl Into<String>) -> Self {
        let kind = match reason {
            Reason::UnknownTool | Reason::BadArguments => ErrorKind::Misuse,
            _ => ErrorKind::Terminal,
        };
        let phase = match reason {
            Reason::Untrusted
            | Reason::Disabled
            | Reason::NotUsed
            | Reason::NeedsAuth
            | Reason::Connect => CallPhase::Connect,
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
        let error =
            Self::not_run(Reason::UnknownTool, format!("there is no tool \"{}\"", clip(name, 100)));
        match nearest {
            Some(nearest) => error.with_hint(format!("did you mean \"{}\"?", clip(nearest, 100))),
            None => error,
        }
    }

    /// Makes the error for a name that several tools could mean.
    pub(crate) fn ambiguous_tool(name: &str, meant: &[&str]) -> Self {
        let name = clip(name, 100);
        let error =
            Self::not_run(Reason::UnknownTool, format!("several tools are called \"{name}\""));
        let meant: Vec<String> = meant.iter().map(|meant| clip(meant, 100)).collect();
        error.with_hint(format!("use one of their own names: {}", meant.join(", ")))
    }

    /// Makes the error for a server that was not ready in time; nothing was sent.
    pub fn not_connected_in_time(limit: Duration) -> Self {
        let message = format!("the server was not connected within {limit:?}");
        let error = Self::not_run(Reason::TimedOut, message);
        Self { phase: CallPhase::Connect, ..error }.into_transient()
    }

    /// Makes the error for a call that its caller gave up: dropping the future has told the server,
    /// and this is what to put in the place of its outcome.
    pub fn cancelled() -> Self {
        Self::cancelled_in(CallPhase::Receive)
    }

    /// Makes the error for a call that its caller gave up in this phase ([`PhaseTracker`] says
    /// which one it was): a call that was not sent yet did not run.
    ///
    /// [`PhaseTracker`]: super::PhaseTracker
    pub fn cancelled_in(phase: CallPhase) -> Self {
        let error = Self::not_run(Reason::Cancelled, "the call was cancelled");
        Self {
            phase,
            outcome_known: matches!(phase, CallPhase::Connect | CallPhase::Send),
            ..error
        }
    }

    /// Makes the error for a call during which something panicked; it may have been sent by then.
    pub(crate) fn panicked() -> Self {
        let error = Self::not_run(Reason::Lost, "the call failed inside Wharf or its host");
        Self { phase: CallPhase::Receive, outcome_known: false, ..error }
            .with_hint("this is a bug, please report it")
    }

    /// Says that the cause may pass, which only what has not run can say.
    #[must_use]
    pub(crate) fn into_transient(mut self) -> Self {
        if self.outcome_known && self.kind != ErrorKind::Misuse {
            self.kind = ErrorKind::Transient;
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

    /// Adds the server's error output, if there is any.
    #[must_use]
    pub(crate) fn with_stderr(mut self, stderr: &str) -> Self {
        let stderr = stderr.trim_end();
        self.stderr = (!stderr.trim().is_empty()).then(|| stderr.to_owned());
        self
    }

    /// Returns the last lines of the server's error output, which is enough for a model.
    pub(super) fn stderr_tail(&self) -> Option<&str> {
        tail(self.stderr.as_deref()?)
    }

    /// Returns what happened and the last meaningful line of the server's error output, on one
    /// line.
    pub fn in_one_line(&self) -> String {
        one_line(&self.message, self.stderr.as_deref())
    }

    /// Says in one sentence whether trying again can help, as far as that is known.
    pub fn advice(&self) -> &'static str {
        match (self.kind, self.outcome_known) {
            (_, true) if self.reason == Reason::Cancelled => "The tool did not run.",
            (_, false) => {
                "The outcome is unknown: the tool may have run. Check before calling it again."
            }
            (ErrorKind::Transient, true) => "The tool did not run; trying again can help.",
            (ErrorKind::Misuse, true) => "Correct the call before trying again.",
            (ErrorKind::Terminal, true) => match self.reason {
                Reason::Denied
                | Reason::Withheld
                | Reason::Untrusted
                | Reason::Disabled
                | Reason::NeedsAuth
                | Reason::Impossible
                | Reason::Connect => "Trying again will not help.",
                _ => "Whether trying again can help is not known.",
            },
        }
    }
}

/// Puts foreign words on one line of bearable length.
pub(crate) fn clip_message(words: &str) -> String {
    clip(words.trim(), MAX_MESSAGE_CHARS)
}

/// Returns the last lines of a text; nothing if it is blank.
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
    fn only_a_call_that_did_not_run_may_be_retried() {
        let late = CallError::cancelled().into_transient();
        assert_eq!((late.kind, late.retryable), (ErrorKind::Terminal, false));
        let early = CallError::not_connected_in_time(Duration::from_secs(1));
        assert_eq!((early.kind, early.retryable), (ErrorKind::Transient, true));
        let wrong = CallError::unknown_tool("x", None).into_transient();
        assert_eq!((wrong.kind, wrong.retryable), (ErrorKind::Misuse, false));
    }

    #[test]
    fn an_unknown_tool_is_reported_with_the_nearest_name() {
        let error = CallError::unknown_tool("mcp_fs_raed\n", Some("mcp_fs_read"));
        insta::assert_snapshot!(format!("{error} | {}", error.hint.as_ref().unwrap()), @r#"there is no tool "mcp_fs_raed\n" | did you mean "mcp_fs_read"?"#);
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
