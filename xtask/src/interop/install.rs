//! Installs the servers and creates the files that they work on.
//!
//! Packages are installed once. Files that a server can change are created again for each run, so
//! that a run does not depend on the previous one.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::catalog::{InstalledPaths, ServerGroup};
use super::write;
use crate::program::Program;
use crate::tools::{self, PackageSet, Tools};

const NPM_SERVERS: PackageSet = PackageSet {
    folder: "npm-servers",
    packages: &[
        "@modelcontextprotocol/server-everything@2026.8.31",
        "@modelcontextprotocol/server-filesystem@2026.8.31",
        "@modelcontextprotocol/server-memory@2026.8.31",
        "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
        "@playwright/mcp@0.0.83",
        "@upstash/context7-mcp@4.1.1",
    ],
};

const PYTHON_SERVERS: PackageSet = PackageSet {
    folder: "python-servers",
    packages: &[
        "fastmcp==4.1.2",
        "mcp==2.3.0",
        "mcp-server-fetch==2026.10.24",
        "mcp-server-git==2026.10.19",
        "mcp-server-time==2026.10.19",
    ],
};

/// Servers that need an older version of the library than `PYTHON_SERVERS`.
const LEGACY_PYTHON_SERVERS: PackageSet = PackageSet {
    folder: "python-servers-legacy",
    packages: &["mcp==1.30.0", "mcp-server-sqlite==2025.4.25"],
};

const GIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Returns why a repository cannot be created on this machine, if it cannot.
pub(super) fn missing_git() -> Option<String> {
    match Program::new("git", GIT_TIMEOUT).args(["--version"]).capture() {
        Ok(finished) if finished.success => None,
        _ => Some("git is not installed".to_owned()),
    }
}

/// Installs in parallel what the groups need, and returns the paths.
pub(super) fn servers(tools: &Tools, groups: &[ServerGroup]) -> Result<InstalledPaths, String> {
    type Install = fn(&Tools) -> Result<PathBuf, String>;
    let installs: [(&'static str, Install); 5] = [
        ("node", tools::node),
        ("npm", |tools| tools::install_npm(tools, &NPM_SERVERS)),
        ("python", |tools| tools::install_python(tools, &PYTHON_SERVERS)),
        ("python-legacy", |tools| tools::install_python(tools, &LEGACY_PYTHON_SERVERS)),
        ("scratch", create_scratch_files),
    ];
    thread::scope(|scope| {
        let running: Vec<_> = installs
            .into_iter()
            .filter(|(placeholder, _)| groups.iter().any(|group| group.needs(placeholder)))
            .map(|(placeholder, install)| (placeholder, scope.spawn(move || install(tools))))
            .collect();
        let finished = running.into_iter().map(|(placeholder, thread)| {
            let path = thread.join().unwrap_or_else(|_| Err(format!("{placeholder}: a panic")))?;
            Ok((placeholder, path))
        });
        finished.collect()
    })
}

/// Creates the files that the servers read and write.
fn create_scratch_files(tools: &Tools) -> Result<PathBuf, String> {
    let folder = tools.empty_folder("scratch")?;
    for name in ["files", "repository"] {
        let folder = folder.join(name);
        fs::create_dir(&folder)
            .map_err(|error| format!("could not create {}: {error}", folder.display()))?;
    }
    write(&folder.join("files").join("hello.txt"), "ahoy from a file\n")?;
    write(&folder.join("fastmcp_server.py"), include_str!("fastmcp_server.py"))?;
    if missing_git().is_none() {
        make_repository(&folder.join("repository"))?;
    }
    Ok(folder)
}

fn make_repository(folder: &Path) -> Result<(), String> {
    let identity = ["-c", "user.name=Ana", "-c", "user.email=ana@example.com"];
    let commit =
        ["-c", "commit.gpgsign=false", "commit", "--allow-empty", "--message", "the first commit"];
    let git = || {
        // The git settings, hooks and templates of the user must not have an effect.
        let nowhere = folder.join("no-such-file");
        Program::new("git", GIT_TIMEOUT)
            .folder(folder)
            .env("GIT_CONFIG_GLOBAL", nowhere)
            .env("GIT_CONFIG_NOSYSTEM", "1")
    };
    git().args(["init", "--quiet"]).succeed()?;
    git().args(identity).args(commit).succeed()?;
    Ok(())
}
