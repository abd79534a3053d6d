//! Decides what a call does next: a state machine that does no input or output.
//!
//! A call is executed exactly once or not at all: it is approved, waits for its server, and is
//! sent. It is sent again only if it provably did not run: the request failed in a way that proves
//! it, or the server refused it until a person has opened a page (URL elicitation).

/// How often a call is sent at most; each time after the first it provably did not run before.
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
    /// Ask the person to open the pages that the server requires.
    OpenPages,
    /// Return the error of the last attempt.
    Fail,
}

/// What the last step led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepEvent {
    Approved,
    Connected,
    /// The server is connected, but the tool is not the one that was approved.
    ToolChanged,
    /// The request failed.
    Failed {
        /// The request provably did not run, or the tool may be run twice.
        may_repeat: bool,
        /// The server answered with a JSON-RPC error.
        is_refusal: bool,
    },
    PagesOpened,
    /// The server requires no pages, or the person did not open them.
    PagesNotOpened,
}

/// How far a call has come.
#[derive(Debug, Default)]
pub(super) struct Steps {
    attempts: u32,
    was_refused: bool,
    has_opened_pages: bool,
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
            StepEvent::Failed { may_repeat, is_refusal } => {
                // A refusal that says that nothing was done is worth one more try; the same again
                // is final.
                let is_refused_again = is_refusal && self.was_refused;
                self.was_refused |= is_refusal;
                match self.attempts >= MAX_ATTEMPTS {
                    true => Step::Fail,
                    false if may_repeat && !is_refused_again => Step::Connect,
                    false if self.has_opened_pages => Step::Fail,
                    false => Step::OpenPages,
                }
            }
            StepEvent::PagesOpened => {
                self.has_opened_pages = true;
                Step::Connect
            }
            StepEvent::PagesNotOpened => Step::Fail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StepEvent::{Approved, Connected, Failed, PagesNotOpened, PagesOpened, ToolChanged};
    use super::*;

    const NOT_RUN: StepEvent = Failed { may_repeat: true, is_refusal: false };
    const REFUSED: StepEvent = Failed { may_repeat: true, is_refusal: true };
    const NEEDS_PAGES: StepEvent = Failed { may_repeat: false, is_refusal: true };
    const UNKNOWN: StepEvent = Failed { may_repeat: false, is_refusal: false };

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
        check(&[Connected, UNKNOWN, PagesNotOpened], &[Step::Send, Step::OpenPages, Step::Fail]);
    }

    #[test]
    fn a_call_that_did_not_run_is_sent_three_times_at_most() {
        check(
            &[Connected, NOT_RUN, Connected, NOT_RUN, Connected, NOT_RUN],
            &[Step::Send, Step::Connect, Step::Send, Step::Connect, Step::Send, Step::Fail],
        );
    }

    #[test]
    fn a_second_refusal_is_final() {
        check(
            &[Connected, REFUSED, Connected, REFUSED, PagesNotOpened],
            &[Step::Send, Step::Connect, Step::Send, Step::OpenPages, Step::Fail],
        );
    }

    #[test]
    fn pages_are_opened_once() {
        check(
            &[Connected, NEEDS_PAGES, PagesOpened, Connected, NEEDS_PAGES],
            &[Step::Send, Step::OpenPages, Step::Connect, Step::Send, Step::Fail],
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
