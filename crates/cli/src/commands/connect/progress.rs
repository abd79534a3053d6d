//! The line that tells somebody who watches what is waited for: which servers are ready and which
//! are awaited, then how far the call is.
//!
//! It appears only when there is something to wait for, is rewritten in place, and is gone before
//! anything else is written. On a pipe there is none.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};
use wharf::{Runtime, Snapshot, Status};

use super::running_call::RunningCall;
use crate::ui::{Ui, phrase};

/// How long nothing is said, and then how often it is looked again.
const TICK: Duration = Duration::from_millis(150);

/// How long a call may take before anything is said about it.
const CALL_DELAY: Duration = Duration::from_millis(500);

/// How many names of awaited servers are shown.
const MOST_NAMES: usize = 4;

/// A line that is rewritten; taken away when dropped.
pub(super) struct Progress<'a> {
    ui: &'a Ui,
    running: &'a RunningCall,
    shown: RefCell<String>,
    /// A question is open: the screen is somebody else's.
    is_paused: Cell<bool>,
    /// Since when the servers are there and only an answer is waited for.
    since: Cell<Instant>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(ui: &'a Ui, running: &'a RunningCall) -> Self {
        Self {
            ui,
            running,
            shown: RefCell::default(),
            is_paused: Cell::new(false),
            since: Cell::new(Instant::now()),
        }
    }

    /// Keeps the line up to date; never ends by itself.
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

    /// Takes the line away until it may go on.
    pub(super) fn pause(&self) {
        self.show(String::new());
        self.is_paused.set(true);
    }

    /// Says again what is waited for, from now on.
    pub(super) fn resume(&self) {
        self.is_paused.set(false);
        self.since.set(Instant::now());
    }

    /// Says who is awaited; how far the call is if nobody is, and it takes longer than a moment.
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
        let mut shown = self.shown.borrow_mut();
        if *shown != line {
            self.ui.status_line(&line);
            *shown = line;
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.show(String::new());
        if self.is_paused.get() {
            // The question that is still open has left the cursor behind its words.
            self.ui.message("\n");
        }
    }
}

/// Says who is ready and who is awaited; nothing if nobody is.
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
