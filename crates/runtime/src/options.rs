//! The options of a runtime. Every option has a safe default; without a folder, nothing is stored.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use wharf_config::settings::SettingValue;
use wharf_config::{Env, LoadOptions, Settings};
use wharf_protocol::transport::process::GracePeriod;
use wharf_protocol::view::ClientInfo;

use crate::approval::Approver;
use crate::call_record::CallSink;
use crate::client_features::ClientFeatures;
use crate::credentials::{CredentialStore, FileCredentials};
use crate::trace::TraceSink;
use crate::trust_decider::TrustDecider;

/// Which servers are awaited after the startup timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StartupMode {
    /// Servers without cached tools: for one-shot commands and headless runs.
    #[default]
    Complete,
    /// None; slow servers join later: for sessions and gateways.
    Background,
}

/// The word of the setting, for [`wharf_config::Settings::with`].
impl From<StartupMode> for SettingValue {
    fn from(value: StartupMode) -> Self {
        Self::from(match value {
            StartupMode::Complete => "complete",
            StartupMode::Background => "background",
        })
    }
}

/// The options of a runtime.
#[derive(Clone)]
pub struct Options {
    /// The environment: variables, home folder, working folder. Nothing else is read.
    pub env: Arc<Env>,
    /// The name and version to declare to servers.
    pub client: ClientInfo,
    /// Which servers are awaited; `None` uses the setting `startup.mode`.
    pub startup_mode: Option<StartupMode>,
    /// How long all servers are awaited before cached tools are used; `None` uses the setting
    /// `startup.timeout_ms`.
    pub startup_timeout: Option<Duration>,
    /// How long servers may take to exit before they are killed.
    pub grace: GracePeriod,
    /// The store of tokens.
    pub credentials: Arc<dyn CredentialStore>,
    /// What no entry can say about the OAuth client of a server, such as a private key. It replaces
    /// `oauth` of the entry.
    #[cfg(feature = "oauth")]
    pub oauth: std::collections::BTreeMap<wharf_config::ServerName, crate::auth::OAuthSettings>,
    /// The program that stands for `wharf` in the built-in default servers (`wharf mcp …`); the
    /// command of every other entry is run as written.
    pub own_program: Option<PathBuf>,
    /// Approves tool calls; without it, a call that needs approval is denied. A call waits for its
    /// answer without a limit.
    pub approver: Option<Arc<dyn Approver>>,
    /// Decides about untrusted servers of a project; without it they are not used.
    /// [`RuntimeBuilder::start`](crate::RuntimeBuilder::start) and
    /// [`Runtime::apply`](crate::Runtime::apply) ask it; [`Runtime::start`](crate::Runtime::start)
    /// does not.
    pub trust_decider: Option<Arc<dyn TrustDecider>>,
    /// How the user can allow calls without a prompt; hints append it after "or use".
    pub approval_bypass_hint: Option<String>,
    /// The client features that the host provides to servers.
    pub client_features: ClientFeatures,
    /// The folder of cached tools, tool names and last attempts; `None` caches nothing.
    pub cache: Option<PathBuf>,
    /// The folder of pins; `None` pins nothing.
    pub pins: Option<PathBuf>,
    /// The folder of log files with the stderr output of servers; `None` writes none.
    pub logs: Option<PathBuf>,
    /// The folder of lockfiles. A runtime holds one while it runs local servers, so that the next
    /// runtime can find and end processes of a killed one; `None` disables this.
    pub run: Option<PathBuf>,
    /// Receives the record of every call, see
    /// [`RuntimeBuilder::on_call`](crate::RuntimeBuilder::on_call).
    pub on_call: Option<CallSink>,
    /// Receives a redacted trace of all messages, for debugging.
    pub trace: Option<TraceSink>,
    /// The folder of results that are too long for a model; `None` stores none.
    pub results: Option<PathBuf>,
    /// The folder of permanent approvals; `None` keeps approvals for the session only.
    pub approvals: Option<PathBuf>,
    /// How definitions are found, where a function discovers them.
    pub load: LoadOptions,
}

/// Shows which traits are implemented by the host, and the folders.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("env", &self.env)
            .field("startup_mode", &self.startup_mode)
            .field("startup_timeout", &self.startup_timeout)
            .field("approver", &self.approver.is_some())
            .field("trust_decider", &self.trust_decider.is_some())
            .field("client_features", &self.client_features)
            .field("cache", &self.cache)
            .field("pins", &self.pins)
            .field("logs", &self.logs)
            .field("run", &self.run)
            .field("on_call", &self.on_call.is_some())
            .field("trace", &self.trace.is_some())
            .field("results", &self.results)
            .field("approvals", &self.approvals)
            .finish_non_exhaustive()
    }
}

