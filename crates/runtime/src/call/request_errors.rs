//! Maps request errors to call errors, and decides whether a call may be retried.
//!
//! The retry rule keeps "exactly once": a call is repeated only if it provably did not run, or if its
//! entry and the hints of the tool allow to run it twice. If it is unknown whether a call ran, it
//! counts as run.

use http::StatusCode;
use wharf_protocol::Json;
use wharf_protocol::envelope::{RpcError, code};
use wharf_protocol::era::Era;
use wharf_protocol::peer::RequestError;
#[cfg(feature = "http")]
use wharf_protocol::transport::{HttpError, HttpPhase};
use wharf_protocol::view::ToolHints;

use super::error::{CallError, CallErrorKind, CallErrorReason, CallPhase, clip_message};
use crate::advice;
use crate::resolve::Secrets;
use crate::status::error_with_causes;

/// Maps an error of a request to the error of its call. `stderr` is the output of the server since
/// the request began; `secrets` are redacted.
pub(crate) fn to_call_error(
    error: &RequestError,
    era: Era,
    stderr: &str,
    secrets: &Secrets,
) -> CallError {
    let FailureClass { phase, reason, outcome, is_transient } = classify(error, era);
    let kind = if is_misuse(error) { CallErrorKind::Misuse } else { CallErrorKind::Terminal };
    let explained = CallError {
        kind,
        phase,
        message: clip_message(&error_with_causes(error, secrets)),
        retryable: false,
        outcome_known: outcome == RunKnowledge::Known,
        stderr: None,
        reason,
        hint: advice::on_calling(error).map(|hint| clip_message(&secrets.redact(&hint))),
        data: error.error_response().and_then(|error| data(error, secrets)),
    };
    let explained = if is_transient { explained.into_transient() } else { explained };
    explained.with_stderr(stderr)
}

/// Returns the `data` of a JSON-RPC error, redacted.
fn data(error: &RpcError, secrets: &Secrets) -> Option<Json> {
    let data = error.data.as_ref()?;
    let hidden = secrets.redact(data.as_str());
    if hidden == data.as_str() { Some(data.clone()) } else { Json::parse(hidden).ok() }
}

/// What is known about a tool whose call might be repeated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RepeatClaims {
    /// The era of the server: modern error codes are more precise.
    pub(crate) era: Era,
    /// The entry of the server has `"retry": "hints"`.
    pub(crate) retry_on_hints: bool,
    /// The tool was listed by the running server, not read from the cache.
    pub(crate) is_live: bool,
    /// The tool is equal to its pin.
    pub(crate) is_pinned_unchanged: bool,
    /// The annotations of the tool.
    pub(crate) hints: ToolHints,
}

impl RepeatClaims {
    /// Tells whether the tool may run twice.
    fn allow_repeat(self) -> bool {
        let says_so = [self.hints.idempotent, self.hints.read_only].contains(&Some(true));
        self.retry_on_hints && self.is_live && self.is_pinned_unchanged && says_so
    }
}

/// Tells whether a failed call may be sent once more without asking.
///
/// The protocol layer handles expired sessions, renewed credentials and rejected headers itself: a
/// 401 that arrives here could not be renewed, and rejected headers have been corrected once.
pub(crate) fn may_repeat(error: &RequestError, claims: RepeatClaims) -> bool {
    match error {
        // The same request would fail again.
        RequestError::Unsendable(_)
        | RequestError::Unauthorized { .. }
        | RequestError::NotRenewed { .. } => false,
        RequestError::ErrorResponse(error) if error.code == code::HEADER_MISMATCH => false,
        // The time limit of the caller has passed.
        _ if matches!(error.innermost(), RequestError::TimedOut { .. }) => false,
        _ if error.was_not_executed(claims.era) => true,
        _ => {
            let unknown = classify(error, claims.era).outcome == RunKnowledge::Unknown;
            unknown && claims.allow_repeat() && is_transient_cause(error, claims.era)
        }
    }
}

/// Whether it is known if the tool ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunKnowledge {
    Known,
    Unknown,
}

struct FailureClass {
    phase: CallPhase,
    reason: CallErrorReason,
    outcome: RunKnowledge,
    is_transient: bool,
}

