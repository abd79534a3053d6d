//! The one owner of all servers: takes commands and reports, one at a time, and publishes.
//!
//! It awaits only its own channels. Commands come on a bounded channel and reports on an unbounded
//! one, so nobody can wait for each other in a circle. A command is answered after the snapshot
//! that shows its effect.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use wharf_config::ServerName;
use wharf_protocol::transport::process;

use super::backoff::Place;
use super::connection::{Connection, News, Report, Start};
use super::presence::Mark;
use super::shared::{Rules, Shared, is_local};
use super::slot::{Doing, Slot, Taken};
use super::snapshot::Snapshot;
use crate::event::Event;
use crate::gate::{Entry, Planned};
use crate::status::{Failure, FailureKind, Status};
use crate::store::folder_lock::LOCK_WAIT;

/// How many reports are taken in before the snapshot is published.
const BATCH: usize = 256;

/// How long after it came up something is written to disk.
const QUIET: Duration = Duration::from_millis(500);

/// How long after the start, at the latest, it is looked for what a killed Wharf left behind: when
/// nobody waits for a first answer any more.
const LOOK: Duration = Duration::from_secs(1);

/// How long a shutdown waits for the end of what was found. It has a second to end by itself.
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// What somebody asks of the supervisor.
pub(crate) enum Command {
    /// Take these servers instead of those before.
    Apply { servers: Vec<Planned>, rules: Rules, done: oneshot::Sender<Applied> },
    /// A call needs a server.
    Wake { server: ServerName, done: oneshot::Sender<()> },
    /// A request went wrong in a way that a server which is gone would explain.
    Suspect { server: ServerName },
    /// A person wants a server connected anew.
    Reconnect { server: ServerName, done: oneshot::Sender<()> },
    /// A server is to be closed, and its tools are to go.
    Disconnect { server: ServerName, done: oneshot::Sender<()> },
    /// Everything is to end.
    Shutdown { done: oneshot::Sender<()> },
}

/// What a new catalog changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Applied {
    /// Servers that were not there before.
    pub added: Vec<ServerName>,
    /// Servers that are gone.
    pub removed: Vec<ServerName>,
    /// Servers that are there but different.
    pub changed: Vec<ServerName>,
    /// How many are as they were.
    pub unchanged: usize,
}

/// The owner of all servers.
pub(crate) struct Supervisor {
    shared: Arc<Shared>,
    rules: Rules,
    slots: BTreeMap<ServerName, Slot>,
    commands: mpsc::Receiver<Command>,
    reports: mpsc::UnboundedReceiver<Report>,
    reporter: mpsc::UnboundedSender<Report>,
    snapshot: watch::Sender<Arc<Snapshot>>,
    tasks: JoinSet<()>,
    owners: BTreeMap<tokio::task::Id, (ServerName, u64)>,
    generations: u64,
    /// When things are written to disk; nobody can put that off.
    keep_at: Option<Instant>,
    /// When it is looked for what a killed Wharf left behind.
    look_at: Option<Instant>,
    /// Ends what was found.
    sweeping: JoinSet<()>,
    /// Events that wait for the snapshot that shows what they tell.
    events: Vec<Event>,
    /// Who waits for connections to end.
    leaving: Vec<(u64, oneshot::Sender<()>)>,
    /// Tells observers that nothing will happen any more, however this task ends.
    _over: DropGuard,
}

/// How the supervisor is reached.
pub(crate) struct Channels {
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) snapshot: watch::Receiver<Arc<Snapshot>>,
}

impl Supervisor {
    /// Takes the first servers and publishes the first snapshot; nothing runs before `run`.
    pub(crate) fn new(
        shared: Arc<Shared>,
        rules: Rules,
        servers: Vec<Planned>,
    ) -> (Self, Channels) {
        let (command_sender, commands) = mpsc::channel(64);
        let (reporter, reports) = mpsc::unbounded_channel();
        let empty = Snapshot::new(BTreeMap::new(), rules.clone(), shared.history.tool_names());
        let (snapshot, watcher) = watch::channel(Arc::new(empty));
        let over = shared.events.close_on_drop();
        let mut supervisor = Self {
            shared,
            rules,
            slots: BTreeMap::new(),
            commands,
            reports,
            reporter,
            snapshot,
            tasks: JoinSet::new(),
            owners: BTreeMap::new(),
            generations: 0,
            keep_at: None,
            look_at: Some(Instant::now() + LOOK),
            sweeping: JoinSet::new(),
            events: Vec::new(),
            leaving: Vec::new(),
            _over: over,
        };
        for planned in servers {
            supervisor.add(planned, None);
        }
        supervisor.publish();
        (supervisor, Channels { commands: command_sender, snapshot: watcher })
    }

