//! Makes a child die with us, even if we are killed.
//!
//! This is the one file with unsafe code: the child has to ask for its own death, between fork and
//! exec. The signal comes when the *thread* that started the child ends, so `spawner` owns threads
//! that never end.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// Has the child killed when the thread that starts it ends.
#[expect(unsafe_code, reason = "only the child itself can ask for the signal, before it runs")]
pub(super) fn die_with_us(command: &mut Command) {
    let parent = getpid();
    let ask = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // If the parent died before the signal was set, it would never come.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    };
    // SAFETY: between fork and exec only async-signal-safe functions may run. The closure makes two
    // system calls and builds errors without allocating; it owns a number and touches no lock.
    unsafe {
        command.pre_exec(ask);
    }
}
