//! The handle of a program: starts servers, returns their status, calls their tools, shuts down.
//!
//! A clone is the same runtime. When the last clone is dropped without [`Runtime::shutdown`], all
//! servers are killed at once; a shutdown gives them time to exit by themselves.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use wharf_config::{Catalog, Problem, ServerName};
use wharf_protocol::Peer;

use crate::approval::{ApprovalStore, Approvals, ApprovalsError, RememberedApproval};
use crate::call::{ModelText, Outcome, ResultStore};
use crate::call_context::CallContext;
use crate::call_record::CallRecord;
use crate::connections::{
    CatalogChanges, RuntimeSettings, ServerSnapshot, Shared, Snapshot, Supervisor,
    SupervisorChannels, SupervisorCommand,
};
use crate::event::{Event, EventSender, Events};
use crate::model_formats::ResultLimits;
use crate::options::{Options, StartupMode};
use crate::scope::Scope;
use crate::status::{ServerFailure, Status};
use crate::store::folder_lock::LOCK_TIMEOUT;
use crate::tools::Tool;
use crate::{trust_decider, trust_gate};

/// How long the last write at shutdown waits for other processes.
const FINAL_WRITE_LIMIT: Duration = Duration::from_millis(250);

/// Keeps servers connected and calls their tools.
///
/// A clone is the same runtime. [`Runtime::shutdown`] gives the servers time to exit; if the last
/// clone is dropped without it, all their processes are killed.
///
/// ```
/// use wharf::config::load;
/// use wharf::{Env, LoadOptions, Options, Platform, Runtime};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let env = Env::new(Platform::HOST, folder.path())
///     .with_home(folder.path())
///     .with_variable("WHARF_MCP_SERVERS", "{}");
/// let catalog = load(&env, LoadOptions::default())?;
/// let runtime = Runtime::start(&catalog, Options::new(env));
/// let snapshot = runtime.ready().await;
/// assert_eq!(snapshot.registry().tools().len(), 0);
/// runtime.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Runtime(pub(crate) Arc<RuntimeInner>);

pub(crate) struct RuntimeInner {
    pub(crate) shared: Arc<Shared>,
    /// What applies to calls that are not made through a view.
    pub(crate) scope: Arc<Scope>,
    commands: mpsc::Sender<SupervisorCommand>,
    snapshot: watch::Receiver<Arc<Snapshot>>,
    pub(crate) startup: (StartupMode, Duration),
    pub(crate) began: Instant,
    tasks: TaskTracker,
    /// Tasks that write records to disk, on threads that may block.
    saving: TaskTracker,
    /// The problems of the catalog in use.
    problems: Mutex<Vec<Problem>>,
}

/// Shows the servers, each with its status and the number of its tools.
impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Runtime").field(&self.snapshot()).finish()
    }
}

/// There is no server of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no server \"{0}\"")]
pub struct UnknownServer(pub String);

/// Why a server is not available for a request.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// There is no server of this name.
    #[error(transparent)]
    Unknown(#[from] UnknownServer),
    /// It came with a project and is not trusted.
    #[error("server \"{0}\" came with this project and is not trusted")]
    Untrusted(ServerName),
    /// It is disabled.
    #[error("server \"{0}\" is disabled")]
    Disabled(ServerName),
    /// Connecting failed.
    #[error("failed to connect to \"{server}\": {}", .failure.message)]
    Failed {
        /// Which one.
        server: ServerName,
        /// Why.
        failure: Arc<ServerFailure>,
    },
    /// The host closed it.
    #[error("server \"{0}\" was closed")]
    Closed(ServerName),
    /// It was not connected in time.
    #[error("server \"{server}\" was not connected within {limit:?}")]
    TimedOut {
        /// Which one.
        server: ServerName,
        /// The limit of the caller.
        limit: Duration,
    },
    /// The runtime was shut down.
    #[error("the runtime was shut down")]
    ShutDown,
}

impl Runtime {
    /// Starts connecting to every server that may be connected, and returns at once.
    ///
    /// Reads small files of Wharf: cached tools, tool names, approvals. Must be called in a Tokio
    /// runtime with I/O and time.
    ///
    /// Does not ask [`Options::trust_decider`], because asking takes time: an untrusted server of
    /// this catalog stays untrusted. [`Runtime::apply`] and
    /// [`RuntimeBuilder::start`](crate::RuntimeBuilder::start) ask; so a program with a catalog of
    /// its own and a trust decider starts with an empty catalog and applies its own.
    pub fn start(catalog: &Catalog, options: Options) -> Self {
        Self::start_with_events(catalog, options, EventSender::default())
    }

