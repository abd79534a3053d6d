//! The system's list of processes: who runs, in which group, with which marker (Linux).
//!
//! Nothing here is trusted twice. A number may have passed to another process between reading and
//! signalling, so a signal goes through a descriptor that was opened before the process was looked
//! at again. What cannot be read is not ours.

use std::collections::{BTreeSet, HashSet};
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

/// The kernel lets arguments and environment together have 6 MiB.
const ENVIRONMENT_LIMIT: u64 = 6 * 1024 * 1024;

/// One line of numbers and a name of 16 characters.
const STAT_LIMIT: usize = 4096;

/// How many parents are looked at, in case the list changes into a circle while we look.
const ANCESTOR_LIMIT: usize = 256;

/// How often the list is read again because it has changed.
const PASS_LIMIT: usize = 100;

/// How many numbers are asked for one by one: for so few that is quicker than reading the whole list.
const FEW: usize = 64;

/// How many numbers are looked at how often where nobody should be kept waiting.
const FEW_AT_A_GLANCE: usize = 16;
const GLANCES: usize = 3;

/// How often, and after which pause, a process is looked at again that has no environment yet.
const UNBORN_LIMIT: usize = 200;
const UNBORN_PAUSE: Duration = Duration::from_micros(50);

/// A running process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: Identity,
    pub(super) group: i32,
    pub(super) marker: Option<Marker>,
}

/// A process beyond doubt: a number, and when the process that has it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    pub(super) pid: i32,
    started: u64,
}

/// Which processes somebody asks for.
pub(super) struct Wanted {
    /// Processes of these groups, whatever their marker.
    pub(super) groups: Vec<i32>,
    /// Children of ours that need not be looked at: they have exited, or nobody is after them.
    pub(super) known: BTreeSet<i32>,
    /// Marked processes that started at this time or later.
    pub(super) since: u64,
    /// Only processes with this number or one that was given later: most of a machine's need not be
    /// looked at to know that they are older than a server that was started a moment ago.
    pub(super) from: i32,
}

impl Wanted {
    /// Returns the numbers to look at, if `last` is the one that was given last. Larger ones are from
    /// before the numbers began anew.
    fn numbers(&self, last: Option<i32>) -> RangeInclusive<i32> {
        match last {
            Some(last) if self.from > 0 && last >= self.from => self.from..=last,
            _ => 0..=i32::MAX,
        }
    }

    /// Returns how many of some numbers are not known.
    fn unknown(&self, numbers: &RangeInclusive<i32>) -> usize {
        numbers.size_hint().0 - self.known.range(numbers.clone()).count()
    }
}

/// Reads the list. Returns `None` if there is none, or if it is of another process namespace.
///
/// The names come many at once, so a process could hide by starting another one after that and
/// leaving before it is looked at. Therefore the list is read again until it has no new names: who
/// is started after that is started by somebody who was found.
pub(super) fn read(wanted: &Wanted) -> Option<Vec<Entry>> {
    if !is_of_our_namespace() {
        return None;
    }
    let mut reading = Reading::new(wanted);
    let mut last_before = None;
    for _ in 0..PASS_LIMIT {
        let seen = reading.seen.len();
        let last = last_number();
        let numbers = wanted.numbers(last);
        let is_few = wanted.unknown(&numbers) <= FEW;
        if is_few {
            reading.ask_for(numbers);
        } else {
            reading.pass()?;
        }
        // Who got a number too late to be asked for has changed the last.
        if reading.seen.len() == seen && (!is_few || last == last_before) {
            break;
        }
        last_before = last;
    }
    Some(reading.entries)
}

/// Tells whether there is a list, and its numbers are those that we know processes by.
fn is_of_our_namespace() -> bool {
    let own = std::process::id().to_string();
    fs::read_link("/proc/self").is_ok_and(|path| path == Path::new(&own))
}

/// Tells whether nobody is left who could be wanted, if that can be seen at a glance: at most a few
/// times a few numbers are looked at, and nothing is read that could keep us waiting.
pub(super) fn is_nobody(wanted: &Wanted) -> bool {
    if !is_of_our_namespace() {
        return false;
    }
    let mut buffer = Vec::new();
    let mut last_before = None;
    for _ in 0..GLANCES {
        let last = last_number();
        let numbers = wanted.numbers(last);
        if wanted.unknown(&numbers) > FEW_AT_A_GLANCE {
            return false;
        }
        let mut unknown = numbers.filter(|pid| !wanted.known.contains(pid));
        if unknown.any(|pid| Stat::read(pid, &mut buffer).is_some_and(|stat| stat.is_somebody())) {
            return false;
        }
        // As in `read`.
        if last == last_before {
            return true;
        }
        last_before = last;
    }
    false
}

