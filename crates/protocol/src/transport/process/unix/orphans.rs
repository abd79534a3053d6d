//! Ends orphans: descendants of servers whose own parent has exited (Linux child subreaper).
//!
//! A process that forks twice, calls `setsid` and clears its environment has neither the group nor
//! the marker of its server. The kernel makes it a child of the nearest ancestor that is a child
//! subreaper. That is a setting of the whole process, so only the program itself may switch it on:
//! see [`adopt_orphans`].

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, set_child_subreaper, waitid, waitpid,
};

use super::process_group::leaders;
use super::process_table::{self, ChildProcess};

/// How long orphans may take to terminate before they are killed; short, so that the program exits
/// quickly.
const GRACE: Duration = Duration::from_millis(100);

/// How long to wait for killed orphans and their descendants.
const KILL_LIMIT: Duration = Duration::from_secs(2);

/// How long to wait between two checks.
const PAUSE: Duration = Duration::from_millis(2);

/// Whether this process is a child subreaper.
static ADOPTS: AtomicBool = AtomicBool::new(false);

/// Makes this process a child subreaper: it becomes the parent of every orphaned descendant, so
/// that [`end_orphans`] can end them. Returns whether it is one now.
///
/// Only for a program that starts no processes but servers: from now on, every child that this
/// library has not started counts as an orphan. Does nothing if the process already has children,
/// for example because a shell script has replaced itself by this program, and on systems other
/// than Linux.
pub fn adopt_orphans() -> bool {
    if ADOPTS.load(Ordering::SeqCst) {
        return true;
    }
    let adopts = !has_children() && set_child_subreaper(Some(getpid())).is_ok();
    ADOPTS.store(adopts, Ordering::SeqCst);
    adopts
}

/// Ends all orphans that this process has adopted, and waits for them. Returns how many there were.
///
/// Call it when all servers have ended; see [`adopt_orphans`]. If the future is dropped, some
/// orphans may keep running.
pub async fn end_orphans() -> usize {
    if !has_orphans() {
        return 0;
    }
    let mut seen = BTreeSet::new();
    let (kill_at, until) = (Instant::now() + GRACE, Instant::now() + GRACE + KILL_LIMIT);
    while Instant::now() < until {
        let gentle = Instant::now() < kill_at;
        if !signal_all(&mut seen, gentle) {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    seen.len()
}

/// Kills all orphans, and those that are orphaned by that, and waits until they are gone.
pub(super) fn kill_orphans(until: Instant) {
    let mut seen = BTreeSet::new();
    while has_orphans() && signal_all(&mut seen, false) && Instant::now() < until {
        std::thread::sleep(PAUSE);
    }
}

fn has_orphans() -> bool {
    ADOPTS.load(Ordering::SeqCst) && has_children()
}

/// Tells whether this process has any child, including zombies.
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
}

/// Signals all children that this library has not started, and reaps the dead ones. Returns whether
/// there were any.
fn signal_all(seen: &mut BTreeSet<i32>, gentle: bool) -> bool {
    // Read before the list of children, so that no server in that list is missing here.
    let own = leaders().clone();
    let orphans = process_table::children().into_iter().filter(|child| !own.contains(&child.pid));
    let mut any = false;
    for ChildProcess { pid, is_dead } in orphans {
        let Some(number) = Pid::from_raw(pid) else { continue };
        // A server may have been started in the meantime.
        if leaders().contains(&pid) {
            continue;
        }
        any = true;
        let is_new = seen.insert(pid);
        if is_dead {
            // Nothing else reaps it, so the pid still belongs to this child.
            let _gone = waitpid(Some(number), WaitOptions::NOHANG);
        } else if !gentle {
            let _gone = rustix::process::kill_process(number, Signal::KILL);
        } else if is_new {
            let _gone = rustix::process::kill_process(number, Signal::TERM);
            let _gone = rustix::process::kill_process(number, Signal::CONT);
        }
    }
    any
}
