//! The process table from `/proc`: running processes, their groups and markers (Linux).
//!
//! A pid may be reused between reading and signalling, so a signal goes through a pidfd, and the
//! process is checked again after the pidfd was opened. A process that cannot be read is not ours.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, geteuid, kill_process, pidfd_open, pidfd_send_signal,
    test_kill_process,
};

use super::super::marker::{Marker, Owner, VARIABLE};

/// The kernel limits arguments and environment together to 6 MiB.
const ENVIRONMENT_LIMIT: u64 = 6 * 1024 * 1024;

/// The size of `/proc/<pid>/stat`: numbers and a name of 16 characters.
const STAT_LIMIT: usize = 4096;

/// How many ancestors are checked, in case the pids form a loop because the table changes.
const ANCESTOR_LIMIT: usize = 256;

/// How often the table is read again because it has changed.
const PASS_LIMIT: usize = 100;

/// How often, and after which pause, a process without an environment is read again.
const EXEC_LIMIT: usize = 200;
const EXEC_PAUSE: Duration = Duration::from_micros(50);

/// A running process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessEntry {
    pub(super) id: ProcessIdentity,
    pub(super) group: i32,
    pub(super) marker: Option<Marker>,
}

/// Identifies one process although pids are reused: the pid and the start time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProcessIdentity {
    pub(super) pid: i32,
    started: u64,
}

/// Which processes to read.
pub(super) struct ProcessFilter {
    /// Processes of these groups, whatever their marker.
    pub(super) groups: Vec<i32>,
    /// Marked processes that started at this time or later.
    pub(super) since: u64,
    /// The kernel gives out pids in ascending order: no process that is wanted has a smaller one,
    /// unless the pids have started again at the lowest.
    pub(super) first_pid: i32,
    /// Leaders of groups that have exited: zombies, which start no process.
    pub(super) exited: Vec<i32>,
}

/// Reads the table. Returns `None` if there is no `/proc`, or if it is of another pid namespace.
///
/// A process could escape by starting another one and exiting between the listing of the folder and
/// the reading of its entry. Therefore the table is read again until it has no new pids: a process
/// that is started after that has a parent that was found.
pub(super) fn read(filter: &ProcessFilter) -> Option<Vec<ProcessEntry>> {
    if !is_of_our_namespace() {
        return None;
    }
    let mut entries = Vec::new();
    let mut seen: HashSet<i32> = filter.exited.iter().copied().collect();
    let mut buffer = Vec::new();
    for _ in 0..PASS_LIMIT {
        let known = seen.len();
        let pids: Vec<i32> = all_numbers().ok()?.collect();
        // Asked after the pids were listed, so that none of them was given out later.
        let wanted = filter.pids_now(last_pid());
        for pid in pids.into_iter().filter(|pid| wanted.contains(pid)) {
            if seen.insert(pid) {
                let stat = Stat::read(pid, &mut buffer);
                entries.extend(stat.and_then(|stat| filter.entry(&stat, &mut buffer)));
            }
        }
        if seen.len() == known {
            break;
        }
    }
    Some(entries)
}

/// Returns the pids of all processes, without threads.
fn all_numbers() -> io::Result<impl Iterator<Item = i32>> {
    Ok(fs::read_dir("/proc")?.flatten().filter_map(|it| number(&it.file_name())))
}

/// Returns the pid that was given out last.
fn last_pid() -> Option<i32> {
    // It is the last word of this file, which the kernel returns in one read.
    let mut text = [0; 128];
    let length = File::open("/proc/loadavg").and_then(|mut file| file.read(&mut text)).ok()?;
    str::from_utf8(&text[..length]).ok()?.split_whitespace().last()?.parse().ok()
}

impl ProcessFilter {
    /// Returns the pids that wanted processes can have, given the last pid: those since the first
    /// one, or all if the pids have started again since then.
    fn pids_now(&self, last: Option<i32>) -> RangeInclusive<i32> {
        let first = self.first_pid;
        let is_ascending =
            |last: &i32| first > 0 && self.groups.iter().chain([&first]).all(|pid| pid <= last);
        match last.filter(is_ascending) {
            Some(last) => first..=last,
            None => 0..=i32::MAX,
        }
    }

    /// Returns the process if it matches and is not a zombie.
    fn entry(&self, stat: &Stat, buffer: &mut Vec<u8>) -> Option<ProcessEntry> {
        if stat.is_dead() {
            return None;
        }
        let is_member = self.groups.contains(&stat.group);
        if !is_member && stat.started < self.since {
            return None;
        }
        let marker = marker(stat.pid, buffer);
        let id = ProcessIdentity { pid: stat.pid, started: stat.started };
        (is_member || marker.is_some()).then_some(ProcessEntry { id, group: stat.group, marker })
    }
}