struct Reading<'a> {
    wanted: &'a Wanted,
    buffer: Vec<u8>,
    entries: Vec<Entry>,
    seen: HashSet<i32>,
}

impl<'a> Reading<'a> {
    fn new(wanted: &'a Wanted) -> Self {
        let seen = wanted.known.iter().copied().collect();
        Self { wanted, buffer: Vec::new(), entries: Vec::new(), seen }
    }

    /// Goes through the whole list once.
    fn pass(&mut self) -> Option<()> {
        let names = fs::read_dir("/proc").ok()?.flatten();
        let names: Vec<i32> = names.filter_map(|it| number(&it.file_name())).collect();
        // Asked after the names were read, so that nobody among them can be newer.
        let numbers = self.wanted.numbers(last_number());
        for pid in names {
            if numbers.contains(&pid) && self.seen.insert(pid) {
                let stat = Stat::read(pid, &mut self.buffer);
                let entry = stat.and_then(|stat| self.look_at(&stat));
                self.entries.extend(entry);
            }
        }
        Some(())
    }

    /// Goes through some numbers, from the first to the last: whoever has left by now can only have
    /// started one that comes later.
    fn ask_for(&mut self, numbers: RangeInclusive<i32>) {
        for pid in numbers {
            if self.seen.contains(&pid) {
                continue;
            }
            if let Some(stat) = Stat::read(pid, &mut self.buffer) {
                self.seen.insert(pid);
                let entry = self.look_at(&stat);
                self.entries.extend(entry);
            }
        }
    }

    fn look_at(&mut self, stat: &Stat) -> Option<Entry> {
        if !stat.is_somebody() {
            return None;
        }
        let is_member = self.wanted.groups.contains(&stat.group);
        if !is_member && stat.started < self.wanted.since {
            return None;
        }
        let marker = marker(stat.pid, &mut self.buffer);
        let id = Identity { pid: stat.pid, started: stat.started };
        (is_member || marker.is_some()).then_some(Entry { id, group: stat.group, marker })
    }
}

/// A child of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Child {
    pub(super) pid: i32,
    pub(super) is_dead: bool,
}

/// Returns all children of this process, dead ones included; none where there is no list.
pub(super) fn children() -> Vec<Child> {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let mut buffer = Vec::new();
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = names.filter_map(|it| Stat::read(number(&it.file_name())?, &mut buffer));
    stats
        .filter(|stat| stat.parent == own)
        .map(|stat| Child { pid: stat.pid, is_dead: stat.is_dead() })
        .collect()
}

/// Kills everything that carries a marker of this owner. Returns whether there was anything.
pub(super) fn kill_marked(owner: Owner) -> bool {
    let known = BTreeSet::new();
    let wanted = Wanted { groups: Vec::new(), known, since: owner.started, from: 0 };
    let entries = read(&wanted).unwrap_or_default().into_iter();
    let marked = entries.filter(|entry| entry.marker.is_some_and(|it| it.owner == owner));
    marked.inspect(|entry| entry.signal(Signal::KILL)).count() > 0
}

/// Returns when a process started.
pub(super) fn start_of(pid: Pid) -> Option<u64> {
    Some(Stat::read(pid.as_raw_nonzero().get(), &mut Vec::new())?.started)
}

/// Returns the number that a process was given last. Whoever has a larger one is from before the
/// numbers began anew.
pub(super) fn last_number() -> Option<i32> {
    // It is the last word of this file, of which the kernel hands out the whole at once.
    let mut text = [0; 128];
    let length = File::open("/proc/loadavg").and_then(|mut file| file.read(&mut text)).ok()?;
    str::from_utf8(&text[..length]).ok()?.split_whitespace().last()?.parse().ok()
}

/// Returns when this process started.
pub(in super::super) fn own_start() -> Option<u64> {
    let stat = Stat::read_from(Path::new("/proc/self/stat"), &mut Vec::new())?;
    (u32::try_from(stat.pid).ok() == Some(std::process::id())).then_some(stat.started)
}

/// Returns the number of our process namespace.
pub(in super::super) fn own_namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|metadata| metadata.ino())
}

impl Entry {
    /// Tells whether this process is left over from an owner that is gone, and ours to end.
    ///
    /// Neither we nor anybody above us is: if a person works in a shell that a lost server has
    /// started, ending it would end the person's work.
    pub(super) fn is_orphan(&self) -> bool {
        let Some(marker) = self.marker else { return false };
        let ours = Owner::current();
        marker.owner.namespace == ours.namespace
            && ours.namespace != 0
            && marker.owner != ours
            && !lives(marker.owner)
            && belongs_to_us(self.id.pid)
            && !is_above_us(self.id.pid)
    }

