//! Builds a runtime: servers from files, servers from code, settings, and what the host implements
//! (approver, trust decider, elicitor, sampler, store of tokens).
//!
//! The builder reads nothing until [`RuntimeBuilder::start`], and then only what it was told to. The
//! order of its setters does not matter: what depends on several of them is computed at the start.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use wharf_config::{
    Catalog, DiscoveryError, Env, Platform, ServerEntry, ServerName, Settings, load,
    load_with_settings,
};
use wharf_protocol::transport::process::GracePeriod;
use wharf_protocol::view::ClientInfo;
use wharf_protocol::view::send::RootEntry;

use crate::approval::Approver;
use crate::call_record::CallRecord;
use crate::client_features::{Elicitor, Sampler};
use crate::credentials::{CredentialStore, FileCredentials};
use crate::event::{EventSender, Events};
use crate::options::{Options, StartupMode};
use crate::runtime::Runtime;
use crate::trace::TraceSink;
use crate::trust_decider::{self, TrustDecider};
use crate::trust_gate;

/// Builds a [`Runtime`].
///
/// Without further calls the runtime has no servers, stores nothing, reads no file and no variable,
/// and denies calls that need approval.
///
/// ```
/// use wharf::{AllowAll, Env, Runtime, Stdio};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let runtime = Runtime::builder()
///     .env(Env::of_process())
///     .server("time", Stdio::new("no-such-program").arg("--utc"))
///     .approver(AllowAll)
///     .start()
///     .await?;
/// let snapshot = runtime.ready().await;
/// assert!(snapshot.server("time").is_some());
/// runtime.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[must_use = "a builder does nothing until it is started"]
pub struct RuntimeBuilder {
    /// All options except those below.
    options: Options,
    env: Option<Arc<Env>>,
    /// `None` uses the file of the environment.
    credentials: Option<Arc<dyn CredentialStore>>,
    with_defaults: bool,
    discover: Option<PathBuf>,
    settings: Option<Settings>,
    servers: Vec<(ServerName, ServerEntry)>,
    events: EventSender,
}

impl Runtime {
    /// Returns a builder: servers from files or from code, settings, approver and everything else.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::new()
    }
}

impl RuntimeBuilder {
    fn new() -> Self {
        // Not the folder of the process: the builder reads nothing of it.
        let env = Env::new(Platform::HOST, std::path::MAIN_SEPARATOR_STR);
        Self { env: None, credentials: None, ..Self::from_options(Options::new(env)) }
    }

    pub(crate) fn from_options(options: Options) -> Self {
        Self {
            env: Some(Arc::clone(&options.env)),
            credentials: Some(Arc::clone(&options.credentials)),
            options,
            with_defaults: false,
            discover: None,
            settings: None,
            servers: Vec::new(),
            events: EventSender::default(),
        }
    }

    /// Sets the environment: variables, home folder, working folder. Servers that are found by name
    /// need `PATH` in it. [`Env::of_process`] takes that of this process.
    pub fn env(mut self, env: Env) -> Self {
        self.env = Some(Arc::new(env));
        self
    }

    /// Finds the servers that are configured for a folder, in the files of all programs: those of
    /// the project, and those of the home folder of [`RuntimeBuilder::env`]. A relative folder is
    /// below the working folder of that environment.
    #[cfg(feature = "discovery")]
    pub fn discover(mut self, folder: impl Into<PathBuf>) -> Self {
        self.discover = Some(folder.into());
        self
    }

    /// Sets how [`RuntimeBuilder::discover`] finds servers.
    #[cfg(feature = "discovery")]
    pub fn load_options(mut self, options: wharf_config::LoadOptions) -> Self {
        self.options.load = options;
        self
    }

    /// Uses the default servers if [`RuntimeBuilder::discover`] finds none. Two of them download a
    /// package when they start.
    #[cfg(feature = "discovery")]
    pub fn with_defaults(mut self) -> Self {
        self.with_defaults = true;
        self
    }

    /// Adds a server. It replaces every definition of this name in files.
    ///
    /// Texts are literal: no placeholder is expanded, no variable is looked up and no `!command` is
    /// run. A server without a folder of its own runs in the working folder of the environment.
    pub fn server(mut self, name: impl Into<ServerName>, server: impl Into<ServerEntry>) -> Self {
        self.servers.push((name.into(), server.into()));
        self
    }