/// Tells whether `/proc` exists and belongs to our pid namespace.
fn is_of_our_namespace() -> bool {
    let own = std::process::id().to_string();
    fs::read_link("/proc/self").is_ok_and(|path| path == Path::new(&own))
}

/// A child of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChildProcess {
    pub(super) pid: i32,
    pub(super) is_dead: bool,
}

/// Returns all children of this process, including zombies; none without `/proc`.
pub(super) fn children() -> Vec<ChildProcess> {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let mut buffer = Vec::new();
    all_numbers()
        .into_iter()
        .flatten()
        .filter_map(|pid| Stat::read(pid, &mut buffer))
        .filter(|stat| stat.parent == own)
        .map(|stat| ChildProcess { pid: stat.pid, is_dead: stat.is_dead() })
        .collect()
}

/// Kills all processes with a marker of this owner. Returns whether there were any.
pub(super) fn kill_marked(owner: Owner) -> bool {
    let (groups, exited) = (Vec::new(), Vec::new());
    let filter = ProcessFilter { groups, since: owner.started, first_pid: 0, exited };
    let entries = read(&filter).unwrap_or_default().into_iter();
    let marked = entries.filter(|entry| entry.marker.is_some_and(|it| it.owner == owner));
    marked.inspect(|entry| entry.signal(Signal::KILL)).count() > 0
}

/// Returns when a process started.
pub(super) fn start_time(pid: Pid) -> Option<u64> {
    Some(Stat::read(pid.as_raw_nonzero().get(), &mut Vec::new())?.started)
}

/// Returns when this process started.
pub(in super::super) fn own_start_time() -> Option<u64> {
    let stat = Stat::read_from(Path::new("/proc/self/stat"), &mut Vec::new())?;
    (u32::try_from(stat.pid).ok() == Some(std::process::id())).then_some(stat.started)
}

/// Returns the id of our pid namespace.
pub(in super::super) fn own_namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|metadata| metadata.ino())
}

impl ProcessEntry {
    /// Tells whether this process is left over from an owner that does not run any more, and may be
    /// ended.
    ///
    /// This process and its ancestors never are: a person may work in a shell that a leftover
    /// server has started.
    pub(super) fn is_leftover(&self) -> bool {
        let Some(marker) = self.marker else { return false };
        let ours = Owner::current();
        marker.owner.namespace == ours.namespace
            && ours.namespace != 0
            && marker.owner != ours
            && !is_running(marker.owner)
            && is_same_user(self.id.pid)
            && !is_ancestor_or_self(self.id.pid)
    }

    /// Sends a signal, if the pid still belongs to this process.
    pub(super) fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.id.pid) else { return };
        let descriptor = pidfd_open(pid, PidfdFlags::empty());
        let is_same = || start_time(pid) == Some(self.id.started);
        let sent = match descriptor {
            Ok(descriptor) if is_same() => pidfd_send_signal(descriptor, signal),
            // Without a pidfd, the check right before the signal has to be enough.
            Err(Errno::NOSYS | Errno::PERM) if is_same() => kill_process(pid, signal),
            Ok(_) | Err(_) => return,
        };
        if let Err(error) =
            sent.or_else(|error| if error == Errno::SRCH { Ok(()) } else { Err(error) })
        {
            tracing::debug!(process = self.id.pid, %error, "a signal was refused");
        }
    }
}

/// Tells whether an owner is still running; `true` if it is unknown.
fn is_running(owner: Owner) -> bool {
    let Some(pid) = i32::try_from(owner.pid).ok().and_then(Pid::from_raw) else { return true };
    // `/proc` may hide processes of other users; a refused signal shows that one exists.
    if test_kill_process(pid) == Err(Errno::SRCH) {
        return false;
    }
    let Some(stat) = Stat::read(pid.as_raw_nonzero().get(), &mut Vec::new()) else { return true };
    stat.started == owner.started && !stat.is_dead()
}

/// Tells whether a process belongs to our user.
fn is_same_user(pid: i32) -> bool {
    fs::metadata(format!("/proc/{pid}")).is_ok_and(|folder| folder.uid() == geteuid().as_raw())
}

/// Tells whether a process is this process or one of its ancestors.
fn is_ancestor_or_self(pid: i32) -> bool {
    let mut buffer = Vec::new();
    let parent = |&pid: &i32| Stat::read(pid, &mut buffer).map(|stat| stat.parent);
    let own = i32::try_from(std::process::id()).ok();
    std::iter::successors(own, parent).take(ANCESTOR_LIMIT).any(|above| above == pid)
}

