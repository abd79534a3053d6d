//! Starts programs other than cargo, each with a time limit.
//!
//! The end of a program's output is kept, and the caller decides whether to show it. A program
//! stays in the process group of xtask, so that Ctrl-C reaches it.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How much of the end of each stream is kept.
const MAX_KEPT_BYTES: usize = 256 * 1024;

/// The poll interval for a running program.
const POLL: Duration = Duration::from_millis(10);

/// How long output is read after the program ended: a grandchild may keep the pipe open.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// A program that is about to be started.
pub(crate) struct Program {
    command: Command,
    name: String,
    limit: Duration,
}

/// How a program ended, and the end of its output.
#[derive(Debug)]
pub(crate) struct FinishedProgram {
    pub(crate) success: bool,
    /// The exit status in words.
    pub(crate) status: String,
    /// Whether it was killed after the time limit.
    pub(crate) timed_out: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Program {
    #[expect(clippy::disallowed_methods, reason = "a developer's tool: Ctrl-C reaches the child")]
    pub(crate) fn new(program: impl AsRef<OsStr>, limit: Duration) -> Self {
        let name = Path::new(program.as_ref()).file_name().unwrap_or(program.as_ref());
        let name = name.to_string_lossy().into_owned();
        Self { command: Command::new(program), name, limit }
    }

    pub(crate) fn args(mut self, arguments: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub(crate) fn folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Runs it and captures its output; an error says why it could not be started or awaited.
    pub(crate) fn capture(mut self) -> Result<FinishedProgram, String> {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.start()?;
        let stdout = child.stdout.take().map(Tail::of);
        let stderr = child.stderr.take().map(Tail::of);
        let status = wait(&mut child, self.limit);
        let finish = |tail: Option<Tail>| tail.map(Tail::finish).unwrap_or_default();
        let (stdout, stderr) = (finish(stdout), finish(stderr));
        match status {
            Ok(Some(status)) => Ok(FinishedProgram {
                success: status.success(),
                status: status.to_string(),
                timed_out: false,
                stdout,
                stderr,
            }),
            Ok(None) => {
                let status = format!("timed out after {} s", self.limit.as_secs());
                Ok(FinishedProgram { success: false, status, timed_out: true, stdout, stderr })
            }
            Err(why) => Err(format!("lost `{}`: {why}", self.name)),
        }
    }

    /// Runs it and requires success; the error includes its output.
    pub(crate) fn succeed(self) -> Result<FinishedProgram, String> {
        let name = self.name.clone();
        let finished = self.capture()?;
        if finished.success {
            return Ok(finished);
        }
        let FinishedProgram { status, stdout, stderr, .. } = finished;
        Err(format!("`{name}` failed ({status})\n{}", indent(&format!("{stdout}{stderr}"))))
    }

    /// Runs it; its output goes directly to the terminal.
    pub(crate) fn show(mut self) -> Result<(), String> {
        let mut child = self.start()?;
        self.succeeded(wait(&mut child, self.limit))
    }

    /// Runs it and returns all of its stdout; its stderr goes directly to the terminal.
    pub(crate) fn output(mut self) -> Result<String, String> {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = self.start()?;
        let stdout = child.stdout.take();
        let reader = thread::spawn(move || {
            let mut text = Vec::new();
            stdout.map(|mut stdout| stdout.read_to_end(&mut text));
            String::from_utf8_lossy(&text).into_owned()
        });
        self.succeeded(wait(&mut child, self.limit))?;
        reader.join().map_err(|_| format!("lost the output of `{}`", self.name))
    }

    fn succeeded(&self, status: std::io::Result<Option<ExitStatus>>) -> Result<(), String> {
        match status.map_err(|error| error.to_string())? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(format!("`{}`: {status}", self.name)),
            None => Err(format!("`{}` did not end within {} s", self.name, self.limit.as_secs())),
        }
    }

    fn start(&mut self) -> Result<Child, String> {
        self.command.spawn().map_err(|error| format!("could not start `{}`: {error}", self.name))
    }
}

/// Indents the output of a program.
pub(crate) fn indent(text: &str) -> String {
    let mut indented = String::with_capacity(text.len());
    for line in text.lines() {
        indented.extend(["    ", line, "\n"]);
    }
    indented
}

/// Waits for the end; `None` means that the program was killed after the time limit.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

/// Reads a stream to its end in a separate thread and keeps the last part.
struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: thread::JoinHandle<()>,
}

impl Tail {
    fn of(mut stream: impl Read + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&kept);
        let reader = thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&buffer[..read]);
                // Cut in large steps, so that long output is not moved at each read.
                if kept.len() > 2 * MAX_KEPT_BYTES {
                    let surplus = kept.len() - MAX_KEPT_BYTES;
                    kept.drain(..surplus);
                }
            }
        });
        Self { kept, reader }
    }

    fn finish(self) -> String {
        let started = Instant::now();
        while !self.reader.is_finished() && started.elapsed() < DRAIN_TIMEOUT {
            thread::sleep(POLL);
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Program {
        Program::new("sh", limit).args(["-c", script])
    }

    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn both_streams_and_the_status_are_kept() {
        let finished = shell("echo out; echo err >&2; exit 3", LONG).capture().unwrap();
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!((finished.success, finished.status.as_str()), (false, "exit status: 3"));
    }

    #[test]
    fn a_failure_includes_the_output() {
        let why = shell("echo no room; exit 1", LONG).succeed().unwrap_err();
        assert_eq!(why, "`sh` failed (exit status: 1)\n    no room\n");
    }

    #[test]
    fn a_program_that_never_ends_is_killed() {
        let finished = shell("echo begun; exec sleep 60", Duration::from_millis(300)).capture();
        let finished = finished.unwrap();
        assert_eq!((finished.success, finished.stdout.as_str()), (false, "begun\n"));
        assert_eq!(finished.status, "timed out after 0 s");
    }

    #[test]
    fn only_the_end_of_long_output_is_kept() {
        let script = "i=0; while [ $i -lt 12000 ]; do echo 'a line of one hundred bytes, more or less, \
                      repeated until nobody wants to read it any more, $i'; i=$((i+1)); done; echo end";
        let finished = shell(script, LONG).capture().unwrap();
        assert!(finished.stdout.len() <= 2 * MAX_KEPT_BYTES && finished.stdout.ends_with("end\n"));
    }

    #[test]
    fn a_missing_program_is_named() {
        let why = Program::new("wharf-no-such-program", LONG).capture().unwrap_err();
        assert!(why.starts_with("could not start `wharf-no-such-program`: "), "{why}");
    }
}