    /// Sets the settings, instead of those in files, which are not read then. `discovery.*` says
    /// which files [`RuntimeBuilder::discover`] reads.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = Some(settings);
        self
    }

    /// Stores everything about servers in a folder, see [`Options::store_in`]. Without it, nothing
    /// is stored, except an answer of the trust decider that is to be remembered.
    pub fn store_in(mut self, folder: impl AsRef<Path>) -> Self {
        self.options = self.options.store_in(folder.as_ref());
        self
    }

    /// Sets the name and version to declare to servers.
    pub fn client(mut self, name: &str, version: &str) -> Self {
        self.options.client = ClientInfo::new(name, version);
        self
    }

    /// Sets which servers are awaited after the startup timeout.
    pub fn startup_mode(mut self, mode: StartupMode) -> Self {
        self.options.startup_mode = Some(mode);
        self
    }

    /// Sets how long all servers are awaited before cached tools are used.
    pub fn startup_timeout(mut self, limit: Duration) -> Self {
        self.options.startup_timeout = Some(limit);
        self
    }

    /// Sets how long servers may take to exit before they are killed.
    pub fn grace(mut self, grace: GracePeriod) -> Self {
        self.options.grace = grace;
        self
    }

    /// Sets who approves calls. A closure is an approver, too.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.options.approver = Some(Arc::new(approver));
        self
    }

    /// Sets how the user can allow calls without a prompt; hints append it after "or use".
    pub fn approval_bypass_hint(mut self, hint: impl Into<String>) -> Self {
        self.options.approval_bypass_hint = Some(hint.into());
        self
    }

    /// Sets who decides about untrusted servers of a project.
    pub fn trust_decider(mut self, decider: impl TrustDecider) -> Self {
        self.options.trust_decider = Some(Arc::new(decider));
        self
    }

    /// Sets who answers elicitation requests of servers.
    pub fn elicitor(mut self, elicitor: impl Elicitor) -> Self {
        self.options.client_features.elicitor = Some(Arc::new(elicitor));
        self
    }

    /// Sets who answers sampling requests of servers.
    pub fn sampler(mut self, sampler: impl Sampler) -> Self {
        self.options.client_features.sampler = Some(Arc::new(sampler));
        self
    }

    /// Sets the roots: folders that servers may work in.
    pub fn roots(mut self, roots: impl IntoIterator<Item = RootEntry>) -> Self {
        self.options.client_features.roots = roots.into_iter().collect();
        self
    }

    /// Sets the store of tokens, instead of the file in the home folder of the environment.
    pub fn credentials(mut self, store: impl CredentialStore) -> Self {
        self.credentials = Some(Arc::new(store));
        self
    }

    /// Sets who receives a redacted trace of all messages, for debugging.
    pub fn trace(mut self, sink: TraceSink) -> Self {
        self.options.trace = Some(sink);
        self
    }

    /// Sets who receives the record of every call that ends, for an audit log: also of calls that
    /// fail, are denied, or are dropped.
    ///
    /// It runs within the call, before the caller gets the outcome. So none can be missed, and a
    /// slow one delays that call alone; but it blocks its thread, so it must be short: a write to a
    /// file or a send into a channel. If it panics, that record is lost, and nothing else. Records
    /// of calls that run at the same time arrive at the same time.
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// let (sender, records) = mpsc::sync_channel(10_000);
    /// let builder = wharf::Runtime::builder().on_call(move |record| {
    ///     // Waits while 10 000 records are unread; `try_send` would drop them instead.
    ///     drop(sender.send(record.clone()));
    /// });
    /// # drop((builder, records));
    /// ```
    pub fn on_call(mut self, sink: impl Fn(&CallRecord) + Send + Sync + 'static) -> Self {
        self.options.on_call = Some(Arc::new(sink));
        self
    }

    /// Returns the events of the runtime from its start on.
    pub fn events(&self) -> Events {
        self.events.subscribe()
    }

    /// Finds the servers without starting any: what [`RuntimeBuilder::start`] would use.
    ///
    /// # Errors
    /// If the folder to discover does not exist, or is relative although there is no environment,
    /// or `WHARF_MCP_SERVERS` is not a JSON object.
    pub fn catalog(&self) -> Result<Catalog, DiscoveryError> {
        self.catalog_of(&*self.discovery_env()?)
    }

    /// Asks the trust decider about untrusted servers, and starts connecting to all others. Does
    /// not wait for them: [`Runtime::ready`] does.
    ///
    /// Must be called in a Tokio runtime with I/O and time.
    ///
    /// # Errors
    /// As [`RuntimeBuilder::catalog`].
    pub async fn start(self) -> Result<Runtime, DiscoveryError> {
        let env = self.discovery_env()?;
        let mut catalog = self.catalog_of(&env)?;
        let mut unsaved = Vec::new();
        if let Some(decider) = self.options.trust_decider.clone() {
            unsaved = trust_decider::ask_about_untrusted(&mut catalog, &*decider, &env).await;
        }
        let problems = trust_gate::problems(&catalog).into_iter().chain(unsaved).collect();
        let credentials = self.credentials;
        let credentials =
            credentials.unwrap_or_else(|| Arc::new(FileCredentials::new(Arc::clone(&env))));
        let options = Options { env, credentials, ..self.options };
        let runtime = Runtime::start_with_events(&catalog, options, self.events);
        runtime.set_problems(problems);
        Ok(runtime)
    }

    /// Returns the environment, with the folder to discover as its working folder.
    fn discovery_env(&self) -> Result<Arc<Env>, DiscoveryError> {
        let Some(folder) = &self.discover else {
            return Ok(Arc::clone(self.env.as_ref().unwrap_or(&self.options.env)));
        };
        if self.env.is_none() && folder.is_relative() {
            return Err(DiscoveryError::RelativeFolder { path: folder.clone() });
        }
        let mut env = Env::clone(self.env.as_ref().unwrap_or(&self.options.env));
        env.cwd = env.cwd.join(folder);
        Ok(Arc::new(env))
    }

    fn catalog_of(&self, env: &Env) -> Result<Catalog, DiscoveryError> {
        let mut load_options = self.options.load;
        load_options.with_defaults |= self.with_defaults;
        let mut catalog = match (&self.discover, &self.settings) {
            (Some(_), Some(settings)) => load_with_settings(env, load_options, settings)?,
            (Some(_), None) => load(env, load_options)?,
            (None, Some(settings)) => {
                let mut catalog = Catalog::new(env);
                catalog.settings = settings.clone();
                catalog
            }
            (None, None) => Catalog::new(env),
        };
        for (name, server) in &self.servers {
            catalog.insert(name.clone(), server.clone());
        }
        Ok(catalog)
    }
}

/// Shows the names of the servers: their texts may be secret.
impl fmt::Debug for RuntimeBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&ServerName> = self.servers.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("RuntimeBuilder")
            .field("discover", &self.discover)
            .field("servers", &names)
            .finish_non_exhaustive()
    }
}
