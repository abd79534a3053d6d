//! Starts a program with the standard library, on systems without a parent-death signal (not
//! Linux).

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::Pid;

use super::super::launch::ProcessLaunch;
use super::super::marker::{Marker, VARIABLE};
use super::pipes::ChildEnds;

/// Starts a program that leads a new process group. The caller has to reap it.
pub(super) fn start(launch: &ProcessLaunch, marker: Marker, ends: ChildEnds) -> io::Result<Pid> {
    // The standard library resets SIGPIPE to its default in the child.
    #[expect(clippy::disallowed_methods, reason = "this is the process tree guard")]
    let mut command = Command::new(&launch.program);
    command.args(&launch.arguments).env_clear();
    command.envs(launch.environment.iter().map(|(name, value)| (name, value)));
    command.env(VARIABLE, marker.to_string());
    command.stdin(ends.stdin).stdout(ends.stdout).stderr(ends.stderr).process_group(0);
    if let Some(folder) = &launch.folder {
        command.current_dir(folder);
    }
    Ok(Pid::from_child(&command.spawn()?))
}