fn classify(error: &RequestError, era: Era) -> FailureClass {
    use RunKnowledge::{Known, Unknown};

    if let RequestError::AfterStart(inner) = error {
        // The tool may have started with the first request of the call.
        return FailureClass { outcome: Unknown, is_transient: false, ..classify(inner, era) };
    }
    let not_sent = error.never_sent();
    let (phase, reason, outcome) = match error {
        RequestError::ErrorResponse(error) if error.code == code::INVALID_PARAMS => {
            (CallPhase::Protocol, CallErrorReason::BadArguments, Known)
        }
        RequestError::ErrorResponse(_) => {
            (CallPhase::Protocol, CallErrorReason::ErrorResponse, Known)
        }
        // Any other 403 may come from a proxy, or from the tool after it has started.
        RequestError::Unauthorized { status: StatusCode::FORBIDDEN, challenge }
            if !challenge.as_deref().is_some_and(demands_scopes) =>
        {
            (CallPhase::Protocol, CallErrorReason::NeedsAuth, Unknown)
        }
        // Both come before the tool: a 403 only if it demands scopes.
        RequestError::NotRenewed { .. } => (CallPhase::Connect, CallErrorReason::Connect, Known),
        RequestError::Unauthorized { .. } => {
            (CallPhase::Protocol, CallErrorReason::NeedsAuth, Known)
        }
        RequestError::TimedOut { .. } if not_sent => {
            (CallPhase::Send, CallErrorReason::TimedOut, Known)
        }
        RequestError::TimedOut { .. } => (CallPhase::Receive, CallErrorReason::TimedOut, Unknown),
        RequestError::Lost { .. } if not_sent => (CallPhase::Send, CallErrorReason::Lost, Known),
        RequestError::Lost { .. } | RequestError::StreamEnded => {
            (CallPhase::Receive, CallErrorReason::Lost, Unknown)
        }
        // The response has no request id: it may come from a proxy, after the tool has started.
        RequestError::Status { .. } | RequestError::Inconclusive { .. } => {
            (CallPhase::Protocol, CallErrorReason::ErrorResponse, Unknown)
        }
        #[cfg(feature = "http")]
        RequestError::Http(error) => classify_http(error),
        RequestError::TooLarge { .. } | RequestError::InvalidResponse(_) => {
            (CallPhase::Decode, CallErrorReason::InvalidResponse, Unknown)
        }
        RequestError::InputUnavailable(_) | RequestError::TooManyRounds(_) => {
            (CallPhase::Protocol, CallErrorReason::Unanswered, Unknown)
        }
        RequestError::Unsendable(_) => (CallPhase::Send, CallErrorReason::Unsendable, Known),
        // Other errors: it is not certain that nothing was sent.
        _ => (CallPhase::Protocol, CallErrorReason::ErrorResponse, Unknown),
    };
    let is_transient = outcome == Known && is_transient_cause(error, era);
    FailureClass { phase, reason, outcome, is_transient }
}

#[cfg(feature = "http")]
fn classify_http(error: &HttpError) -> (CallPhase, CallErrorReason, RunKnowledge) {
    use RunKnowledge::{Known, Unknown};

    match error {
        HttpError::TimedOut { phase: HttpPhase::Connect, .. } => {
            (CallPhase::Connect, CallErrorReason::TimedOut, Known)
        }
        HttpError::TimedOut { .. } => (CallPhase::Receive, CallErrorReason::TimedOut, Unknown),
        // The connection was closed before anything was written.
        HttpError::NoResponse { never_sent: true, .. } => {
            (CallPhase::Send, CallErrorReason::Lost, Known)
        }
        _ if error.never_sent() => (CallPhase::Connect, CallErrorReason::Connect, Known),
        HttpError::Redirected { .. } => {
            (CallPhase::Protocol, CallErrorReason::ErrorResponse, Unknown)
        }
        HttpError::TooLarge { .. } | HttpError::Compressed { .. } => {
            (CallPhase::Decode, CallErrorReason::InvalidResponse, Unknown)
        }
        _ => (CallPhase::Receive, CallErrorReason::Lost, Unknown),
    }
}

