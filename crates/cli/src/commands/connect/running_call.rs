//! The call in progress and its last progress notification, for the progress line.
//!
//! The code that makes the call writes it, `progress` reads it. A notification is untrusted text:
//! only the last one is kept, and only a limited length of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wharf::call::PhaseTracker;
use wharf::protocol::Json;
use wharf_config::text::clip;

use crate::ui::phrase;

/// The longest progress message that is kept, in characters.
const LONGEST_MESSAGE: usize = 400;

/// A callback for progress notifications.
type ProgressListener = Arc<dyn Fn(Json) + Send + Sync>;

/// The call in progress, if there is one; clones share it.
#[derive(Clone, Default)]
pub(crate) struct RunningCall(Arc<Mutex<RunningCallState>>);

#[derive(Default)]
struct RunningCallState {
    server: Option<String>,
    /// The called tool as `server/tool`.
    what: Option<String>,
    /// The last progress notification as text.
    report: Option<String>,
    /// Whether the verb itself reports changed tools.
    reports_changes: bool,
    /// How far the call has come.
    phase_tracker: PhaseTracker,
}

impl RunningCall {
    /// Records the start of a call, and returns the callback for its progress notifications.
    pub(crate) fn begin(&self, server: &str, tool: &str) -> ProgressListener {
        let what = format!("{}/{}", phrase::name(server), phrase::name(tool));
        let mut state = self.state();
        (state.server, state.what, state.report) = (Some(server.to_owned()), Some(what), None);
        drop(state);
        let running = self.clone();
        Arc::new(move |params| {
            if let Some(report) = progress_text(&params) {
                running.state().report = Some(report);
            }
        })
    }

    /// Records that the verb itself has reported the changed tools.
    pub(crate) fn mark_changes_reported(&self) {
        self.state().reports_changes = true;
    }

    /// Tells whether the verb itself has reported the changed tools.
    pub(super) fn reports_changes(&self) -> bool {
        self.state().reports_changes
    }

    /// Returns the handle in which the runtime records the phase of the call.
    pub(crate) fn phase_tracker(&self) -> PhaseTracker {
        self.state().phase_tracker.clone()
    }

    /// Tells whether the run waits for a server.
    pub(super) fn needs(&self, server: &str) -> bool {
        self.state().server.as_deref().is_none_or(|called| called == server)
    }

    /// Returns the progress: the last notification, or the elapsed time.
    pub(super) fn line(&self, waited: Duration) -> String {
        let state = self.state();
        let time = match waited.as_secs() {
            0 => String::new(),
            seconds => format!(", {seconds} s"),
        };
        match (&state.what, &state.report) {
            (Some(what), Some(report)) => format!("{what}: {report}"),
            (Some(what), None) => format!("{what}: waiting{time}"),
            (None, _) => format!("waiting for an answer{time}"),
        }
    }

    fn state(&self) -> MutexGuard<'_, RunningCallState> {
        // A poisoned lock is harmless: no update leaves the state inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Formats a progress notification: `30%, compiling`; `None` if it has no content.
fn progress_text(params: &Json) -> Option<String> {
    let [progress, total, message] = params.get_all(["progress", "total", "message"]);
    let number = |json: Option<Json>| json?.to::<f64>().filter(|number| number.is_finite());
    let amount = match (number(progress), number(total)) {
        (Some(done), Some(total)) if total > 0.0 && (0.0..=total).contains(&done) => {
            Some(format!("{:.0}%", (done / total * 100.0).floor()))
        }
        (Some(done), _) if done.fract() == 0.0 => Some(format!("{done:.0}")),
        (Some(done), _) => Some(format!("{done:.1}")),
        (None, _) => None,
    };
    // The message may have many megabytes.
    let message = message.and_then(|message| message.to_shared_text());
    let message = message.map(|text| clip(text.trim(), LONGEST_MESSAGE));
    let message = message.filter(|text| !text.is_empty());
    match (amount, message) {
        (None, None) => None,
        (amount, message) => {
            let parts: Vec<String> = amount.into_iter().chain(message).collect();
            Some(parts.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_reports_become_text() {
        let cases = [
            (r#"{"progress":3,"total":10,"message":"compiling"}"#, "30%, compiling"),
            (r#"{"progress":0.5,"total":1}"#, "50%"),
            (r#"{"progress":999,"total":1000}"#, "99%"),
            (r#"{"progress":7}"#, "7"),
            (r#"{"progress":7.25,"total":0}"#, "7.2"),
            (r#"{"progress":11,"total":10}"#, "11"),
            (r#"{"progress":-1,"total":10,"message":" "}"#, "-1"),
            (r#"{"progress":"half","total":null,"message":"going on"}"#, "going on"),
            (r#"{"progress":1,"message":"a\u001b[2J\nb"}"#, r"1, a\u{1b}[2J\nb"),
            (r#"{"progress":"half","message":7}"#, "nothing"),
            ("{}", "nothing"),
            ("[]", "nothing"),
        ];
        for (params, expected) in cases {
            let rendered = progress_text(&params.parse().unwrap());
            assert_eq!(rendered.as_deref().unwrap_or("nothing"), expected, "{params}");
        }
        let long = format!(r#"{{"message":"{}"}}"#, "x".repeat(100_000));
        assert!(progress_text(&long.parse().unwrap()).unwrap().len() < 2 * LONGEST_MESSAGE);
    }

    #[test]
    fn the_line_shows_the_last_report_or_the_elapsed_time() {
        let running = RunningCall::default();
        let line = |seconds| running.line(Duration::from_secs(seconds));
        assert_eq!(line(0), "waiting for an answer");
        assert_eq!(line(2), "waiting for an answer, 2 s");
        let listener = running.begin("box", "hang");
        assert_eq!(line(0), "box/hang: waiting");
        assert_eq!(line(61), "box/hang: waiting, 61 s");
        listener(r#"{"progress":1,"total":2}"#.parse().unwrap());
        assert_eq!(line(61), "box/hang: 50%");
        listener("{}".parse().unwrap());
        assert_eq!(line(61), "box/hang: 50%");
    }
}
