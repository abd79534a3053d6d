//! A child that leads its own group, and the guard that ends it.
//!
//! As long as the child is not collected, its number belongs to it, so signals to the group are
//! safe. Only `reaper` collects.

use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::super::launch::Launch;
use super::super::marker::{Marker, VARIABLE};
use super::{pipes, reaper};

/// A child, the group that it leads, and the marker that the rest of its tree carries.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) child: Child,
    pub(super) pid: Pid,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nobody can look for it"))]
    pub(super) marker: Marker,
}

/// Kills the group when it is dropped, and leaves the rest to the reaper.
#[derive(Debug)]
pub(super) struct Guard {
    family: Option<Family>,
    pid: Pid,
}

/// A child that was just started, with our ends of its pipes.
pub(super) struct Born {
    pub(super) guard: Guard,
    pub(super) stdin: PipeWriter,
    pub(super) stdout: PipeReader,
    pub(super) stderr: PipeReader,
}

/// Starts a program. Must run on a thread that never ends.
pub(super) fn spawn(launch: &Launch, marker: Marker) -> io::Result<Born> {
    let (input, stdin) = io::pipe()?;
    let (stdout, output) = io::pipe()?;
    let (stderr, complaints) = io::pipe()?;
    pipes::enlarge(&stdout);

    // The standard library gives the child back the default reaction to a broken pipe.
    #[expect(clippy::disallowed_methods, reason = "this is the process tree guard")]
    let mut command = Command::new(&launch.program);
    command.args(&launch.arguments).env_clear();
    command.envs(launch.environment.iter().map(|(name, value)| (name, value)));
    command.env(VARIABLE, marker.to_string());
    command.stdin(input).stdout(output).stderr(complaints).process_group(0);
    if let Some(folder) = &launch.folder {
        command.current_dir(folder);
    }
    #[cfg(target_os = "linux")]
    super::parent_death::die_with_us(&mut command);

    let child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let guard = Guard { family: Some(Family { child, pid, marker }), pid };
    Ok(Born { guard, stdin, stdout, stderr })
}

impl Family {
    /// Sends a signal to the group. The child must not be collected yet.
    pub(super) fn signal(&self, signal: Signal) {
        // The leader may have moved to another group. An error means that it has exited.
        if kill_process_group(self.pid, signal).is_err() || signal == Signal::KILL {
            let _ = kill_process(self.pid, signal);
        }
    }
}

impl Guard {
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Sends a signal to the group.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(family) = &self.family {
            family.signal(signal);
        }
    }

    /// Returns the family to somebody who ends it.
    pub(super) fn release(mut self) -> Option<Family> {
        self.family.take()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(family) = self.family.take() {
            family.signal(Signal::KILL);
            reaper::bury(family);
        }
    }
}
