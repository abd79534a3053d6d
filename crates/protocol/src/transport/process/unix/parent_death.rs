//! Starts a child that dies with us, even if we are killed.
//!
//! This is the one file with unsafe code. Only the child itself can ask for its death, before it
//! becomes the program, and the standard library has a safe way only to fork for that: it copies
//! the tables of all our memory, for every server. The child here borrows our memory instead while
//! we wait (`vfork`), and so it keeps three rules until it is the program: it only makes system
//! calls, on what was prepared before; it neither allocates nor locks nor panics; no signal handler
//! of ours runs in it.
//!
//! The death comes when the *thread* that started the child ends, so `spawner` owns threads that
//! never end.

#![expect(unsafe_code, reason = "only the child itself can ask for the signal, before it runs")]

use std::ffi::{CString, c_char, c_int, c_ulong, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Pid, WaitOptions, waitpid};

use super::exec_spec::ExecSpec;
use super::pipes::ChildEnds;

/// How much stack the child gets. It needs a few hundred bytes.
const STACK: usize = 64 * 1024;

/// The highest number of a signal.
const MAX_SIGNAL: c_int = 64;

/// What every system asks of a stack's alignment, and more.
#[repr(align(64))]
struct StackBlock {
    _bytes: [u8; 64],
}

/// What the child works on. It lives in the parent's frame, which stands still meanwhile.
struct ChildSetup {
    parent: libc::pid_t,
    /// What become descriptors 0, 1 and 2. None of them is one of these already.
    ends: [RawFd; 3],
    /// The folder to enter, or null.
    folder: *const c_char,
    /// These three lists end with null.
    candidates: Vec<*const c_char>,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    /// How a signal is handled by default, and the set of no signals.
    default: libc::sigaction,
    nothing: libc::sigset_t,
    /// Why the child failed; zero as long as it has not.
    errno: AtomicI32,
    /// Which candidate was tried last.
    tried: AtomicUsize,
}

/// Starts a program that leads its own group and is killed when this thread ends. Somebody else has
/// to collect it.
pub(super) fn start(spec: ExecSpec, ends: ChildEnds) -> io::Result<Pid> {
    let ends = [above_stdio(ends.stdin)?, above_stdio(ends.stdout)?, above_stdio(ends.stderr)?];
    let (error, candidate) = match start_once(&spec, &ends) {
        Ok(pid) => return Ok(pid),
        Err(failure) => failure,
    };
    // A script without a first line that names an interpreter is the shell's, as for `execvp`.
    let script = error.raw_os_error() == Some(libc::ENOEXEC);
    match script.then(|| spec.with_shell(candidate)).flatten() {
        Some(spec) => start_once(&spec, &ends).map_err(|(error, _)| error),
        None => Err(error),
    }
}

/// Moves a descriptor out of the way of the three that the child sets, should ours be closed.
fn above_stdio(end: OwnedFd) -> io::Result<OwnedFd> {
    if end.as_raw_fd() > 2 { Ok(end) } else { Ok(fcntl_dupfd_cloexec(end, 3)?) }
}

/// Starts a child once. A failure comes with the candidate that was tried last.
fn start_once(spec: &ExecSpec, ends: &[OwnedFd; 3]) -> Result<Pid, (io::Error, usize)> {
    let setup = ChildSetup::new(spec, ends);
    let pid = with_signals_blocked(|| spawn_in_our_memory(&setup)).map_err(|error| (error, 0))?;
    match setup.errno.load(Ordering::Acquire) {
        0 => Ok(pid),
        errno => {
            // It has exited or is about to. An error would mean that it is collected already.
            let _ = rustix::io::retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty()));
            Err((io::Error::from_raw_os_error(errno), setup.tried.load(Ordering::Acquire)))
        }
    }
}

/// Makes a child in our own memory, and returns once it has left: as the program, or dead.
fn spawn_in_our_memory(setup: &ChildSetup) -> io::Result<Pid> {
    let mut stack = Box::<[StackBlock]>::new_uninit_slice(STACK / size_of::<StackBlock>());
    let top: *mut MaybeUninit<StackBlock> = stack.as_mut_ptr_range().end;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let setup = ptr::from_ref(setup).cast_mut().cast::<c_void>();
    // SAFETY: `top` is the end of a stack that nobody else uses, aligned and large enough; stacks
    // grow down on all our systems. With `CLONE_VFORK` this thread does not run before the child
    // has left our memory, so that the stack and the task, which is only read, outlive its use of
    // them, and so that the two do not both use what belongs to this thread, such as `errno`.
    // `child` takes exactly this pointer to a `ChildSetup`, and never returns or unwinds.
    let pid = unsafe { libc::clone(child, top.cast(), flags, setup) };
    Pid::from_raw(pid.max(0)).ok_or_else(io::Error::last_os_error)
}