    /// Does the same with events that the host has subscribed to already.
    pub(crate) fn start_with_events(
        catalog: &Catalog,
        options: Options,
        events: EventSender,
    ) -> Self {
        let startup = options.startup(&catalog.settings);
        let servers = trust_gate::plan(catalog, &options.env);
        let settings = RuntimeSettings::new(&catalog.settings);
        let remembered = ApprovalStore::new(options.approvals.as_deref());
        let approvals = Approvals::new(remembered, options.approver.clone(), events.clone());
        let approvals = match &options.approval_bypass_hint {
            Some(hint) => approvals.with_bypass_hint(hint),
            None => approvals,
        };
        let shared = Arc::new(Shared::new(options, events));
        shared.set_name_owners(catalog);
        let (supervisor, SupervisorChannels { commands, snapshot }) =
            Supervisor::new(Arc::clone(&shared), settings, servers);
        let (tasks, saving) = (TaskTracker::new(), TaskTracker::new());
        drop(tasks.spawn(supervisor.run()));
        tasks.close();
        let began = Instant::now();
        Self(Arc::new(RuntimeInner {
            shared,
            scope: Arc::new(Scope::of_runtime(approvals)),
            commands,
            snapshot,
            startup,
            began,
            tasks,
            saving,
            problems: Mutex::new(trust_gate::problems(catalog)),
        }))
    }

