//! The fixture of the tests: a home folder, a project folder, and scripted servers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use wharf::config::{Catalog, Env, LoadOptions, Platform, load};
use wharf::protocol::Json;
use wharf::{Options, Runtime, Snapshot, StartupMode};
use wharf_testkit::actor::{ActorLog, Script};

/// The timeout of the tests.
pub(super) const LIMIT: Duration = Duration::from_secs(30);

/// A temporary home with servers.
pub(super) struct Fixture {
    root: tempfile::TempDir,
    servers: Map<String, Value>,
    /// Options of every runtime that is started here.
    pub(super) gate: Duration,
    pub(super) mode: StartupMode,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "project"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        Self {
            root,
            servers: Map::new(),
            gate: Duration::from_millis(250),
            mode: StartupMode::Complete,
        }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// Adds a scripted server; the members of `more` are added to its entry.
    pub(super) fn actor(&mut self, name: &str, script: &Script, more: Value) -> ActorLog {
        let folder = self.path(&format!("actors/{name}"));
        let mut entry = json!({
            // Absolute also on Windows, where the path of the build may have no drive.
            "command": std::path::absolute(env!("CARGO_BIN_EXE_wharf-actor")).unwrap(),
            "args": [folder],
            "approval": "never",
        });
        if let (Value::Object(entry), Value::Object(more)) = (&mut entry, more) {
            entry.extend(more);
        }
        self.servers.insert(name.to_owned(), entry);
        script.write(&folder)
    }

    /// Adds a server with this entry.
    pub(super) fn server(&mut self, name: &str, entry: Value) {
        self.servers.insert(name.to_owned(), entry);
    }

    /// Removes a server.
    pub(super) fn remove(&mut self, name: &str) {
        self.servers.remove(name);
    }

    /// Sets a member of a server's entry.
    pub(super) fn change(&mut self, name: &str, key: &str, value: Value) {
        self.servers[name][key] = value;
    }

    /// Writes the user's settings.
    pub(super) fn setting(&self, text: &str) {
        write(&self.path("home/.wharf/config.toml"), text);
    }

    pub(super) fn env(&self) -> Env {
        let servers = json!({ "mcpServers": self.servers }).to_string();
        write(&self.path("home/.wharf/mcp.json"), &servers);
        Env::new(Platform::HOST, self.path("project"))
            .with_home(self.path("home"))
            .with_system_root(self.path("system"))
            .with_variables(system_variables())
    }

    pub(super) fn catalog(&self) -> Catalog {
        load(&self.env(), LoadOptions::default()).unwrap()
    }

    pub(super) fn options(&self) -> Options {
        Options {
            startup_timeout: Some(self.gate),
            startup_mode: Some(self.mode),
            ..Options::new(self.env()).store_in_wharf_home()
        }
        .one_shot()
    }

    /// Starts a runtime with all servers.
    pub(super) fn start(&self) -> Runtime {
        Runtime::start(&self.catalog(), self.options())
    }

    /// Fills the caches: starts a runtime, waits until all servers are settled, and shuts it down.
    pub(super) async fn warm(&self) {
        let runtime = self.start();
        runtime.settled().await;
        runtime.shutdown().await;
    }
}

/// Returns what programs need to start.
#[cfg(unix)]
fn system_variables() -> [(String, String); 1] {
    [("PATH".to_owned(), "/usr/bin:/bin".to_owned())]
}

/// Returns what programs need to start.
#[cfg(windows)]
#[expect(clippy::disallowed_methods, reason = "the folder of the system has no fixed place")]
fn system_variables() -> [(String, String); 1] {
    [("SystemRoot".to_owned(), std::env::var("SystemRoot").unwrap())]
}

#[expect(clippy::disallowed_methods, reason = "a test's own folder needs no atomic writes")]
fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Waits for a snapshot with a condition.
pub(super) async fn until(
    runtime: &Runtime,
    what: &str,
    is_wanted: impl Fn(&Snapshot) -> bool,
) -> Arc<Snapshot> {
    let waiting = async {
        let mut events = runtime.events();
        loop {
            let snapshot = runtime.snapshot();
            if is_wanted(&snapshot) {
                return snapshot;
            }
            events.next().await.expect("the runtime is there");
        }
    };
    let outcome = tokio::time::timeout(LIMIT, waiting).await;
    outcome.unwrap_or_else(|_| panic!("never: {what}\n{}", render(&runtime.snapshot())))
}

/// Renders the servers with their status, one per line.
pub(super) fn render(snapshot: &Snapshot) -> String {
    let lines = snapshot.servers().map(|server| {
        let why = server.connection_problem().map_or(String::new(), |why| format!(": {why}"));
        format!("{} {} {}{why}", server.name, server.status, server.tools())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Renders the tools, one per line.
pub(super) fn tools(snapshot: &Snapshot) -> String {
    let tools = snapshot.registry().tools().iter();
    let lines = tools.map(|tool| format!("{} {:?}", tool.name(), tool.freshness()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Calls a tool with these arguments and renders the outcome.
pub(super) async fn call(runtime: &Runtime, tool: &str, arguments: Value) -> String {
    let arguments: Json = arguments.to_string().parse().unwrap();
    let call = runtime.call(tool, &arguments);
    let outcome = tokio::time::timeout(LIMIT, call.into_future()).await.expect("a call ends");
    match &outcome.error {
        None => outcome.text,
        Some(error) => format!(
            "{} {:?} known={} {}",
            error.kind.word(),
            error.reason,
            error.outcome_known,
            error.message
        ),
    }
}

/// Kills a process.
#[cfg(unix)]
pub(super) fn kill(process: u32) {
    let process = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
    let _may_be_gone = rustix::process::kill_process(process, rustix::process::Signal::KILL);
}

/// Kills a process.
#[cfg(windows)]
#[expect(clippy::disallowed_methods, reason = "without unsafe code only a program can kill")]
pub(super) fn kill(process: u32) {
    let mut program = std::process::Command::new("taskkill");
    let _may_be_gone = program.args(["/F", "/PID", &process.to_string()]).output().unwrap();
}

/// Kills a process and blocks the thread until it has closed all its files.
#[cfg(target_os = "linux")]
pub(super) fn kill_and_wait(process: u32) {
    kill(process);
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    let is_open = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // The state comes after the name, which is in parentheses. A zombie has no files.
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    };
    while is_open() {
        assert!(std::time::Instant::now() < deadline, "process {process} does not end");
        std::thread::yield_now();
    }
}
