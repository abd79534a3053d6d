//! Collects the messages exchanged with a server, for `wharf test --trace`.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use wharf::{TraceKind, TraceLine, TraceSink};
use wharf_config::text::clean;

use crate::ui::style;

/// The collected messages; clones share them.
#[derive(Clone, Default)]
pub(crate) struct Trace(Arc<Mutex<Vec<TraceLine>>>);

/// One trace line, for `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct TraceLineJson {
    ms: u64,
    kind: &'static str,
    text: String,
}

impl Trace {
    /// Returns the sink that a runtime writes to.
    pub(crate) fn sink(&self) -> TraceSink {
        let lines = Arc::clone(&self.0);
        Arc::new(move |line| lines.lock().unwrap_or_else(PoisonError::into_inner).push(line))
    }

    /// Returns the lines for `--json`.
    pub(crate) fn lines(&self) -> Vec<TraceLineJson> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rendered = lines.iter().map(|line| TraceLineJson {
            ms: milliseconds(line),
            kind: line.kind.word(),
            text: line.text.clone(),
        });
        rendered.collect()
    }

    /// Removes the lines and returns them as text for a person.
    pub(crate) fn take_text(&self) -> Vec<String> {
        let lines = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let rendered = lines.iter().map(|line| {
            let mark = match line.kind {
                TraceKind::Sent => "→",
                TraceKind::Received => "←",
                TraceKind::Http => "·",
                TraceKind::Note => "…",
            };
            let time = style::faint(&format!("{:>6} ms", milliseconds(line)));
            format!("{time} {mark} {}", clean(&line.text))
        });
        rendered.collect()
    }
}

fn milliseconds(line: &TraceLine) -> u64 {
    u64::try_from(line.at.as_millis()).unwrap_or(u64::MAX)
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Trace").finish_non_exhaustive()
    }
}
