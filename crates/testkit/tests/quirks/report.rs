//! The result of a run with a misbehaving server, compared with what its mode expects.

use std::fmt;

use wharf_protocol::envelope::code;
use wharf_protocol::era::Era;
use wharf_protocol::peer::{EndReason, ListResult, RequestError};
use wharf_protocol::transport::HttpError;
use wharf_protocol::view::{
    DiscoverResult, InitializeResult, ListEntry, ToolDefinition, ToolResult,
};
use wharf_protocol::{ConnectError, Peer};
use wharf_testkit::quirk::{ExpectedOutcome, FailureReason, QuirkMode};

/// The argument of the tool `echo`. It has multi-byte characters, which servers split.
pub(crate) const TEXT: &str = "ahoy, Käpt\u{e4}n \u{1F6A2}";

/// The outcome of a run.
#[derive(Debug)]
pub(crate) enum RunOutcome {
    NotConnected(RunFailure),
    NotListed(RunFailure),
    Called { tools: usize, result: Result<CallReport, RunFailure> },
}

/// Why something did not work.
pub(crate) struct RunFailure {
    kind: FailureReason,
    text: String,
}

/// What a call returned.
#[derive(Debug)]
pub(crate) struct CallReport {
    has_text: bool,
    raw: String,
}

/// The outcome of a run, and the violations that the client reported.
#[derive(Debug)]
pub(crate) struct RunReport {
    pub(crate) outcome: RunOutcome,
    pub(crate) violations: Vec<String>,
}

impl RunReport {
    /// Returns how the run deviates from what the mode expects.
    pub(crate) fn deviation(&self, mode: &QuirkMode) -> Option<String> {
        let fits = match (mode.expect, &self.outcome) {
            (ExpectedOutcome::ConnectFails { because }, RunOutcome::NotConnected(found))
            | (ExpectedOutcome::ListFails { because }, RunOutcome::NotListed(found)) => {
                found.is(because)
            }
            (
                ExpectedOutcome::CallFails { tools, because },
                RunOutcome::Called { tools: listed, result },
            ) => *listed == tools && result.as_ref().is_err_and(|found| found.is(because)),
            (
                ExpectedOutcome::Returns { tools, raw },
                RunOutcome::Called { tools: listed, result },
            ) => *listed == tools && result.as_ref().is_ok_and(|found| found.raw.contains(raw)),
            (
                ExpectedOutcome::Works { tools, warnings },
                RunOutcome::Called { tools: listed, result },
            ) => {
                *listed == tools
                    && result.as_ref().is_ok_and(|found| found.has_text)
                    && !(warnings && self.violations.is_empty())
            }
            _ => false,
        };
        (!fits).then(|| format!("expected {:?}, found {self:?}", mode.expect))
    }
}

impl RunFailure {
    fn is(&self, because: FailureReason) -> bool {
        because == self.kind
    }
}

impl fmt::Debug for RunFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}: {}", self.kind, self.text)
    }
}

impl From<&ConnectError> for RunFailure {
    fn from(error: &ConnectError) -> Self {
        let kind = match error {
            ConnectError::TimedOut { .. } => FailureReason::TimedOut,
            ConnectError::Failed { error, .. } => match &**error {
                RequestError::ErrorResponse(error) | RequestError::Inconclusive { error, .. }
                    if error.code == code::UNSUPPORTED_VERSION =>
                {
                    FailureReason::NoCommonVersion
                }
                error => kind(error),
            },
            error => panic!("the server of this test did not start: {error}"),
        };
        Self { kind, text: error.to_string() }
    }
}

impl From<&RequestError> for RunFailure {
    fn from(error: &RequestError) -> Self {
        Self { kind: kind(error), text: error.to_string().chars().take(200).collect() }
    }
}

fn kind(error: &RequestError) -> FailureReason {
    match error.innermost() {
        RequestError::ErrorResponse(_)
        | RequestError::Status { .. }
        | RequestError::Inconclusive { .. } => FailureReason::ErrorResponse,
        RequestError::TimedOut { .. } => FailureReason::TimedOut,
        RequestError::Lost { ended, .. } if matches!(ended.reason, EndReason::EndlessMessage) => {
            FailureReason::TooLarge
        }
        RequestError::Lost { .. } | RequestError::StreamEnded => FailureReason::Ended,
        RequestError::Unauthorized { .. } => FailureReason::NeedsAuth,
        RequestError::TooLarge { .. } => FailureReason::TooLarge,
        RequestError::InvalidResponse(_) => FailureReason::BadResult,
        RequestError::EndpointOnOtherOrigin => FailureReason::Forbidden,
        RequestError::Http(error) => match &**error {
            HttpError::TimedOut { .. } => FailureReason::TimedOut,
            HttpError::Redirected { .. } | HttpError::LocalAddress { .. } => {
                FailureReason::Forbidden
            }
            HttpError::NoResponse { .. } | HttpError::IncompleteBody { .. } => FailureReason::Ended,
            HttpError::TooLarge { .. } => FailureReason::TooLarge,
            HttpError::Connect { .. } => FailureReason::Unreachable,
            error => panic!("no test server causes this error: {error}"),
        },
        RequestError::InputUnavailable(_) => FailureReason::InputUnavailable,
        RequestError::TooManyRounds(_) => FailureReason::TooManyRounds,
        error => panic!("no test server causes this error: {error}"),
    }
}

impl From<&ToolResult> for CallReport {
    fn from(result: &ToolResult) -> Self {
        let has_text = |block: &wharf_protocol::view::ContentBlock| {
            block.as_text().is_some_and(|text| *text == TEXT)
        };
        // Only the beginning is compared, and shown if the run fails.
        let raw = result.raw().as_str().chars().take(600).collect();
        Self { has_text: result.content().iter().any(has_text), raw }
    }
}

/// Collects the violations that the client reports about a server, as `doctor` would show them.
pub(crate) fn violations(
    peer: &Peer,
    listing: Option<&ListResult<ToolDefinition>>,
    result: Option<&ToolResult>,
) -> Vec<String> {
    let answer = peer.profile().raw.clone();
    let hello = match peer.era() {
        Era::Legacy => InitializeResult::read(answer).all_violations(),
        Era::Modern => DiscoverResult::read(answer).all_violations(),
    };
    let mut violations: Vec<String> = peer.violations().iter().map(ToString::to_string).collect();
    violations.extend(hello.iter().map(ToString::to_string));
    if let Some(listing) = listing {
        violations.extend(listing.rejected.iter().map(|it| it.why.to_string()));
        let in_entries = listing.items.iter().flat_map(ListEntry::violations);
        violations.extend(in_entries.take(9).map(|violation| violation.to_string()));
    }
    violations.extend(
        result.iter().flat_map(|it| it.violations()).map(|violation| violation.to_string()),
    );
    violations
}