/// The fields of `/proc/<pid>/stat` that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    pid: i32,
    state: u8,
    parent: i32,
    group: i32,
    flags: u64,
    threads: u64,
    started: u64,
    environment_end: u64,
}

impl Stat {
    fn read(pid: i32, buffer: &mut Vec<u8>) -> Option<Self> {
        Self::read_from(Path::new(&format!("/proc/{pid}/stat")), buffer)
    }

    fn read_from(path: &Path, buffer: &mut Vec<u8>) -> Option<Self> {
        // The kernel returns the whole line in one read.
        buffer.resize(STAT_LIMIT, 0);
        let length = File::open(path).and_then(|mut file| file.read(buffer)).ok()?;
        Self::parse(&buffer[..length])
    }

    fn parse(line: &[u8]) -> Option<Self> {
        // The name in parentheses may contain any character, also parentheses.
        let name_end = line.iter().rposition(|&byte| byte == b')')?;
        let pid = str::from_utf8(line.split(|&byte| byte == b' ').next()?).ok()?.parse().ok()?;
        let rest = str::from_utf8(line.get(name_end + 1..)?).ok()?;
        // The first of these fields is the third of the line; `nth` skips those between.
        let mut fields = rest.split_ascii_whitespace();
        Some(Self {
            pid,
            state: *fields.next()?.as_bytes().first()?,
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
            flags: fields.nth(3)?.parse().ok()?,
            threads: fields.nth(10)?.parse().ok()?,
            started: fields.nth(1)?.parse().ok()?,
            // Old kernels have no such field.
            environment_end: fields.nth(28).map_or(Some(1), |field| field.parse().ok())?,
        })
    }

    /// Tells whether it is a zombie that is not reaped. A process whose first thread has ended
    /// looks the same, but has other threads.
    fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X') && self.threads <= 1
    }

    /// Tells whether the process is in the middle of `execve`, without an environment. Kernel
    /// threads never have one.
    fn is_in_exec(&self) -> bool {
        const KERNEL_THREAD: u64 = 0x0020_0000;
        self.environment_end == 0 && self.flags & KERNEL_THREAD == 0 && !self.is_dead()
    }
}

/// Reads the marker from the environment of a process.
fn marker(pid: i32, buffer: &mut Vec<u8>) -> Option<Marker> {
    let path = format!("/proc/{pid}/environ");
    for _ in 0..EXEC_LIMIT {
        if read_up_to(ENVIRONMENT_LIMIT, Path::new(&path), buffer).ok()? > 0 {
            return find_marker(buffer);
        }
        // During `execve`, a process has no environment for a moment.
        if !Stat::read(pid, buffer)?.is_in_exec() {
            return None;
        }
        std::thread::sleep(EXEC_PAUSE);
    }
    None
}

fn find_marker(environment: &[u8]) -> Option<Marker> {
    let name = VARIABLE.as_bytes();
    let value = |entry: &[u8]| Some(Marker::parse(entry.strip_prefix(name)?.strip_prefix(b"=")?));
    memchr::memmem::find(environment, name)?;
    environment.split(|&byte| byte == 0).find_map(value).flatten()
}

fn read_up_to(limit: u64, path: &Path, buffer: &mut Vec<u8>) -> io::Result<usize> {
    /// Almost every environment is smaller; the buffer keeps no more between two files.
    const USUAL: usize = 16 * 1024;
    buffer.clear();
    buffer.shrink_to(USUAL);
    buffer.reserve(USUAL);
    File::open(path)?.take(limit).read_to_end(buffer)
}