    /// Returns the current state of all servers and tools.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.snapshot.borrow())
    }

    /// Returns the tools that can be called now, live and cached ones, sorted by name.
    pub fn tools(&self) -> Vec<Arc<Tool>> {
        self.snapshot().registry().tools().to_vec()
    }

    /// Returns the text of an outcome for a model. A text that is longer than the setting
    /// `call.max_result_chars` allows is cut to its head and tail, and written to a file in full.
    ///
    /// Blocks while that file is written.
    pub fn text_for_model(&self, outcome: &Outcome) -> ModelText {
        let store = self.0.shared.options.results.as_ref().map(ResultStore::new);
        outcome.for_model(self.settings().max_result_chars, store.as_ref())
    }

    /// Returns the limits of results for a model: those of [`Runtime::text_for_model`].
    pub fn result_limits(&self) -> ResultLimits {
        let limits = ResultLimits::new(self.settings().max_result_chars);
        match self.0.shared.options.results.as_ref() {
            Some(folder) => limits.with_store(ResultStore::new(folder)),
            None => limits,
        }
    }

    /// Returns the status of a server.
    pub fn status(&self, server: &str) -> Option<Status> {
        self.snapshot().server(server).map(|server| server.status)
    }

    /// Returns the events from now on, until the runtime is shut down. To show tools as soon as
    /// they are there, read [`Runtime::tools`] at each
    /// [`Event::ToolsChanged`](crate::Event::ToolsChanged).
    pub fn events(&self) -> Events {
        self.0.shared.events.subscribe()
    }

    /// Applies another catalog: connects new and changed servers, disconnects removed ones, and
    /// leaves all others connected.
    ///
    /// If the host has a trust decider, it is asked about untrusted servers of the catalog first.
    /// Servers that the host gave in code are kept only if the catalog has them.
    ///
    /// # Errors
    /// [`Unavailable::ShutDown`] if the runtime was shut down: nothing is applied.
    pub async fn apply(&self, catalog: &Catalog) -> Result<CatalogChanges, Unavailable> {
        if self.has_shut_down() {
            return Err(Unavailable::ShutDown);
        }
        let options = &self.0.shared.options;
        let mut unsaved = Vec::new();
        let decided = match &options.trust_decider {
            Some(decider) if catalog.undecided().next().is_some() => {
                let mut catalog = catalog.clone();
                let decisions =
                    trust_decider::ask_about_untrusted(&mut catalog, &**decider, &options.env);
                unsaved = decisions.await;
                Some(catalog)
            }
            _ => None,
        };
        let catalog = decided.as_ref().unwrap_or(catalog);
        let problems: Vec<_> = trust_gate::problems(catalog).into_iter().chain(unsaved).collect();
        let changes = self.apply_decided(catalog).await;
        let changes = changes.ok_or(Unavailable::ShutDown)?;
        self.set_problems(problems.clone());
        Ok(CatalogChanges { problems, ..changes })
    }

    /// Returns the problems of the catalog in use, such as files that could not be read and servers
    /// that duplicate another one, and those of decisions about its trust. The problems of one server are in its
    /// [`ServerSnapshot`](crate::ServerSnapshot).
    pub fn problems(&self) -> Vec<Problem> {
        self.0.problems.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the problems of the catalog in use, and tells observers about them.
    pub(crate) fn set_problems(&self, problems: Vec<Problem>) {
        self.0.problems.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&problems);
        for problem in problems {
            let server = problem.server.as_deref().map(ServerName::new);
            self.0.shared.events.send(Event::Problem { server, problem });
        }
    }

    async fn apply_decided(&self, catalog: &Catalog) -> Option<CatalogChanges> {
        let servers = trust_gate::plan(catalog, &self.0.shared.options.env);
        let settings = RuntimeSettings::new(&catalog.settings);
        self.0.shared.set_name_owners(catalog);
        self.send_command(|done| SupervisorCommand::Apply { servers, settings, done }).await
    }

    /// Connects a server, again if it is connected, and waits for the outcome.
    pub async fn connect(&self, server: &str) -> Result<Arc<ServerSnapshot>, Unavailable> {
        let name = self.server_name(server)?;
        self.send_command(|done| SupervisorCommand::Reconnect { server: name, done }).await;
        self.wait_for_outcome(server).await
    }

    /// Closes a server and removes its tools. Waits until its process has ended.
    ///
    /// # Errors
    /// If there is no such server, or the runtime was shut down.
    pub async fn disconnect(&self, server: &str) -> Result<(), Unavailable> {
        let name = self.server_name(server)?;
        let done = self.send_command(|done| SupervisorCommand::Disconnect { server: name, done });
        done.await.ok_or(Unavailable::ShutDown)
    }

    /// Waits until a server is connected or has failed; a failed one is tried again.
    pub async fn wait_for(&self, server: &str) -> Result<Arc<ServerSnapshot>, Unavailable> {
        self.server_name(server)?;
        if self.snapshot().server(server).is_some_and(|it| it.status != Status::Connected) {
            self.connect_in_background(server).await;
        }
        self.wait_for_outcome(server).await
    }

    /// Returns the approvals that count for more than one call: permanent ones, then those of the
    /// session, then those of views that still exist.
    pub async fn approvals(&self) -> Result<Vec<RememberedApproval>, ApprovalsError> {
        self.0.scope.approvals.all().await
    }

    /// Removes the approvals of a server, or of one of its tools, and returns what was removed:
    /// permanent ones, those of the session, and those of views. The next call needs approval again.
    ///
    /// Removing one tool from the approval of a whole server limits that approval to the tools that
    /// were used so far.
    pub async fn revoke_approvals(
        &self,
        server: &str,
        tool: Option<&str>,
    ) -> Result<Vec<RememberedApproval>, ApprovalsError> {
        self.0.scope.approvals.revoke(server, tool).await
    }

    /// Starts writing the records for the next start to disk: cached tools, tool names and pins.
    ///
    /// Calling this is optional: the runtime writes them after a delay, and [`Runtime::shutdown`]
    /// writes them and waits. Calling it early lets the write run while the caller still works.
    ///
    /// Must be called in a Tokio runtime.
    pub fn save(&self) -> tokio::task::JoinHandle<()> {
        let shared = Arc::clone(&self.0.shared);
        self.0.saving.spawn_blocking(move || shared.history.write(LOCK_TIMEOUT))
    }

    /// Shuts down all servers and waits until their processes have ended.
    pub async fn shutdown(&self) {
        // Records are written while the servers end, unless a write is running already.
        if self.0.saving.is_empty() {
            drop(self.save());
        }
        self.0.saving.close();
        self.send_command(|done| SupervisorCommand::Shutdown { done }).await;
        self.0.tasks.wait().await;
        #[cfg(feature = "oauth")]
        self.0.shared.sign_ins.close().await;
        #[cfg(feature = "http")]
        self.0.shared.http.close().await;
        self.0.saving.wait().await;
        // Records of the last moment. The wait is short, as the lock was waited for already.
        self.0.shared.history.write(FINAL_WRITE_LIMIT);
    }

    /// Waits until a server is connected, and returns its peer.
    pub(crate) async fn peer(
        &self,
        server: &str,
        limit: Duration,
    ) -> Result<(Arc<ServerSnapshot>, Peer), Unavailable> {
        let waiting = async {
            loop {
                let view = match self.snapshot().server(server) {
                    Some(view) if view.peer.as_ref().is_some_and(|peer| !peer.has_ended()) => {
                        Arc::clone(view)
                    }
                    _ => self.wait_for(server).await?,
                };
                match view.peer.clone() {
                    Some(peer) if !peer.has_ended() => return Ok((view, peer)),
                    // The session ended, but the snapshot does not show it yet.
                    _ => self.wait_for_change(&view).await?,
                }
            }
        };
        let server = ServerName::new(server);
        tokio::time::timeout(limit, waiting)
            .await
            .unwrap_or(Err(Unavailable::TimedOut { server, limit }))
    }

    /// Tells whether the runtime was shut down.
    pub(crate) fn has_shut_down(&self) -> bool {
        self.0.commands.is_closed()
    }

    /// Tells the call sink and observers that a call has ended.
    pub(crate) fn announce_call(&self, outcome: &Outcome, context: Option<&CallContext>) {
        let (events, sink) = (&self.0.shared.events, &self.0.shared.options.on_call);
        if sink.is_none() && !events.has_observers() {
            return;
        }
        let record = CallRecord::new(outcome, context);
        if let Some(sink) = sink {
            record.pass_to(sink);
        }
        events.send(Event::Called(Arc::new(record)));
    }

    /// Checks whether a server is alive after an error that suggests that it is not.
    pub(crate) fn check_alive(&self, server: &ServerName) {
        // If the channel is full, the next failure triggers the check.
        drop(self.0.commands.try_send(SupervisorCommand::CheckAlive { server: server.clone() }));
    }

    pub(crate) fn settings(&self) -> RuntimeSettings {
        self.snapshot().settings.clone()
    }

    fn server_name(&self, server: &str) -> Result<ServerName, UnknownServer> {
        let snapshot = self.snapshot();
        let name = snapshot.server(server).map(|server| server.name.clone());
        name.ok_or_else(|| UnknownServer(server.to_owned()))
    }

    async fn wait_for_outcome(&self, server: &str) -> Result<Arc<ServerSnapshot>, Unavailable> {
        let is_settled = |snapshot: &Snapshot| {
            snapshot.server(server).is_none_or(|server| !server.status.is_pending())
        };
        let snapshot = self.wait_for_snapshot(is_settled).await;
        let Some(view) = snapshot.server(server) else {
            return Err(UnknownServer(server.to_owned()).into());
        };
        self.check_connected(view)
    }

    /// Returns a connected server, or why it is not connected.
    pub(crate) fn check_connected(
        &self,
        view: &Arc<ServerSnapshot>,
    ) -> Result<Arc<ServerSnapshot>, Unavailable> {
        let name = view.name.clone();
        match (view.status, &view.failure) {
            (Status::Connected, _) => Ok(Arc::clone(view)),
            (Status::Untrusted, _) => Err(Unavailable::Untrusted(name)),
            (Status::Disabled, _) => Err(Unavailable::Disabled(name)),
            (_, Some(failure)) => {
                Err(Unavailable::Failed { server: name, failure: Arc::clone(failure) })
            }
            (_, None) if self.0.commands.is_closed() => Err(Unavailable::ShutDown),
            (_, None) => Err(Unavailable::Closed(name)),
        }
    }

    /// Waits for the first snapshot that meets a condition.
    pub(crate) async fn wait_for_snapshot(
        &self,
        is_wanted: impl Fn(&Snapshot) -> bool,
    ) -> Arc<Snapshot> {
        let mut watcher = self.0.snapshot.clone();
        loop {
            let snapshot = Arc::clone(&watcher.borrow_and_update());
            // Without a supervisor, no other snapshot will come.
            if is_wanted(&snapshot) || watcher.changed().await.is_err() {
                return snapshot;
            }
        }
    }

    async fn wait_for_change(&self, view: &Arc<ServerSnapshot>) -> Result<(), Unavailable> {
        let name = view.name.as_str();
        let is_other =
            |snapshot: &Snapshot| snapshot.server(name).is_none_or(|now| !Arc::ptr_eq(now, view));
        let snapshot = self.wait_for_snapshot(is_other).await;
        if is_other(&snapshot) { Ok(()) } else { Err(Unavailable::ShutDown) }
    }

    pub(crate) async fn send_command<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> SupervisorCommand,
    ) -> Option<T> {
        let (sender, done) = oneshot::channel();
        self.0.commands.send(command(sender)).await.ok()?;
        done.await.ok()
    }
}
