//! Runs a driver or the workload server as a process, pinned to one core if the case says so.
//!
//! Every wait has a time limit, and every process is killed when it is dropped.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::cases::{Cores, Transport};

const ECHO: &str = env!("CARGO_BIN_EXE_wharf-echo");
const BARE: &str = env!("CARGO_BIN_EXE_wharf-bare");
/// The time limit of one run.
const LIMIT: Duration = Duration::from_secs(60);

/// The two programs that are compared.
pub(crate) struct Drivers {
    pub(crate) bare: String,
    pub(crate) ours: String,
    can_pin: bool,
}

/// The server that a driver connects to.
pub(crate) struct PreparedServer {
    pub(crate) cores: Cores,
    pub(crate) tools: usize,
    target: Vec<String>,
    /// Runs until this is dropped.
    _server: Option<Process>,
}

impl Drivers {
    pub(crate) fn new(ours: &str) -> Self {
        let taskset = start(&["taskset".into(), "-c".into(), "0".into(), "true".into()], 1);
        let can_pin = taskset.is_ok_and(|mut process| process.wait_for_end().is_ok());
        Self { bare: BARE.to_owned(), ours: ours.to_owned(), can_pin }
    }

    /// Describes which core the programs run on.
    pub(crate) fn pinning(&self) -> &'static str {
        if self.can_pin {
            "Client and server share core 0, except where many servers are started."
        } else {
            "`taskset` is missing, so nothing is pinned: the ratios are not those of one core."
        }
    }

    /// Prepares the server of a case; an HTTP server is started.
    pub(crate) fn prepare(
        &self,
        transport: Transport,
        cores: Cores,
        tools: usize,
    ) -> Result<PreparedServer, String> {
        let command = vec![ECHO.to_owned()];
        if transport == Transport::Stdio {
            return Ok(PreparedServer { cores, tools, target: command, _server: None });
        }
        let words = [command, vec!["--http".into(), "127.0.0.1:0".into()]].concat();
        let mut process = start(&self.pinned(words, cores), tools)?;
        let url = process.line()?;
        Ok(PreparedServer { cores, tools, target: vec![url], _server: Some(process) })
    }

    /// Starts a driver with a verb and its arguments.
    pub(crate) fn start(
        &self,
        driver: &str,
        verb: &[&str],
        prepared: &PreparedServer,
    ) -> Result<Process, String> {
        let mut words = vec![driver.to_owned()];
        words.extend(verb.iter().map(|&word| word.to_owned()));
        words.extend_from_slice(&prepared.target);
        start(&self.pinned(words, prepared.cores), prepared.tools)
    }

    fn pinned(&self, words: Vec<String>, cores: Cores) -> Vec<String> {
        if self.can_pin && cores == Cores::One {
            return [vec!["taskset".into(), "-c".into(), "0".into()], words].concat();
        }
        words
    }
}

/// A running program; it is killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    /// Closing it tells the program to end.
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
}

#[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures")]
fn start(words: &[String], tools: usize) -> Result<Process, String> {
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .env("ECHO_TOOLS", tools.to_string())
        .env_remove("ECHO_PAGE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{}` does not start: {error}", words[0]))?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    Ok(Process { child, input, output })
}

impl Process {
    /// Waits for the first line.
    pub(crate) fn line(&mut self) -> Result<String, String> {
        let output = self.output.take().ok_or("the output was read before")?;
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            let read = output.read_line(&mut line);
            // The receiver is gone after a timeout.
            sender.send(read.map(|_| line)).ok();
            // The pipe is read to its end, so that the program never fails to write.
            output.read_to_end(&mut Vec::new()).ok();
        });
        match receiver.recv_timeout(LIMIT) {
            Ok(Ok(line)) if !line.trim().is_empty() => Ok(line.trim().to_owned()),
            Ok(_) => Err("the program ended without output".to_owned()),
            Err(_) => Err(format!("no output within {} s", LIMIT.as_secs())),
        }
    }

    /// Waits for the output and returns one number of it.
    pub(crate) fn number(&mut self, field: &str) -> Result<f64, String> {
        let line = self.line()?;
        let answer: serde_json::Value =
            serde_json::from_str(&line).map_err(|_| format!("the output is not JSON: {line}"))?;
        answer[field].as_f64().ok_or_else(|| format!("there is no `{field}` in {line}"))
    }

    /// Returns the resident memory of the process.
    pub(crate) fn resident_kib(&self) -> Result<f64, String> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .map_err(|error| format!("the memory cannot be read: {error}"))?;
        status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
            .ok_or_else(|| "the system does not report the memory".to_owned())
    }

    /// Closes the input and waits until the program ends.
    pub(crate) fn wait_for_end(&mut self) -> Result<(), String> {
        self.input = None;
        let until = Instant::now() + LIMIT;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(format!("the program ended with {status}")),
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(1)),
                Ok(None) => return Err("the program does not end".to_owned()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both have no effect on a program that has ended.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