/// Runs something on this thread while no signal can interrupt it. The child inherits that, so that
/// none of our handlers runs in it, where it would change our memory.
fn with_signals_blocked<T>(work: impl FnOnce() -> T) -> T {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both pointers are to sets that may be written to; the first is filled in before it is
    // read. Blocking signals changes nothing else.
    let blocked = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) == 0
    };
    let result = work();
    if blocked {
        // SAFETY: the call above has succeeded and written the set.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    }
    result
}

impl ChildSetup {
    fn new(spec: &ExecSpec, ends: &[OwnedFd; 3]) -> Self {
        let mut default = MaybeUninit::<libc::sigaction>::zeroed();
        let mut nothing = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: zeros are valid for both, which hold numbers and optional pointers only: no
        // flags, no mask, and `SIG_DFL`, which is zero. The set is emptied by the function made for
        // it.
        let (default, nothing) = unsafe {
            (*default.as_mut_ptr()).sa_sigaction = libc::SIG_DFL;
            libc::sigemptyset(nothing.as_mut_ptr());
            (default.assume_init(), nothing.assume_init())
        };
        Self {
            parent: rustix::process::getpid().as_raw_nonzero().get(),
            ends: ends.each_ref().map(AsRawFd::as_raw_fd),
            folder: spec.folder.as_ref().map_or(ptr::null(), |folder| folder.as_ptr()),
            candidates: pointers(&spec.candidates),
            arguments: pointers(&spec.arguments),
            environment: pointers(&spec.environment),
            default,
            nothing,
            errno: AtomicI32::new(0),
            tried: AtomicUsize::new(0),
        }
    }
}

/// Lists where texts are, in the form of an argument list. They must outlive the list.
fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}

/// The whole life of the child in our memory.
extern "C" fn child(setup: *mut c_void) -> c_int {
    // SAFETY: `spawn_in_our_memory` passes a pointer to a task that outlives our use of it, and
    // that nobody changes but by its atomic fields.
    let setup = unsafe { &*setup.cast::<ChildSetup>() };
    // SAFETY: this is the child, with all signals blocked, and the task was made from an order that
    // is alive as long as the task.
    let Err(errno) = unsafe { prepare(setup).and_then(|()| exec_first_candidate(setup)) };
    setup.errno.store(errno, Ordering::Release);
    // SAFETY: ends the child at once, without running anything of ours that waits for an exit.
    unsafe { libc::_exit(127) }
}

/// Gives the child its death, its group, its pipes, its folder and its signals.
///
/// # Safety
///
/// Only for the child, while all signals are blocked: it changes the process that calls it.
unsafe fn prepare(setup: &ChildSetup) -> Result<(), c_int> {
    const KILL: c_ulong = libc::SIGKILL.unsigned_abs() as c_ulong;
    // SAFETY: these are plain system calls on numbers, and on a folder that is null or a text that
    // ends with a zero byte. The descriptors are the child's own copies.
    unsafe {
        check_syscall(libc::prctl(libc::PR_SET_PDEATHSIG, KILL))?;
        // If the parent died before the signal was set, it would never come.
        if libc::getppid() != setup.parent {
            return Err(libc::ESRCH);
        }
        check_syscall(libc::setpgid(0, 0))?;
        // The copies stay open in the program, unlike the originals, which are none of 0, 1 and 2.
        check_syscall(libc::dup2(setup.ends[0], 0))?;
        check_syscall(libc::dup2(setup.ends[1], 1))?;
        check_syscall(libc::dup2(setup.ends[2], 2))?;
        if !setup.folder.is_null() {
            check_syscall(libc::chdir(setup.folder))?;
        }
        reset_signal_handlers(setup);
        check_syscall(libc::sigprocmask(
            libc::SIG_SETMASK,
            &raw const setup.nothing,
            ptr::null_mut(),
        ))
    }
}