    /// Works until it is told to end, or until nobody is left who could tell it anything.
    pub(crate) async fn run(mut self) {
        loop {
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    None => break,
                    Some(Command::Shutdown { done }) => {
                        self.shut_down().await;
                        answer(done, ());
                        return;
                    }
                    Some(command) => self.obey(command),
                },
                Some(report) = self.reports.recv() => self.take_all(report),
                Some(ended) = self.tasks.join_next_with_id() => self.ended(ended),
                () = at(self.keep_at) => self.keep(),
                () = at(self.look_at) => self.look(),
            }
        }
        self.shut_down().await;
        self.shared.history.write(LOCK_WAIT);
    }

    /// Writes what is worth keeping, on a thread that may wait for the disk.
    fn keep(&mut self) {
        self.keep_at = None;
        let shared = Arc::clone(&self.shared);
        self.tasks.spawn_blocking(move || shared.history.write(LOCK_WAIT));
    }

    /// Looks for a mark of somebody who was killed, and ends what that one left running.
    fn look(&mut self) {
        if self.look_at.take().is_none() {
            return;
        }
        let left = self.shared.presence.left_over();
        if left.is_empty() {
            return;
        }
        self.sweeping.spawn(async move {
            let ended = process::sweep().await;
            tracing::info!(ended, "ended what a killed process had left running");
            // Whoever gives up before leaves the marks to the next.
            left.into_iter().for_each(Mark::remove);
        });
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Apply { servers, rules, done } => {
                let applied = self.apply(servers, rules);
                self.publish();
                answer(done, applied);
            }
            Command::Wake { server, done } => {
                self.order(&server, Slot::wake);
                self.publish();
                answer(done, ());
            }
            Command::Suspect { server } => {
                if let Some(slot) = self.slots.get(&server) {
                    slot.suspect();
                }
            }
            Command::Reconnect { server, done } => {
                self.order(&server, Slot::reconnect);
                self.publish();
                answer(done, ());
            }
            Command::Disconnect { server, done } => {
                let generation = self.slots.get_mut(&server).and_then(Slot::disconnect);
                self.note(&server);
                self.events.push(Event::ToolsChanged { server: server.clone() });
                self.publish();
                match generation {
                    Some(generation) => self.leaving.push((generation, done)),
                    None => answer(done, ()),
                }
            }
            Command::Shutdown { .. } => {}
        }
    }

    /// Gives an order, and starts a connection that was closed.
    fn order(&mut self, server: &ServerName, order: impl FnOnce(&mut Slot) -> bool) {
        let Some(slot) = self.slots.get_mut(server) else { return };
        let stands_differently = order(slot);
        if slot.needs_connection() {
            self.connect(server, Start::Now, None);
        }
        if stands_differently {
            self.note(server);
        }
    }

    fn apply(&mut self, servers: Vec<Planned>, rules: Rules) -> Applied {
        let mut applied = Applied::default();
        self.rules = rules;
        let mut before = std::mem::take(&mut self.slots);
        for planned in servers {
            let name = planned.name.clone();
            let Some(mut slot) = before.remove(&name) else {
                applied.added.push(name);
                self.add(planned, None);
                continue;
            };
            if !slot.is_same_connection(&planned) {
                self.events.push(Event::ToolsChanged { server: name.clone() });
                applied.changed.push(name);
                self.add(planned, slot.stop());
                continue;
            }
            if slot.adopt(planned, &self.rules) {
                self.events.push(Event::ToolsChanged { server: name.clone() });
                applied.changed.push(name.clone());
            } else {
                applied.unchanged += 1;
            }
            self.slots.insert(name.clone(), slot);
            // Who reloads wants what failed to be tried again.
            self.order(&name, Slot::try_again);
        }
        for (name, slot) in before {
            drop(slot.stop());
            self.events.push(Event::ToolsChanged { server: name.clone() });
            applied.removed.push(name);
        }
        applied
    }

    /// Takes a new server; `after` is the end of the connection that it replaces.
    fn add(&mut self, planned: Planned, after: Option<CancellationToken>) {
        let name = planned.name.clone();
        let slot = Slot::new(planned, &self.shared, &self.rules);
        let start = if slot.is_lazy() { Start::WhenNeeded } else { Start::Now };
        let needs_connection = slot.needs_connection();
        self.slots.insert(name.clone(), slot);
        if needs_connection {
            self.connect(&name, start, after);
        }
        self.note(&name);
    }

    fn connect(&mut self, name: &ServerName, start: Start, after: Option<CancellationToken>) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        let Some(terms) = slot.terms.clone() else { return };
        self.generations += 1;
        let place = if is_local(&terms.server.spec) { Place::Local } else { Place::Remote };
        let (orders, receiver) = mpsc::unbounded_channel();
        let (stop, gone) = (CancellationToken::new(), CancellationToken::new());
        let (terms, watcher) = watch::channel(terms);
        let connection = Connection {
            shared: Arc::clone(&self.shared),
            server: name.clone(),
            terms: watcher,
            place,
            generation: self.generations,
            epoch: slot.epoch,
            start,
            remembered: slot.remembered,
            reports: self.reporter.clone(),
            orders: receiver,
            stop: stop.clone(),
            after: after.or_else(|| slot.leaving.take()),
            _gone: gone.clone().drop_guard(),
        };
        let task = self.tasks.spawn(connection.run());
        self.owners.insert(task.id(), (name.clone(), self.generations));
        let stop = stop.drop_guard();
        slot.begin(Doing { generation: self.generations, orders, terms, stop, gone });
    }

    /// Takes in a report and all others that are there already, then publishes once.
    fn take_all(&mut self, first: Report) {
        self.take(first);
        for _ in 0..BATCH {
            match self.reports.try_recv() {
                Ok(report) => self.take(report),
                Err(_) => break,
            }
        }
        self.publish();
    }

    fn take(&mut self, report: Report) {
        let Report { server, generation, epoch, news } = report;
        let slot = self.slots.get_mut(&server);
        let Some(slot) = slot.filter(|slot| slot.is_doing(generation) && slot.epoch == epoch)
        else {
            return;
        };
        if let News::LeftOut(problems) = &news {
            let told = problems.iter().cloned();
            self.events
                .extend(told.map(|problem| Event::Problem { server: server.clone(), problem }));
        }
        let before = slot.view.status;
        // What a server sent is worked on here, too; whatever is wrong with it is its own trouble.
        let taken = catch_unwind(AssertUnwindSafe(|| slot.take(news))).unwrap_or_else(|_| {
            slot.fail(panicked(&server));
            Taken::default()
        });
        if let Some(changes) = taken.differences {
            self.events.push(Event::ToolsDiffer { server: server.clone(), changes });
        }
        if slot.view.status != before {
            self.note(&server);
        }
        if taken.has_new_tools {
            self.events.push(Event::ToolsChanged { server });
        }
    }

    /// A connection's task is over; one that panicked becomes a status, not a missing server.
    fn ended(&mut self, ended: Result<(tokio::task::Id, ()), JoinError>) {
        let (id, has_panicked) = match ended {
            Ok((id, ())) => (id, false),
            Err(error) => (error.id(), error.is_panic()),
        };
        let Some((server, generation)) = self.owners.remove(&id) else { return };
        let (gone, leaving): (Vec<_>, Vec<_>) =
            self.leaving.drain(..).partition(|(waited_for, _)| *waited_for == generation);
        self.leaving = leaving;
        for (_, done) in gone {
            answer(done, ());
        }
        let slot = self.slots.get_mut(&server).filter(|slot| slot.is_doing(generation));
        if let (true, Some(slot)) = (has_panicked, slot) {
            slot.fail(panicked(&server));
            self.note(&server);
            self.publish();
        }
    }

    async fn shut_down(&mut self) {
        self.look();
        let names: Vec<ServerName> = self.slots.keys().cloned().collect();
        for name in names {
            let Some(slot) = self.slots.get_mut(&name) else { continue };
            let before = slot.view.status;
            slot.disconnect();
            if slot.view.status != before {
                self.note(&name);
            }
        }
        while let Some(ended) = self.tasks.join_next_with_id().await {
            self.ended(ended);
        }
        self.shared.presence.end();
        self.publish();
        let sweeping = async { while self.sweeping.join_next().await.is_some() {} };
        if tokio::time::timeout(LAST_MOMENT, sweeping).await.is_err() {
            tracing::debug!("what was left running is left to the next start");
        }
    }

    /// Remembers to tell how a server stands.
    fn note(&mut self, server: &ServerName) {
        if let Some(slot) = self.slots.get(server) {
            let status = slot.view.status;
            tracing::debug!(%server, status = status.word(), "a server stands differently");
            let failure = slot.view.failure.clone().filter(|_| status != Status::Connected);
            self.events.push(Event::Status { server: server.clone(), status, failure });
        }
    }

    fn publish(&mut self) {
        let servers = self.slots.iter_mut().map(|(name, slot)| (name.clone(), slot.shared()));
        let names = self.shared.history.tool_names();
        let snapshot = Snapshot::new(servers.collect(), self.rules.clone(), names);
        self.snapshot.send_replace(Arc::new(snapshot));
        for event in self.events.drain(..) {
            self.shared.tell(event);
        }
        if self.keep_at.is_none() && self.shared.history.has_unwritten() {
            self.keep_at = Some(Instant::now() + QUIET);
        }
    }
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Says that something panicked over a server.
fn panicked(server: &ServerName) -> Failure {
    tracing::error!(%server, "the task of a server panicked");
    Failure::new(FailureKind::Connect, "its connection failed inside Wharf")
        .hint("reconnect it; if it happens again, please report it")
}

/// Answers a command; who does not wait any more need not hear it.
fn answer<T>(done: oneshot::Sender<T>, what: T) {
    let _nobody_waits = done.send(what);
}

/// Says how a planned server stands before anything is done.
pub(super) fn first_status(entry: &Entry) -> (Status, Option<Failure>) {
    match entry {
        Entry::Ready(ready) if ready.spec.policy.lazy => (Status::Disconnected, None),
        Entry::Ready(_) => (Status::Connecting, None),
        Entry::Disabled => (Status::Disabled, None),
        Entry::Untrusted => (Status::Untrusted, None),
        Entry::Invalid { message } => {
            (Status::Failed, Some(Failure::new(FailureKind::Config, message.clone())))
        }
    }
}
