//! Decides what a call does next: a state machine that does no input or output.
//!
//! A call is executed at most once: it is approved, waits for its server, and is sent. It is sent
//! again only if it provably did not run, or if the entry has `"retry": "hints"` and the tool is
//! declared read-only or idempotent. A call provably did not run if the request failed in a way
//! that proves it, or if the server requires URLs to be visited first (URL elicitation). So a call
//! that succeeds was executed exactly once, except with `"retry": "hints"`.

/// How often a call is sent at most.
const MAX_ATTEMPTS: u32 = 3;

/// What a call does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Check the arguments and ask for approval.
    Approve,
    /// Wait for the server, and look up the tool as it is now.
    Connect,
    /// Send the request and wait for its result.
    Send,
    /// Ask the person to visit the URLs that the server requires.
    ElicitUrls,
    /// Return the error of the last attempt.
    Fail,
}

/// What the last step led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepEvent {
    Approved,
    Connected,
    /// The server is connected, but the tool or the definition of the server is not the one that was
    /// approved.
    ToolChanged,
    /// The request failed.
    Failed {
        /// The request provably did not run, or the tool may be run twice.
        may_repeat: bool,
        /// The server answered with a JSON-RPC error.
        is_error_response: bool,
    },
    UrlsCompleted,
    /// The server requires no URLs, or the person did not visit them.
    UrlsNotCompleted,
}

/// How far a call has come.
#[derive(Debug, Default)]
pub(super) struct Steps {
    attempts: u32,
    had_error_response: bool,
    has_elicited_urls: bool,
}

impl Steps {
    /// Returns the number of the attempt that is being made, from 1.
    pub(super) fn attempt(&self) -> u32 {
        self.attempts
    }

    /// Takes what happened and returns what to do.
    pub(super) fn next(&mut self, event: StepEvent) -> Step {
        match event {
            StepEvent::Approved => Step::Connect,
            StepEvent::ToolChanged => Step::Approve,
            StepEvent::Connected => {
                self.attempts += 1;
                Step::Send
            }
            StepEvent::Failed { may_repeat, is_error_response } => {
                // An error response that says that nothing was done is worth one more try; the
                // same again is final.
                let is_error_again = is_error_response && self.had_error_response;
                self.had_error_response |= is_error_response;
                match self.attempts >= MAX_ATTEMPTS {
                    true => Step::Fail,
                    false if may_repeat && !is_error_again => Step::Connect,
                    false if self.has_elicited_urls => Step::Fail,
                    false => Step::ElicitUrls,
                }
            }
            StepEvent::UrlsCompleted => {
                self.has_elicited_urls = true;
                Step::Connect
            }
            StepEvent::UrlsNotCompleted => Step::Fail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StepEvent::{
        Approved, Connected, Failed, ToolChanged, UrlsCompleted, UrlsNotCompleted,
    };
    use super::*;

    const NOT_RUN: StepEvent = Failed { may_repeat: true, is_error_response: false };
    const ERROR_RESPONSE: StepEvent = Failed { may_repeat: true, is_error_response: true };
    const NEEDS_URLS: StepEvent = Failed { may_repeat: false, is_error_response: true };
    const UNKNOWN: StepEvent = Failed { may_repeat: false, is_error_response: false };

    /// Checks what follows on each event, in their order.
    fn check(events: &[StepEvent], expected: &[Step]) {
        let mut steps = Steps::default();
        let taken: Vec<Step> = events.iter().map(|event| steps.next(*event)).collect();
        assert_eq!(taken, expected);
    }

    #[test]
    fn a_call_is_approved_then_connected_then_sent() {
        check(&[Approved, Connected], &[Step::Connect, Step::Send]);
    }

    #[test]
    fn a_tool_that_changed_meanwhile_is_approved_again() {
        check(
            &[Approved, ToolChanged, Approved, Connected],
            &[Step::Connect, Step::Approve, Step::Connect, Step::Send],
        );
    }

    #[test]
    fn a_call_that_may_have_run_is_not_sent_again() {
        check(&[Connected, UNKNOWN, UrlsNotCompleted], &[Step::Send, Step::ElicitUrls, Step::Fail]);
    }

    #[test]
    fn a_call_that_did_not_run_is_sent_three_times_at_most() {
        check(
            &[Connected, NOT_RUN, Connected, NOT_RUN, Connected, NOT_RUN],
            &[Step::Send, Step::Connect, Step::Send, Step::Connect, Step::Send, Step::Fail],
        );
    }

    #[test]
    fn a_second_error_response_is_final() {
        check(
            &[Connected, ERROR_RESPONSE, Connected, ERROR_RESPONSE, UrlsNotCompleted],
            &[Step::Send, Step::Connect, Step::Send, Step::ElicitUrls, Step::Fail],
        );
    }

    #[test]
    fn urls_are_elicited_once() {
        check(
            &[Connected, NEEDS_URLS, UrlsCompleted, Connected, NEEDS_URLS],
            &[Step::Send, Step::ElicitUrls, Step::Connect, Step::Send, Step::Fail],
        );
    }

    #[test]
    fn a_changed_tool_does_not_use_up_an_attempt() {
        let mut steps = Steps::default();
        for event in [Connected, NOT_RUN, ToolChanged, Approved, Connected] {
            steps.next(event);
        }
        assert_eq!(steps.attempt(), 2);
    }
}