/// Takes all signal handlers away, so that signals may come, and the reaction to a broken pipe that
/// Rust programs choose. What else is ignored stays so, as for every program that is started.
///
/// # Safety
///
/// Only for the child: without `CLONE_SIGHAND` the handlers are its own.
unsafe fn reset_signal_handlers(setup: &ChildSetup) {
    let mut current = MaybeUninit::<libc::sigaction>::uninit();
    for signal in 1..=MAX_SIGNAL {
        // SAFETY: the calls read one action and write another, both valid for that. What they wrote
        // is read only if they succeeded; they refuse the numbers that are none of ours.
        unsafe {
            if libc::sigaction(signal, ptr::null(), current.as_mut_ptr()) != 0 {
                continue;
            }
            let reaction = (*current.as_ptr()).sa_sigaction;
            let handled = reaction != libc::SIG_DFL && reaction != libc::SIG_IGN;
            if handled || signal == libc::SIGPIPE {
                libc::sigaction(signal, &raw const setup.default, ptr::null_mut());
            }
        }
    }
}

/// Becomes the first candidate that is a program. Returns only if there is none.
///
/// # Safety
///
/// Only for the child; the order that the task was made from must be alive.
unsafe fn exec_first_candidate(setup: &ChildSetup) -> Result<std::convert::Infallible, c_int> {
    let mut failure = libc::ENOENT;
    for (index, &path) in setup.candidates.iter().enumerate() {
        if path.is_null() {
            break;
        }
        setup.tried.store(index, Ordering::Relaxed);
        // SAFETY: the path and everything in the two lists are texts that end with a zero byte, and
        // the lists end with null.
        unsafe { libc::execve(path, setup.arguments.as_ptr(), setup.environment.as_ptr()) };
        match last_errno() {
            libc::EACCES => failure = libc::EACCES,
            libc::ENOENT | libc::ENOTDIR | libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT => {}
            other => return Err(other),
        }
    }
    Err(failure)
}

fn check_syscall(result: c_int) -> Result<(), c_int> {
    if result == -1 { Err(last_errno()) } else { Ok(()) }
}

/// Returns why the last system call failed. Such an error is a number and does not allocate.
fn last_errno() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, Permissions};
    use std::io::{self, Read as _};
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use rustix::process::{WaitOptions, waitpid};

    use super::super::super::launch::ProcessLaunch;
    use super::super::super::marker::Marker;
    use super::super::exec_spec::ExecSpec;
    use super::super::pipes::ChildEnds;
    use super::{start, with_signals_blocked};

    /// Runs a program to its end, and returns what it wrote.
    fn output(launch: &ProcessLaunch) -> io::Result<String> {
        let (mut reader, writer) = io::pipe()?;
        let empty = || File::open("/dev/null").map(Into::into);
        let ends = ChildEnds { stdin: empty()?, stdout: writer.into(), stderr: empty()? };
        let pid = start(ExecSpec::new(launch, Marker::next())?, ends)?;
        let mut text = String::new();
        reader.read_to_string(&mut text)?;
        waitpid(Some(pid), WaitOptions::empty())?;
        Ok(text)
    }

    fn shell(script: &str) -> ProcessLaunch {
        ProcessLaunch {
            arguments: vec!["-c".into(), script.into()],
            ..ProcessLaunch::new("/bin/sh")
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    fn write(path: &Path, text: &str, mode: u32) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_child_inherits_no_blocked_signals() {
        let script = "while read name value; do case $name in SigBlk:) echo $value;; esac; done \
                      < /proc/$$/status";
        let text = with_signals_blocked(|| output(&shell(script))).unwrap();
        assert_eq!(text, "0000000000000000\n");
    }

    #[test]
    fn a_child_leads_its_group_and_runs_in_its_folder() {
        let mut launch =
            shell("read pid x y ppid group rest < /proc/$$/stat; echo $((group-$$)); pwd");
        launch.folder = Some("/".into());
        assert_eq!(output(&launch).unwrap(), "0\n/\n");
    }

    #[test]
    fn a_script_that_names_no_interpreter_is_read_by_the_shell() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("script"), "echo \"$1 from ${0##*/}\"\n", 0o755);
        let mut launch = ProcessLaunch::new("script");
        launch.arguments = vec!["hello".into()];
        let path = format!("/nowhere:{}", folder.path().display());
        launch.environment = vec![("PATH".into(), path.into())];
        assert_eq!(output(&launch).unwrap(), "hello from script\n");
    }

    #[test]
    fn a_program_without_permission_is_distinguished_from_a_missing_one() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("locked"), "", 0o644);
        let path = format!("{}:/nowhere", folder.path().display());
        let check = |program: &str, expected: io::ErrorKind| {
            let mut launch = ProcessLaunch::new(program);
            launch.environment = vec![("PATH".into(), path.clone().into())];
            assert_eq!(output(&launch).unwrap_err().kind(), expected);
        };
        check("locked", io::ErrorKind::PermissionDenied);
        check("missing", io::ErrorKind::NotFound);
        check("/dev/null/x", io::ErrorKind::NotFound);
    }
}
