//! Tests on every system that no process of a tree is left, by files that each process locks.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use wharf_protocol::transport::process::{
    GracePeriod, Process, ProcessLaunch, StopMethod, TaskTracker,
};

/// The timeout for everything that must happen.
const DEADLINE: Duration = Duration::from_secs(60);

const NO_GRACE: GracePeriod = GracePeriod { after_eof: Duration::ZERO, after_term: Duration::ZERO };

const LONG_GRACE: GracePeriod = GracePeriod { after_eof: DEADLINE, after_term: DEADLINE };

/// The files that the processes of one tree lock.
struct HeldFiles {
    folder: tempfile::TempDir,
    tracker: TaskTracker,
}

impl HeldFiles {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), tracker: TaskTracker::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts a tree; `@` in a word stands for the folder.
    async fn start(&self, words: &str) -> Process {
        let place = format!("{}{}", self.folder.path().display(), std::path::MAIN_SEPARATOR);
        let launch = ProcessLaunch {
            arguments: words.split(' ').map(|word| word.replace('@', &place).into()).collect(),
            environment: system_variables(),
            ..ProcessLaunch::new(env!("CARGO_BIN_EXE_wharf-file-holder"))
        };
        Process::start(launch, &self.tracker, None).await.unwrap()
    }

    async fn until_held(&self, names: &[&str], wanted: bool) {
        let deadline = Instant::now() + DEADLINE;
        for name in names {
            while is_held(&self.path(name)) != wanted {
                assert!(Instant::now() < deadline, "{name} is held: {}", !wanted);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    }
}

/// Returns what a program needs to start on Windows.
#[expect(clippy::disallowed_methods, reason = "the tree needs the variables of the system")]
fn system_variables() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    let root = std::env::var_os("SystemRoot");
    root.map(|root| ("SystemRoot".into(), root)).into_iter().collect()
}

/// Tells whether a process has locked a file.
fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_err())
}

#[tokio::test]
async fn the_descendants_of_a_server_that_is_killed_are_ended() {
    let files = HeldFiles::new();
    let process = files.start("child=@a child=@b hold=@c sleep").await;
    files.until_held(&["a", "b", "c"], true).await;
    let ended = tokio::time::timeout(DEADLINE, process.end(NO_GRACE)).await.unwrap();
    assert!(ended.by > StopMethod::EndOfInput);
    files.until_held(&["a", "b", "c"], false).await;
}

#[tokio::test]
async fn the_descendants_of_a_server_that_exits_by_itself_are_ended() {
    let files = HeldFiles::new();
    let process = files.start("child=@a hold=@b read").await;
    files.until_held(&["a", "b"], true).await;
    let grace = GracePeriod { after_term: Duration::ZERO, ..LONG_GRACE };
    let ended = tokio::time::timeout(DEADLINE, process.end(grace)).await.unwrap();
    assert_eq!(ended.by, StopMethod::EndOfInput);
    assert!(ended.status.unwrap().success(), "{:?}", ended.status);
    files.until_held(&["a", "b"], false).await;
}

#[tokio::test]
async fn dropping_a_process_ends_its_tree() {
    let files = HeldFiles::new();
    let process = files.start("child=@a hold=@b sleep").await;
    files.until_held(&["a", "b"], true).await;
    drop(process);
    files.until_held(&["a", "b"], false).await;
}

#[tokio::test]
async fn the_tree_of_an_owner_ends_with_it() {
    let files = HeldFiles::new();
    let owner = files.start("hold=@owner own hold=@a sleep").await;
    files.until_held(&["owner", "a"], true).await;
    owner.end(NO_GRACE).await;
    files.until_held(&["owner", "a"], false).await;
}
