//! What a program says about the runtime that it starts; everything has a default that is safe.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use wharf_config::settings::SettingValue;
use wharf_config::{Env, Settings};
use wharf_protocol::transport::process::GracePeriod;
use wharf_protocol::view::ClientInfo;

use crate::approval::Approver;
use crate::client_features::ClientFeatures;
use crate::resolve::{CredentialStore, FileCredentials};
use crate::trace::TraceSink;
use crate::trust_decider::TrustDecider;

/// When a caller that wants the tools gets its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StartupMode {
    /// Servers without cached tools are waited for: for one-shot commands and headless runs.
    #[default]
    Complete,
    /// Servers that are late join later: for sessions and gateways.
    Background,
}

/// How a runtime is to work.
#[derive(Clone)]
pub struct Options {
    /// The surroundings: variables, home, working folder. Nothing else is looked at.
    pub env: Arc<Env>,
    /// Who we are to servers.
    pub client: ClientInfo,
    /// Whether late servers are waited for; the setting `startup.mode` counts if there is none.
    pub startup_mode: Option<StartupMode>,
    /// When cached tools are used instead of waiting; the setting `startup.timeout_ms` counts if
    /// there is none.
    pub startup_timeout: Option<Duration>,
    /// How patiently servers are ended.
    pub grace: GracePeriod,
    /// Where tokens come from.
    pub credentials: Arc<dyn CredentialStore>,
    /// The program that `wharf mcp …` stands for in the built-in servers.
    pub own_program: Option<PathBuf>,
    /// Who is asked before a tool runs; without one, what needs a yes is denied.
    pub approver: Option<Arc<dyn Approver>>,
    /// Who is asked about servers that came with a project; without one they are left alone.
    pub trust_decider: Option<Arc<dyn TrustDecider>>,
    /// How a person can let the host call tools without being asked, to continue "or use …".
    pub approval_bypass_hint: Option<String>,
    /// What the host does for servers.
    pub client_features: ClientFeatures,
    /// Where tools are cached, and their names; `None` keeps nothing.
    pub cache: Option<PathBuf>,
    /// Where it is remembered what tools looked like; `None` remembers nothing.
    pub pins: Option<PathBuf>,
    /// Where servers' error output is written; `None` writes none.
    pub logs: Option<PathBuf>,
    /// Where a runtime leaves a mark while it runs local servers, by which the next one knows that
    /// this one was killed and ends what it left running; `None` leaves none and looks for none.
    pub run: Option<PathBuf>,
    /// Gets the exchange with every server, redacted, for debugging.
    pub trace: Option<TraceSink>,
    /// Where results go that are too long for a model; `None` keeps none.
    pub results: Option<PathBuf>,
}

impl Options {
    /// Keeps everything in the folder that the surroundings name for Wharf.
    pub fn new(env: Env) -> Self {
        let env = Arc::new(env);
        let home = env.wharf_home();
        let below = |name: &str| home.as_ref().map(|home| home.join(name));
        Self {
            client: ClientInfo::new("wharf", env!("CARGO_PKG_VERSION")),
            startup_mode: None,
            startup_timeout: None,
            grace: GracePeriod::default(),
            credentials: Arc::new(FileCredentials::new(Arc::clone(&env))),
            own_program: None,
            approver: None,
            trust_decider: None,
            approval_bypass_hint: None,
            client_features: ClientFeatures::default(),
            cache: below("cache"),
            pins: below("pins"),
            logs: below("logs"),
            run: below("run"),
            results: below("results"),
            trace: None,
            env,
        }
    }

    /// Is for a run that ends with its answer: servers get a moment to end, not more.
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
        // The settings take `WHARF_STARTUP_TIMEOUT_MS` into account.
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