impl Options {
    /// Stores nothing on disk; [`Options::store_in`] changes that.
    pub fn new(env: Env) -> Self {
        let env = Arc::new(env);
        Self {
            client: ClientInfo::new("wharf", env!("CARGO_PKG_VERSION")),
            startup_mode: None,
            startup_timeout: None,
            grace: GracePeriod::default(),
            credentials: Arc::new(FileCredentials::new(Arc::clone(&env))),
            #[cfg(feature = "oauth")]
            oauth: std::collections::BTreeMap::new(),
            own_program: None,
            approver: None,
            trust_decider: None,
            approval_bypass_hint: None,
            client_features: ClientFeatures::default(),
            cache: None,
            pins: None,
            logs: None,
            run: None,
            results: None,
            approvals: None,
            on_call: None,
            trace: None,
            load: LoadOptions::default(),
            env,
        }
    }

    /// Stores everything about servers in a folder: cached tools, tool names and last attempts,
    /// pins, log files, lockfiles, long results and permanent approvals.
    #[must_use]
    pub fn store_in(mut self, folder: &Path) -> Self {
        let below = |name: &str| Some(folder.join(name));
        self.cache = below("cache");
        self.pins = below("pins");
        self.logs = below("logs");
        self.run = below("run");
        self.results = below("results");
        self.approvals = Some(folder.to_owned());
        self
    }

    /// Stores everything in the folder that the environment names for Wharf: `WHARF_HOME`, else
    /// `.wharf` in the home folder. If the environment has neither, nothing is stored.
    #[must_use]
    pub fn store_in_wharf_home(self) -> Self {
        match self.env.wharf_home() {
            Some(home) => self.store_in(&home),
            None => self,
        }
    }

    /// Changes the options for a one-shot run: servers get a short time to exit.
    #[must_use]
    pub fn one_shot(self) -> Self {
        let grace =
            GracePeriod { after_eof: Duration::from_millis(100), after_term: Duration::ZERO };
        Self { grace, ..self }
    }

    pub(crate) fn startup(&self, settings: &Settings) -> (StartupMode, Duration) {
        let mode = self.startup_mode.unwrap_or_else(|| {
            if settings.is_set_to("startup.mode", "background") {
                StartupMode::Background
            } else {
                StartupMode::Complete
            }
        });
        // `WHARF_STARTUP_TIMEOUT_MS` is applied by the settings.
        let timeout = self
            .startup_timeout
            .unwrap_or_else(|| milliseconds(settings, "startup.timeout_ms", 250));
        (mode, timeout)
    }
}

/// Reads a setting that is a number of milliseconds.
pub(crate) fn milliseconds(settings: &Settings, key: &str, otherwise: u64) -> Duration {
    Duration::from_millis(number(settings, key).unwrap_or(otherwise))
}

/// Reads a setting that is a number.
pub(crate) fn number(settings: &Settings, key: &str) -> Option<u64> {
    match settings.get(key)? {
        SettingValue::Number(number) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use wharf_config::Platform;

    use super::*;
    use crate::tools::server_tools::ToolSettings;
    use crate::tools::{Naming, Pinning, Sanitize};

    #[test]
    fn the_enums_of_this_crate_are_values_of_settings() {
        let options = Options::new(Env::new(Platform::HOST, "/"));
        for naming in [Naming::Classic, Naming::Precise] {
            let settings = Settings::default().with("tools.naming", naming).unwrap();
            assert_eq!(Naming::from(&settings), naming);
        }
        for pinning in [Pinning::Observe, Pinning::Enforce] {
            let settings = Settings::default().with("tools.pinning", pinning).unwrap();
            assert_eq!(Pinning::from(&settings), pinning);
        }
        for sanitize in [Sanitize::Light, Sanitize::Strict] {
            let settings = Settings::default().with("tools.sanitize", sanitize).unwrap();
            assert_eq!(ToolSettings::from(&settings).sanitize, sanitize);
        }
        for mode in [StartupMode::Complete, StartupMode::Background] {
            let settings = Settings::default().with("startup.mode", mode).unwrap();
            assert_eq!(options.startup(&settings).0, mode);
        }
    }
}