/// Tells whether a challenge demands more scopes, as the specification says for a 403.
fn demands_scopes(challenge: &str) -> bool {
    let (scheme, parameters) = challenge.trim_start().split_once(' ').unwrap_or_default();
    let is_token = ["bearer", "dpop"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let is_demand = |parameter: &str| {
        let (name, value) = parameter.split_once('=').unwrap_or_default();
        let value = value.trim().trim_matches('"');
        name.trim().eq_ignore_ascii_case("error") && value == "insufficient_scope"
    };
    is_token && parameters.split(',').any(is_demand)
}

/// Tells whether the cause of a failure may be temporary.
fn is_transient_cause(error: &RequestError, era: Era) -> bool {
    if matches!(error.innermost(), RequestError::NotRenewed { .. }) {
        return true;
    }
    if let Some(status) = error.status() {
        return matches!(status.as_u16(), 408 | 429) || status.is_server_error();
    }
    match error.innermost() {
        RequestError::ErrorResponse(error) if era == Era::Modern => {
            matches!(error.code, code::HEADER_MISMATCH | code::UNSUPPORTED_VERSION)
        }
        RequestError::TimedOut { .. } | RequestError::Lost { .. } | RequestError::StreamEnded => {
            true
        }
        #[cfg(feature = "http")]
        RequestError::Http(error) => matches!(
            **error,
            HttpError::Lookup { .. }
                | HttpError::Connect { .. }
                | HttpError::Proxy { .. }
                | HttpError::TimedOut { .. }
                | HttpError::NoResponse { .. }
                | HttpError::IncompleteBody { .. }
        ),
        _ => false,
    }
}

fn is_misuse(error: &RequestError) -> bool {
    error.error_response().is_some_and(|error| error.code == code::INVALID_PARAMS)
}

#[cfg(test)]
#[cfg(feature = "http")]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use wharf_protocol::peer::{EndReason, SessionEnd};

    use super::*;

    fn error_response(code: i64) -> RequestError {
        RequestError::ErrorResponse(RpcError::new(code, "no"))
    }

    fn lost(never_sent: bool) -> RequestError {
        let reason = EndReason::OutputClosed;
        let ended =
            Arc::new(SessionEnd { reason, stderr: "starting\npanic: out of cheese\n".into() });
        RequestError::Lost { ended, never_sent }
    }

    fn timed_out(never_sent: bool) -> RequestError {
        RequestError::TimedOut { limit: Duration::from_secs(30), never_sent }
    }

    fn unauthorized(status: StatusCode) -> RequestError {
        RequestError::Unauthorized { status, challenge: None }
    }

    fn status(status: u16) -> RequestError {
        let status = StatusCode::from_u16(status).unwrap();
        RequestError::Status { status, excerpt: "busy".into() }
    }

    fn scope_missing() -> RequestError {
        let challenge = Some("Bearer error=\"insufficient_scope\"".to_owned());
        RequestError::Unauthorized { status: StatusCode::FORBIDDEN, challenge }
    }

    fn forbidden_otherwise() -> RequestError {
        let challenge = Some("Basic realm=\"error=insufficient_scope\"".to_owned());
        RequestError::Unauthorized { status: StatusCode::FORBIDDEN, challenge }
    }

    fn not_renewed() -> RequestError {
        let (status, reason) = (StatusCode::UNAUTHORIZED, "busy".to_owned());
        RequestError::NotRenewed { status, reason }
    }

    fn without_id(status: Option<u16>) -> RequestError {
        let status = status.map(|status| StatusCode::from_u16(status).unwrap());
        RequestError::Inconclusive { error: RpcError::new(code::INTERNAL, "no"), status }
    }

    /// The error of a later request of a call.
    fn midway(error: RequestError) -> RequestError {
        RequestError::AfterStart(Box::new(error))
    }

    fn samples() -> Vec<(&'static str, RequestError)> {
        vec![
            ("invalid params", error_response(code::INVALID_PARAMS)),
            ("no such method", error_response(code::METHOD_NOT_FOUND)),
            ("internal", error_response(code::INTERNAL)),
            ("header mismatch", error_response(code::HEADER_MISMATCH)),
            ("unsupported version", error_response(code::UNSUPPORTED_VERSION)),
            ("url elicitation", error_response(code::URL_ELICITATION_REQUIRED)),
            ("401", unauthorized(StatusCode::UNAUTHORIZED)),
            ("403", unauthorized(StatusCode::FORBIDDEN)),
            ("403 for scope", scope_missing()),
            ("403 of a proxy", forbidden_otherwise()),
            ("not renewed", not_renewed()),
            ("307", status(307)),
            ("400", status(400)),
            ("404", status(404)),
            ("408", status(408)),
            ("429", status(429)),
            ("503", status(503)),
            ("error without id", without_id(None)),
            ("400 without id", without_id(Some(400))),
            ("500 with an error", without_id(Some(500))),
            ("late before sending", timed_out(true)),
            ("late after sending", timed_out(false)),
            ("lost before sending", lost(true)),
            ("lost after sending", lost(false)),
            ("cut", RequestError::StreamEnded),
            ("closed client", RequestError::Http(Arc::new(HttpError::Closed))),
            ("too large", RequestError::TooLarge { limit: 9 }),
            ("nonsense", RequestError::InvalidResponse("the result is not an object".into())),
            ("unanswered", RequestError::InputUnavailable(RpcError::new(-1, "nobody is here"))),
            ("unsendable", RequestError::Unsendable("no headers".into())),
            ("elsewhere", RequestError::EndpointOnOtherOrigin),
            ("late 401", midway(unauthorized(StatusCode::UNAUTHORIZED))),
            ("late mismatch", midway(error_response(code::HEADER_MISMATCH))),
            ("late bad params", midway(error_response(code::INVALID_PARAMS))),
            ("late timeout", midway(timed_out(true))),
            ("late loss", midway(lost(true))),
        ]
    }

    #[test]
    fn every_error_is_classified() {
        let rows = samples().into_iter().map(|(name, error)| {
            let it = to_call_error(&error, Era::Modern, "", &Secrets::default());
            let outcome = if it.outcome_known { "known" } else { "UNKNOWN" };
            let repeat = |claims: RepeatClaims| if may_repeat(&error, claims) { "yes" } else { "no" };
            let on_hints = repeat(sure());
            let plain = repeat(nothing());
            let (kind, phase) = (it.kind.word(), it.phase.word());
            format!(
                "{name:20} {kind:9} {phase:8} {:15} {outcome:7} repeat {plain:3} on hints {on_hints}",
                format!("{:?}", it.reason)
            )
        });
        insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"), @"
        invalid params       MISUSE    protocol BadArguments    known   repeat no  on hints no
        no such method       TERMINAL  protocol ErrorResponse   known   repeat no  on hints no
        internal             TERMINAL  protocol ErrorResponse   known   repeat no  on hints no
        header mismatch      TRANSIENT protocol ErrorResponse   known   repeat no  on hints no
        unsupported version  TRANSIENT protocol ErrorResponse   known   repeat yes on hints yes
        url elicitation      TERMINAL  protocol ErrorResponse   known   repeat no  on hints no
        401                  TERMINAL  protocol NeedsAuth       known   repeat no  on hints no
        403                  TERMINAL  protocol NeedsAuth       UNKNOWN repeat no  on hints no
        403 for scope        TERMINAL  protocol NeedsAuth       known   repeat no  on hints no
        403 of a proxy       TERMINAL  protocol NeedsAuth       UNKNOWN repeat no  on hints no
        not renewed          TRANSIENT connect  Connect         known   repeat no  on hints no
        307                  TERMINAL  protocol ErrorResponse   UNKNOWN repeat no  on hints no
        400                  TERMINAL  protocol ErrorResponse   UNKNOWN repeat no  on hints no
        404                  TERMINAL  protocol ErrorResponse   UNKNOWN repeat no  on hints no
        408                  TERMINAL  protocol ErrorResponse   UNKNOWN repeat no  on hints yes
        429                  TERMINAL  protocol ErrorResponse   UNKNOWN repeat no  on hints yes
        503                  TERMINAL  protocol ErrorResponse   UNKNOWN repeat no  on hints yes
        error without id     TERMINAL  protocol ErrorResponse   UNKNOWN repeat no  on hints no
        400 without id       TERMINAL  protocol ErrorResponse   UNKNOWN repeat no  on hints no
        500 with an error    TERMINAL  protocol ErrorResponse   UNKNOWN repeat no  on hints yes
        late before sending  TRANSIENT send     TimedOut        known   repeat no  on hints no
        late after sending   TERMINAL  receive  TimedOut        UNKNOWN repeat no  on hints no
        lost before sending  TRANSIENT send     Lost            known   repeat yes on hints yes
        lost after sending   TERMINAL  receive  Lost            UNKNOWN repeat no  on hints yes
        cut                  TERMINAL  receive  Lost            UNKNOWN repeat no  on hints yes
        closed client        TERMINAL  connect  Connect         known   repeat yes on hints yes
        too large            TERMINAL  decode   InvalidResponse UNKNOWN repeat no  on hints no
        nonsense             TERMINAL  decode   InvalidResponse UNKNOWN repeat no  on hints no
        unanswered           TERMINAL  protocol Unanswered      UNKNOWN repeat no  on hints no
        unsendable           TERMINAL  send     Unsendable      known   repeat no  on hints no
        elsewhere            TERMINAL  protocol ErrorResponse   UNKNOWN repeat no  on hints no
        late 401             TERMINAL  protocol NeedsAuth       UNKNOWN repeat no  on hints no
        late mismatch        TERMINAL  protocol ErrorResponse   UNKNOWN repeat no  on hints yes
        late bad params      TERMINAL  protocol BadArguments    UNKNOWN repeat no  on hints no
        late timeout         TERMINAL  send     TimedOut        UNKNOWN repeat no  on hints no
        late loss            TERMINAL  send     Lost            UNKNOWN repeat no  on hints yes
        ");
    }

    /// Claims that allow no repeat.
    fn nothing() -> RepeatClaims {
        let hints = ToolHints::default();
        RepeatClaims {
            retry_on_hints: false,
            is_live: false,
            is_pinned_unchanged: false,
            hints,
            ..sure()
        }
    }

    fn sure() -> RepeatClaims {
        let hints = ToolHints { idempotent: Some(true), ..ToolHints::default() };
        RepeatClaims {
            era: Era::Modern,
            retry_on_hints: true,
            is_live: true,
            is_pinned_unchanged: true,
            hints,
        }
    }

    #[test]
    fn a_call_that_may_have_run_is_never_transient() {
        for (name, error) in samples() {
            let it = to_call_error(&error, Era::Modern, "", &Secrets::default());
            assert!(it.outcome_known || it.kind == CallErrorKind::Terminal, "{name}");
            assert_eq!(it.retryable, it.kind == CallErrorKind::Transient, "{name}");
            let modern = nothing();
            assert!(!may_repeat(&error, modern) || it.outcome_known, "{name}");
        }
    }

    #[test]
    fn modern_error_codes_have_no_meaning_from_a_legacy_server() {
        for code in [code::HEADER_MISMATCH, code::UNSUPPORTED_VERSION] {
            assert!(!may_repeat(
                &error_response(code),
                RepeatClaims { era: Era::Legacy, ..sure() }
            ));
            let it = to_call_error(&error_response(code), Era::Legacy, "", &Secrets::default());
            assert_eq!((it.kind, it.retryable), (CallErrorKind::Terminal, false));
        }
    }

    #[test]
    fn the_status_is_part_of_the_message() {
        let message_of = |error: &RequestError| {
            to_call_error(error, Era::Legacy, "", &Secrets::default()).message
        };
        insta::assert_snapshot!(message_of(&status(503)), @"the server answered 503 Service Unavailable: busy");
        insta::assert_snapshot!(message_of(&without_id(Some(400))), @"the server answered 400 Bad Request: no (code -32603)");
        insta::assert_snapshot!(message_of(&without_id(None)), @"the server answered without the id of the request: no (code -32603)");
    }

    #[test]
    fn a_repeat_needs_every_claim() {
        let check = |change: fn(&mut RepeatClaims), expected: bool| {
            let mut claims = sure();
            change(&mut claims);
            assert_eq!(may_repeat(&lost(false), claims), expected, "{claims:?}");
        };
        check(|_| {}, true);
        check(|claims| claims.retry_on_hints = false, false);
        check(|claims| claims.is_live = false, false);
        check(|claims| claims.is_pinned_unchanged = false, false);
        check(|claims| claims.hints.idempotent = None, false);
        check(|claims| claims.hints.idempotent = Some(false), false);
        let reads = ToolHints { read_only: Some(true), ..ToolHints::default() };
        assert!(may_repeat(&lost(false), RepeatClaims { hints: reads, ..sure() }));
    }

    #[test]
    fn only_error_output_since_the_call_began_is_included() {
        // The output that an ended session kept may be old.
        assert_eq!(to_call_error(&lost(false), Era::Legacy, "", &Secrets::default()).stderr, None);
        assert_eq!(
            to_call_error(&lost(false), Era::Legacy, "newer", &Secrets::default())
                .stderr
                .as_deref(),
            Some("newer")
        );
        assert_eq!(
            to_call_error(&RequestError::StreamEnded, Era::Legacy, "", &Secrets::default()).stderr,
            None
        );
    }

    #[test]
    fn a_message_repeats_nothing_and_is_bounded() {
        insta::assert_snapshot!(to_call_error(&error_response(code::INTERNAL), Era::Legacy, "", &Secrets::default()).message, @"the server answered: no (code -32603)");
        insta::assert_snapshot!(to_call_error(&lost(true), Era::Legacy, "", &Secrets::default()).message, @"the server closed its output");
        let long = RequestError::ErrorResponse(RpcError::new(1, "x\n".repeat(5000)));
        assert_eq!(
            to_call_error(&long, Era::Legacy, "", &Secrets::default()).message.chars().count(),
            1000
        );
    }
}
