//! Children that nobody has started: descendants of servers whose own parent is gone (Linux).
//!
//! A process that forks twice, leaves its session and forgets its environment has neither the group
//! nor the marker of its server. The kernel gives it to the nearest ancestor that asks for such
//! orphans. That is a setting of the whole process, so only a program that owns its process may
//! ask, and it has to say so: see [`adopt_orphans`].

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, set_child_subreaper, waitid, waitpid,
};

use super::process_group::leaders;
use super::process_table::{self, ChildProcess};

/// How long orphans may take to terminate before they are killed: a run that is over ends quickly.
const GRACE: Duration = Duration::from_millis(100);

/// How long killed orphans may take to vanish, with all that they have started.
const KILL_LIMIT: Duration = Duration::from_secs(2);

/// How long to wait between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// Whether the kernel gives us orphans.
static ADOPTS: AtomicBool = AtomicBool::new(false);

/// Asks the system to make this process the parent of every descendant that loses its own, so that
/// [`end_orphans`] can end them. Returns whether it does.
///
/// Only for a program that owns its process and starts nothing but servers: from then on, every
/// child that this library has not started counts as an orphan. A process that has children
/// already, for example because a script became this program, is left as it is. Other systems than
/// Linux have no such facility.
pub fn adopt_orphans() -> bool {
    if ADOPTS.load(Ordering::SeqCst) {
        return true;
    }
    let adopts = !has_children() && set_child_subreaper(Some(getpid())).is_ok();
    ADOPTS.store(adopts, Ordering::SeqCst);
    adopts
}

/// Ends all orphans that this process was given, and waits for it. Returns how many there were.
///
/// To be called when all servers have ended; see [`adopt_orphans`]. If the future is dropped, some
/// may be left.
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

/// Kills all orphans, and those who become orphans by that, and waits until they are gone.
pub(super) fn kill_orphans(until: Instant) {
    let mut seen = BTreeSet::new();
    while has_orphans() && signal_all(&mut seen, false) && Instant::now() < until {
        std::thread::sleep(PAUSE);
    }
}

fn has_orphans() -> bool {
    ADOPTS.load(Ordering::SeqCst) && has_children()
}

/// Tells whether there is any child, dead or alive.
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
}

/// Signals all children that nobody has started, and collects those that are dead. Returns whether
/// there were any.
fn signal_all(seen: &mut BTreeSet<i32>, gentle: bool) -> bool {
    // Taken first: whoever starts later than this is not in the list of children yet.
    let own = leaders().clone();
    let orphans = process_table::children().into_iter().filter(|child| !own.contains(&child.pid));
    let mut any = false;
    for ChildProcess { pid, is_dead } in orphans {
        let Some(number) = Pid::from_raw(pid) else { continue };
        // A server that was started since is not an orphan.
        if leaders().contains(&pid) {
            continue;
        }
        any = true;
        let is_new = seen.insert(pid);
        if is_dead {
            // Nobody else collects it, so the number is still this child's.
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