fn number(name: &OsStr) -> Option<i32> {
    name.to_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use rustix::process::{WaitId, WaitIdOptions, waitid};

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "the table itself is tested, not a server")]
    fn shell(script: &str) -> Child {
        Command::new("/bin/sh").args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn a_name_with_parentheses_is_parsed() {
        let end = "0 ".repeat(28) + "77 0";
        let line = format!("42 (a) R 1) S 7 9 9 0 -1 64 1 0 0 0 0 0 0 0 20 0 3 0 5500 {end}");
        let expected = Stat {
            pid: 42,
            state: b'S',
            parent: 7,
            group: 9,
            flags: 64,
            threads: 3,
            started: 5500,
            environment_end: 77,
        };
        assert_eq!(Stat::parse(line.as_bytes()), Some(expected));
        assert_eq!(Stat::parse(b"42 (a) S 7"), None);
        assert_eq!(Stat::parse(b""), None);
    }

    #[test]
    fn a_marker_is_found_only_as_a_whole_variable() {
        let marker = Marker::next();
        let found = |text: String| find_marker(text.as_bytes());
        assert_eq!(found(format!("A=1\0WHARF_SESSION={marker}\0B=2\0")), Some(marker));
        assert_eq!(found(format!("WHARF_SESSION={marker}")), Some(marker));
        assert_eq!(found(format!("X=WHARF_SESSION={marker}\0")), None);
        assert_eq!(found(format!("WHARF_SESSION_X={marker}\0")), None);
        assert_eq!(found("WHARF_SESSION=\0".into()), None);
        assert_eq!(found(String::new()), None);
    }

    #[test]
    fn an_owner_is_running_only_as_the_same_process() {
        let ours = Owner::current();
        assert!(ours.started > 0 && ours.namespace > 0);
        assert!(is_running(ours));
        assert!(!is_running(Owner { started: ours.started + 1, ..ours }));
        assert!(!is_running(Owner { pid: 0x3fff_ffff, ..ours }));
        assert!(is_running(Owner { pid: 0, ..ours }), "an unknown owner counts as running");
    }

    #[test]
    fn this_process_and_its_ancestors_are_not_leftovers() {
        let gone = Owner { pid: 0x3fff_ffff, ..Owner::current() };
        let mut marker = Marker::next();
        marker.owner = gone;
        let own = i32::try_from(std::process::id()).unwrap();
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get();
        for pid in [own, parent] {
            let id = ProcessIdentity { pid, started: 0 };
            assert!(is_ancestor_or_self(pid));
            assert!(!ProcessEntry { id, group: pid, marker: Some(marker) }.is_leftover());
        }
    }

    #[test]
    fn only_pids_since_the_first_server_are_read() {
        let pids = |groups: &[i32], first_pid, last| {
            let (groups, exited) = (groups.to_vec(), Vec::new());
            ProcessFilter { groups, since: 0, first_pid, exited }.pids_now(last)
        };
        let all = 0..=i32::MAX;
        assert_eq!(pids(&[500], 500, Some(700)), 500..=700);
        assert_eq!(pids(&[600, 500], 500, Some(600)), 500..=600);
        assert_eq!(pids(&[500], 500, Some(20)), all, "the pids have started again");
        assert_eq!(pids(&[9000, 20], 20, Some(30)), all, "they have started again in between");
        assert_eq!(pids(&[500], 500, None), all);
        assert_eq!(pids(&[500], 0, Some(700)), all, "one server is too old");
    }

    #[test]
    fn a_process_that_was_started_by_another_one_is_found_beside_an_exited_leader() {
        let (mut leader, mut other) = (shell("exit"), shell("read x"));
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&leader)), options).unwrap();
        let numbers = [&leader, &other].map(|child| i32::try_from(child.id()).unwrap());
        let group = rustix::process::getpgrp().as_raw_nonzero().get();
        let (groups, exited) = (vec![group], vec![numbers[0]]);
        let filter = ProcessFilter { groups, since: u64::MAX, first_pid: numbers[0], exited };
        let found: Vec<i32> = read(&filter).unwrap().iter().map(|entry| entry.id.pid).collect();
        assert!(found.contains(&numbers[1]) && !found.contains(&numbers[0]), "{found:?}");
        drop(other.stdin.take());
        leader.wait().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn a_child_is_found_until_it_has_exited() {
        let mut child = shell("read x");
        let number = i32::try_from(child.id()).unwrap();
        let group = rustix::process::getpgrp().as_raw_nonzero().get();
        let is_found = || {
            let (groups, exited) = (vec![group], Vec::new());
            let filter = ProcessFilter { groups, since: u64::MAX, first_pid: number, exited };
            let entries = read(&filter).unwrap();
            entries.iter().any(|entry| entry.id.pid == number)
        };
        assert!(is_found());
        drop(child.stdin.take());
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&child)), options).unwrap();
        assert!(!is_found(), "it has exited, although it is not reaped");
        child.wait().unwrap();
    }

    #[test]
    fn a_group_is_found_without_a_marker() {
        let group = rustix::process::getpgrp().as_raw_nonzero().get();
        let (groups, exited) = (vec![group], Vec::new());
        let filter = ProcessFilter { groups, since: u64::MAX, first_pid: 0, exited };
        let entries = read(&filter).unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(entries.iter().any(|entry| entry.id.pid == own && entry.group == group));
        assert!(entries.iter().all(|entry| entry.group == group));
    }
}
