//! The progress line on a terminal: which servers are ready and which are connecting, then the
//! progress of the call.
//!
//! It appears only while something is awaited, is rewritten in place, and is erased before anything
//! else is printed. Without a terminal there is no line.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};
use wharf::{Runtime, Snapshot, Status};

use super::running_call::RunningCall;
use crate::ui::{Ui, phrase};

/// The delay before the first line, and the interval of updates.
const TICK: Duration = Duration::from_millis(150);

/// The delay before the progress of a call is shown.
const CALL_DELAY: Duration = Duration::from_millis(500);

/// The most names of connecting servers in the line.
const MOST_NAMES: usize = 4;

/// The progress line; it is erased when this is dropped.
pub(crate) struct Progress<'a> {
    ui: &'a Ui,
    running: &'a RunningCall,
    line: RefCell<String>,
    /// Whether a question is open, so that nothing may be printed.
    is_paused: Cell<bool>,
    /// Since when all servers are connected and only a response is awaited.
    since: Cell<Instant>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(ui: &'a Ui, running: &'a RunningCall) -> Self {
        Self {
            ui,
            running,
            line: RefCell::default(),
            is_paused: Cell::new(false),
            since: Cell::new(Instant::now()),
        }
    }

    /// Updates the line; never returns.
    pub(super) async fn watch(&self, runtime: &Runtime) {
        if !self.ui.shows_progress {
            return std::future::pending().await;
        }
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            if !self.is_paused.get() {
                self.show(self.line(&runtime.snapshot()));
            }
        }
    }

    /// Erases the line and stops updating it.
    pub(crate) fn pause(&self) {
        self.show(String::new());
        self.is_paused.set(true);
    }

    /// Continues to update the line.
    pub(crate) fn resume(&self) {
        self.is_paused.set(false);
        self.since.set(Instant::now());
    }

    /// Returns the line: connecting servers, or else the progress of a call that takes a while.
    fn line(&self, snapshot: &Snapshot) -> String {
        let connecting = connecting(snapshot, self.running);
        if !connecting.is_empty() {
            self.since.set(Instant::now());
            return connecting;
        }
        let waited = self.since.get().elapsed();
        if waited < CALL_DELAY { String::new() } else { self.running.line(waited) }
    }

    fn show(&self, line: String) {
        let mut current = self.line.borrow_mut();
        if *current != line {
            self.ui.status_line(&line);
            *current = line;
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.show(String::new());
        if self.is_paused.get() {
            // The open question has left the cursor at the end of its line.
            self.ui.message("\n");
        }
    }
}

/// Counts ready and failed servers, and names the connecting ones; empty if none is connecting.
fn connecting(snapshot: &Snapshot, running: &RunningCall) -> String {
    let pending = snapshot.pending().map(|server| server.name.as_str());
    let awaited: Vec<&str> = pending.filter(|name| running.needs(name)).collect();
    if awaited.is_empty() {
        return String::new();
    }
    let count = |is_counted: fn(Status) -> bool| {
        snapshot.servers().filter(|server| is_counted(server.status)).count()
    };
    let ready = count(|status| status == Status::Connected);
    let failed = match count(|status| matches!(status, Status::Failed | Status::NeedsAuth)) {
        0 => String::new(),
        failed => format!(" {failed} failed,"),
    };
    let mut names: Vec<String> =
        awaited.iter().take(MOST_NAMES).map(|name| phrase::name(name)).collect();
    if awaited.len() > MOST_NAMES {
        names.push(format!("{} more", awaited.len() - MOST_NAMES));
    }
    format!("{ready} ready,{failed} waiting for {}", names.join(", "))
}
