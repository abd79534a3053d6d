//! A home, a repository and a folder with programs, all temporary.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[cfg(feature = "http")]
use http::HeaderMap;
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::time::timeout;
use wharf_config::{Credential, Env, LoadOptions, Platform, Secret, load};
use wharf_protocol::transport::process::{ProcessLaunch, TaskTracker};
#[cfg(feature = "http")]
use wharf_protocol::transport::{AuthorizedRequest, Authorizer, HttpTarget};

use super::super::resolver::ResolvedServer;
use super::super::{ResolveError, ResolvedTransport, Resolver, shell};
use crate::credentials::{
    CredentialQuery, CredentialStore, CredentialStoreError, StoredCredential,
};
use crate::trust_gate::{GateDecision, TrustedServer, plan};

/// Longer than any step of a test takes, on any machine.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct World {
    folder: TempDir,
    pub(super) root: PathBuf,
    pub(super) env: Env,
    pub(super) store: Arc<Store>,
    pub(super) options: LoadOptions,
}

impl World {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = wharf_config::real_path(folder.path()).unwrap();
        for below in ["home/.wharf", "project/.git", "project/.wharf", "bin"] {
            fs::create_dir_all(root.join(below)).unwrap();
        }
        let path = format!("{}:/usr/bin:/bin", root.join("bin").display());
        let env = Env::new(Platform::HOST, root.join("project"))
            .with_home(root.join("home"))
            .with_variable("PATH", path);
        let world = Self {
            folder,
            root,
            env,
            store: Arc::default(),
            options: LoadOptions { with_defaults: true, ..LoadOptions::default() },
        };
        world.program("bin/server");
        world
    }

    /// Defines the person's own server `a`, as in `"command": "server"`.
    pub(super) fn with_own(self, fields: &str) -> Self {
        self.write(
            "home/.wharf/mcp.json",
            &format!(r#"{{ "mcpServers": {{ "a": {{ {fields} }} }} }}"#),
        );
        self
    }

    /// Defines the server `a` of a project that is trusted for this run.
    pub(super) fn with_project(mut self, fields: &str) -> Self {
        let text = format!(r#"{{ "mcpServers": {{ "a": {{ {fields} }} }} }}"#);
        self.write("project/.wharf/mcp.json", &text);
        self.options.trust_project = true;
        self
    }

    pub(super) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.env = self.env.with_variable(name, value);
        self
    }

    #[cfg(feature = "http")]
    pub(super) fn with_credential(self, resource: &str, account: Option<&str>) -> Self {
        *self.store.0.lock().unwrap() = Ok(Some(StoredCredential::new(
            "c",
            Credential::bearer(resource, Secret::new("stored-token"))
                .with_account(account.map(str::to_owned)),
        )));
        self
    }

    #[expect(clippy::disallowed_methods, reason = "the atomic writer is for people's files")]
    pub(super) fn write(&self, path: &str, text: &str) {
        fs::write(self.root.join(path), text).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap_or_default()
    }

    /// Creates an executable file.
    pub(super) fn program(&self, path: &str) {
        self.write(path, "#!/bin/sh\n");
        fs::set_permissions(self.root.join(path), PermissionsExt::from_mode(0o755)).unwrap();
    }

    pub(super) fn resolver(&self) -> Resolver {
        Resolver::new(Arc::new(self.env.clone()), Arc::clone(&self.store) as _)
    }

    pub(super) fn trusted(&self) -> Arc<TrustedServer> {
        self.trusted_named("a")
    }

    pub(super) fn trusted_named(&self, name: &str) -> Arc<TrustedServer> {
        let plan = plan(&load(&self.env, self.options).unwrap(), &self.env);
        let planned = plan.into_iter().find(|own| own.name.as_str() == name).unwrap();
        let GateDecision::Allowed(trusted) = planned.decision else {
            panic!("not ready: {planned:?}")
        };
        trusted
    }

    pub(super) async fn resolve(&self) -> Result<ResolvedServer, ResolveError> {
        timeout(TEST_TIMEOUT, self.resolver().resolve(&self.trusted())).await.unwrap()
    }

    pub(super) async fn launch(&self) -> ProcessLaunch {
        launch_of(self.resolve().await.unwrap())
    }

    /// Renders the program, the folder and the variables from `names`, then the omissions.
    pub(super) async fn show_launch(&self, names: &[&str]) -> String {
        let resolved = self.resolve().await.unwrap();
        let omissions = messages(&resolved);
        let launch = launch_of(resolved);
        let folder = launch.folder.clone().unwrap_or_default();
        let mut lines =
            vec![format!("{} in {}", self.short(Path::new(&launch.program)), self.short(&folder))];
        lines.extend(names.iter().map(|name| {
            let value = variable(&launch, name);
            format!("{name}={}", value.unwrap_or_else(|| "(not set)".to_owned()))
        }));
        lines.extend(omissions);
        self.without_root(&lines.join("\n"))
    }

    /// Renders the headers, then the omissions.
    #[cfg(feature = "http")]
    pub(super) async fn show_headers(&self) -> String {
        let resolved = self.resolve().await.unwrap();
        let omissions = messages(&resolved);
        let (_, authorizer) = http_of(resolved);
        let mut lines = show(&sent(&*authorizer).await);
        lines.extend(omissions);
        self.without_root(&lines.join("\n"))
    }

    #[cfg(feature = "http")]
    pub(super) async fn authorizer(&self) -> Arc<dyn Authorizer> {
        http_of(self.resolve().await.unwrap()).1
    }

    pub(super) fn short(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    pub(super) fn without_root(&self, text: &str) -> String {
        text.replace(&*self.root.to_string_lossy(), "[root]")
    }

    /// Creates a named pipe that tells whether a process is alive.
    pub(super) async fn lifeline(&self) -> Lifeline {
        let path = self.folder.path().join("lifeline");
        let make = Secret::new(format!("mkfifo '{}' && echo made", path.display()));
        shell::run(&make, &self.root, &self.env, &TaskTracker::new()).await.unwrap();
        Lifeline(pipe::OpenOptions::new().open_receiver(&path).unwrap())
    }
}

/// The read end of a pipe whose write end a process holds while it is alive.
pub(super) struct Lifeline(pipe::Receiver);

impl Lifeline {
    /// Waits until a process has written to the pipe.
    pub(super) async fn is_up(&mut self) {
        let up = async {
            // Until the other end is opened, the pipe reads as closed.
            while self.0.read(&mut [0; 64]).await.unwrap() == 0 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        timeout(TEST_TIMEOUT, up).await.expect("a process that starts");
    }

    /// Waits until no process holds the pipe.
    pub(super) async fn is_down(&mut self) {
        let down = async { while self.0.read(&mut [0; 64]).await.unwrap() > 0 {} };
        timeout(TEST_TIMEOUT, down).await.expect("a process that ends");
    }
}

/// A store that always returns the same result.
#[derive(Debug)]
pub(super) struct Store(pub(super) Mutex<Result<Option<StoredCredential>, CredentialStoreError>>);

impl Default for Store {
    fn default() -> Self {
        Self(Mutex::new(Ok(None)))
    }
}

impl CredentialStore for Store {
    fn find(
        &self,
        _: &CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError> {
        self.0.lock().unwrap().clone()
    }
}

pub(super) fn launch_of(resolved: ResolvedServer) -> ProcessLaunch {
    match resolved.transport {
        ResolvedTransport::Stdio(launch) => launch,
        other => panic!("not a program: {other:?}"),
    }
}

#[cfg(feature = "http")]
pub(super) fn http_of(resolved: ResolvedServer) -> (HttpTarget, Arc<dyn Authorizer>) {
    match resolved.transport {
        ResolvedTransport::Http { target, authorizer, .. } => (target, authorizer),
        other => panic!("not an address: {other:?}"),
    }
}

pub(super) fn messages(resolved: &ResolvedServer) -> Vec<String> {
    resolved.omissions.iter().map(|problem| problem.message.clone()).collect()
}

pub(super) fn variable(launch: &ProcessLaunch, name: &str) -> Option<String> {
    let found = launch.environment.iter().rev().find(|(own, _)| own == name);
    found.map(|(_, value)| value.to_string_lossy().into_owned())
}

/// Returns the headers of a request to the server.
#[cfg(feature = "http")]
pub(super) async fn sent(authorizer: &dyn Authorizer) -> HeaderMap {
    let target = "https://a.example/mcp".parse().unwrap();
    authorizer.headers(AuthorizedRequest { method: &http::Method::POST, target: &target }).await
}

#[cfg(feature = "http")]
pub(super) fn show(headers: &HeaderMap) -> Vec<String> {
    let show = |(name, value): (_, &http::HeaderValue)| {
        format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()))
    };
    headers.iter().map(show).collect()
}