    /// Sends a signal, if it is still this process.
    pub(super) fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.id.pid) else { return };
        let descriptor = pidfd_open(pid, PidfdFlags::empty());
        let is_same = || start_of(pid) == Some(self.id.started);
        let sent = match descriptor {
            Ok(descriptor) if is_same() => pidfd_send_signal(descriptor, signal),
            // Where there are no descriptors, the second look right before has to do.
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

/// Tells whether an owner still runs. In doubt it does.
fn lives(owner: Owner) -> bool {
    let Some(pid) = i32::try_from(owner.pid).ok().and_then(Pid::from_raw) else { return true };
    // The list may hide other people's processes; a signal to one is refused, which tells as much.
    if test_kill_process(pid) == Err(Errno::SRCH) {
        return false;
    }
    let Some(stat) = Stat::read(pid.as_raw_nonzero().get(), &mut Vec::new()) else { return true };
    stat.started == owner.started && !stat.is_dead()
}

/// Tells whether a process runs for the same person as we do.
fn belongs_to_us(pid: i32) -> bool {
    fs::metadata(format!("/proc/{pid}")).is_ok_and(|folder| folder.uid() == geteuid().as_raw())
}

/// Tells whether a process is we, or has started us, or has started that, and so on.
fn is_above_us(pid: i32) -> bool {
    let mut buffer = Vec::new();
    let parent = |&pid: &i32| Stat::read(pid, &mut buffer).map(|stat| stat.parent);
    let own = i32::try_from(std::process::id()).ok();
    std::iter::successors(own, parent).take(ANCESTOR_LIMIT).any(|above| above == pid)
}

/// The numbers in `/proc/<pid>/stat` that we use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    pid: i32,
    state: u8,
    parent: i32,
    group: i32,
    flags: u64,
    threads: u64,
    started: u64,
    exit_signal: i32,
    environment_end: u64,
}

impl Stat {
    fn read(pid: i32, buffer: &mut Vec<u8>) -> Option<Self> {
        Self::read_from(Path::new(&format!("/proc/{pid}/stat")), buffer)
    }

    fn read_from(path: &Path, buffer: &mut Vec<u8>) -> Option<Self> {
        // The kernel hands out the whole line at once.
        buffer.resize(STAT_LIMIT, 0);
        let length = File::open(path).and_then(|mut file| file.read(buffer)).ok()?;
        Self::parse(&buffer[..length])
    }

    fn parse(line: &[u8]) -> Option<Self> {
        // The name in parentheses may hold anything, also parentheses.
        let name_end = line.iter().rposition(|&byte| byte == b')')?;
        let pid = str::from_utf8(line.split(|&byte| byte == b' ').next()?).ok()?.parse().ok()?;
        let rest = str::from_utf8(line.get(name_end + 1..)?).ok()?;
        // The first of these fields is the third of the line.
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Self {
            pid,
            state: *fields.first()?.as_bytes().first()?,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            flags: fields.get(6)?.parse().ok()?,
            threads: fields.get(17)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
            exit_signal: fields.get(35)?.parse().ok()?,
            // Old kernels do not tell.
            environment_end: fields.get(48).map_or(Some(1), |field| field.parse().ok())?,
        })
    }

    /// Tells whether only the name is left: a zombie that nobody has collected. A process whose
    /// first thread has ended looks the same, but has others.
    fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X') && self.threads <= 1
    }

    /// Tells whether it is a process that may still do something.
    fn is_somebody(&self) -> bool {
        !self.is_dead() && !self.is_thread()
    }

    /// Tells whether it is one thread of a process. They are not in the list, but whoever asks for
    /// their number gets an answer. Only the first thread of a process tells somebody when it ends.
    fn is_thread(&self) -> bool {
        self.exit_signal < 0
    }

    /// Tells whether the process is between two programs. The kernel's own threads never have one.
    fn is_unborn(&self) -> bool {
        const KERNEL_THREAD: u64 = 0x0020_0000;
        self.environment_end == 0 && self.flags & KERNEL_THREAD == 0 && !self.is_dead()
    }
}

