//! The log of a scripted server: one file per kind of event, one line per event.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What happened in all processes of a scripted server.
#[derive(Debug, Clone)]
pub struct ActorLog {
    folder: PathBuf,
}

impl ActorLog {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf() }
    }

    /// Returns the ids of all processes that were started.
    pub fn starts(&self) -> Vec<u32> {
        self.lines("starts").iter().filter_map(|line| line.parse().ok()).collect()
    }

    /// Returns the texts of all calls that were executed.
    pub fn effects(&self) -> Vec<String> {
        self.lines("effects")
    }

    /// Returns the `_meta` of each call.
    pub fn metas(&self) -> Vec<Value> {
        let metas = self.lines("metas");
        metas.iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Returns the capabilities of the client for each `initialize` or `server/discover`.
    pub fn client_capabilities(&self) -> Vec<Value> {
        let capabilities = self.lines("hellos");
        capabilities.iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Returns the log level of each `logging/setLevel`.
    pub fn log_levels(&self) -> Vec<String> {
        self.lines("levels")
    }

    /// Returns the methods of all requests, in order.
    pub fn request_methods(&self) -> Vec<String> {
        self.lines("asked")
    }

    /// Returns the folder of the server.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Tells whether a process that was started still runs: it holds the lock of its file.
    pub fn is_alive(&self, process: u32) -> bool {
        File::open(self.own_file(process)).is_ok_and(|file| file.try_lock().is_err())
    }

    /// Locks the file of this process.
    pub(super) fn lock_own_file(&self) -> Option<File> {
        let file = File::create(self.own_file(std::process::id())).ok()?;
        file.lock().ok().map(|()| file)
    }

    fn own_file(&self, process: u32) -> PathBuf {
        self.folder.join(format!("process-{process}"))
    }

    /// Appends a line with one write, so that lines of several processes do not mix.
    pub(super) fn append(&self, name: &str, line: &str) {
        let file = OpenOptions::new().create(true).append(true).open(self.folder.join(name));
        if let Ok(mut file) = file {
            drop(file.write_all(format!("{line}\n").as_bytes()));
        }
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}
