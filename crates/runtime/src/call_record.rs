//! The record of a call for an audit log: who called which tool, when, and how it ended.
//!
//! Observers of events get records, too, but can miss some. A call sink gets every record: it runs
//! within the call, before the caller gets the outcome.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Serialize, Serializer};
use wharf_config::time::rfc3339_millis;

use crate::call::{CallDetails, CallErrorReason, Outcome};
use crate::call_context::CallContext;

/// Receives the record of every call, see
/// [`RuntimeBuilder::on_call`](crate::RuntimeBuilder::on_call).
pub type CallSink = Arc<dyn Fn(&CallRecord) + Send + Sync>;

/// Who called which tool, and how the call ended: for an audit log. It has neither arguments nor
/// results.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallRecord {
    /// When the call ended; it began `details.duration` earlier. Serializes as RFC 3339 in UTC, to
    /// the millisecond.
    #[serde(serialize_with = "as_rfc3339")]
    pub ended_at: SystemTime,
    /// The server, the tool and the duration.
    pub details: CallDetails,
    /// Who called, if the host has said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<CallContext>,
    /// Whether the tool or the call failed.
    pub is_error: bool,
    /// Why there is no result; `None` also if the tool ran and reported an error of its own.
    #[serde(rename = "code", skip_serializing_if = "Option::is_none")]
    pub reason: Option<CallErrorReason>,
    /// Whether it is known if the tool ran.
    pub outcome_known: bool,
}

impl CallRecord {
    /// Makes the record of a call that ends now with this outcome.
    pub fn new(outcome: &Outcome, context: Option<&CallContext>) -> Self {
        Self {
            ended_at: SystemTime::now(),
            details: outcome.details.clone(),
            context: context.cloned(),
            is_error: outcome.is_error,
            reason: outcome.error.as_ref().map(|error| error.reason),
            outcome_known: outcome.error.as_ref().is_none_or(|error| error.outcome_known),
        }
    }

    /// Passes the record to a sink. A panic in it is its own: the call keeps its outcome.
    pub(crate) fn pass_to(&self, sink: &CallSink) {
        if std::panic::catch_unwind(AssertUnwindSafe(|| sink(self))).is_err() {
            tracing::error!(
                server = self.details.server_name,
                tool = self.details.mcp_tool_name,
                "the call sink of the host panicked, so the record of a call is lost"
            );
        }
    }
}

/// Serializes a time as RFC 3339 in UTC, to the millisecond.
pub(crate) fn as_rfc3339<S: Serializer>(
    time: &SystemTime,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339_millis(*time))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Event;

    #[test]
    fn a_record_says_when_who_and_how() {
        let error = crate::call::CallError::new(CallErrorReason::Lost, "gone");
        let outcome = Outcome::from_error(error, CallDetails::default());
        let context = CallContext::new("7", "research");
        let mut record = CallRecord::new(&outcome, Some(&context));
        record.ended_at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500);
        assert_eq!(
            serde_json::to_string(&Event::Called(Arc::new(record))).unwrap(),
            r#"{"event":"called","endedAt":"1970-01-01T00:00:01.500Z","details":{"serverName":"","mcpToolName":"","provider":"","providerName":"","durationMs":0},"context":{"id":"7","label":"research"},"isError":true,"code":"connection-lost","outcomeKnown":false}"#,
        );
    }
}