/// Reads the marker from the environment that a process was started with.
fn marker(pid: i32, buffer: &mut Vec<u8>) -> Option<Marker> {
    let path = format!("/proc/{pid}/environ");
    for _ in 0..UNBORN_LIMIT {
        if read_up_to(ENVIRONMENT_LIMIT, Path::new(&path), buffer).ok()? > 0 {
            return find_marker(buffer);
        }
        // A process that is just becoming another program has no environment for a moment.
        if !Stat::read(pid, buffer)?.is_unborn() {
            return None;
        }
        std::thread::sleep(UNBORN_PAUSE);
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
    /// What almost every environment fits into; no more is kept between two files.
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

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "the list itself is tested, not a server")]
    fn shell(script: &str) -> Child {
        Command::new("/bin/sh").args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn a_name_with_parentheses_does_not_confuse() {
        let end = "0 ".repeat(15) + "17 " + &"0 ".repeat(12) + "77 0";
        let line = format!("42 (a) R 1) S 7 9 9 0 -1 64 1 0 0 0 0 0 0 0 20 0 3 0 5500 {end}");
        let expected = Stat {
            pid: 42,
            state: b'S',
            parent: 7,
            group: 9,
            flags: 64,
            threads: 3,
            started: 5500,
            exit_signal: 17,
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
    fn an_owner_lives_only_as_the_same_process() {
        let ours = Owner::current();
        assert!(ours.started > 0 && ours.namespace > 0);
        assert!(lives(ours));
        assert!(!lives(Owner { started: ours.started + 1, ..ours }));
        assert!(!lives(Owner { pid: 0x3fff_ffff, ..ours }));
        assert!(lives(Owner { pid: 0, ..ours }), "in doubt it lives");
    }

    #[test]
    fn neither_we_nor_our_parents_are_orphans() {
        let gone = Owner { pid: 0x3fff_ffff, ..Owner::current() };
        let mut marker = Marker::next();
        marker.owner = gone;
        let own = i32::try_from(std::process::id()).unwrap();
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get();
        for pid in [own, parent] {
            let id = Identity { pid, started: 0 };
            assert!(is_above_us(pid));
            assert!(!Entry { id, group: pid, marker: Some(marker) }.is_orphan());
        }
    }

    #[test]
    fn only_numbers_since_the_first_server_are_looked_at() {
        let numbers = |from, last| {
            let known = BTreeSet::new();
            let wanted = Wanted { groups: Vec::new(), known, since: 0, from };
            wanted.numbers(last)
        };
        assert_eq!(numbers(500, Some(700)), 500..=700);
        assert_eq!(numbers(500, Some(500)), 500..=500);
        assert_eq!(numbers(500, Some(20)), 0..=i32::MAX, "they began anew");
        assert_eq!(numbers(500, None), 0..=i32::MAX);
        assert_eq!(numbers(0, Some(700)), 0..=i32::MAX);
    }

    #[test]
    fn a_child_is_found_by_its_number_alone_and_a_thread_is_nobody() {
        let last = last_number().unwrap();
        let mut child = shell("read x");
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let path = fs::read_link("/proc/thread-self").unwrap();
            tell.send(number(path.file_name().unwrap()).unwrap()).unwrap();
            assert!(ended.recv().is_err());
        });
        let thread_number = told.recv().unwrap();
        let group = rustix::process::getpgrp().as_raw_nonzero().get();
        let known = BTreeSet::new();
        let wanted = Wanted { groups: vec![group], known, since: u64::MAX, from: last };
        let all = || {
            let mut reading = Reading::new(&wanted);
            reading.ask_for(last..=last_number().unwrap());
            reading.entries.into_iter().map(|entry| entry.id.pid).collect::<Vec<_>>()
        };
        let number = i32::try_from(child.id()).unwrap();
        assert!(Stat::read(thread_number, &mut Vec::new()).unwrap().is_thread());
        assert!(all().contains(&number) && !all().contains(&thread_number), "{:?}", all());
        assert!(!is_nobody(&wanted), "there is a child");
        drop((end, child.stdin.take()));
        child.wait().unwrap();
        thread.join().unwrap();
        assert!(!all().contains(&number));
    }

    #[test]
    fn who_is_known_is_nobody() {
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        // Other tests start processes, too; it takes a moment in which none does.
        loop {
            let mut child = shell("read x");
            let number = i32::try_from(child.id()).unwrap();
            let wanted = |known: &[i32]| {
                let known = known.iter().copied().collect();
                Wanted { groups: vec![number], known, since: 0, from: number }
            };
            assert!(!is_nobody(&wanted(&[])), "it lives, and its number is looked at");
            let is_nobody = is_nobody(&wanted(&[number]));
            drop(child.stdin.take());
            child.wait().unwrap();
            if is_nobody {
                break;
            }
            assert!(std::time::Instant::now() < deadline, "somebody else is always found");
        }
    }

    #[test]
    fn a_group_is_found_without_a_marker() {
        let group = rustix::process::getpgrp().as_raw_nonzero().get();
        let known = BTreeSet::new();
        let wanted = Wanted { groups: vec![group], known, since: u64::MAX, from: 0 };
        let entries = read(&wanted).unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(entries.iter().any(|entry| entry.id.pid == own && entry.group == group));
        assert!(entries.iter().all(|entry| entry.group == group));
    }
}
