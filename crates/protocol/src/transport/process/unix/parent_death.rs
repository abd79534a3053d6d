//! Starts a child with a parent-death signal: the kernel kills it when we end, even if we are
//! killed.
//!
//! This is the only file with unsafe code. Only the child itself can set the signal, between its
//! start and `execve`. With the standard library that means `fork`, which copies the page tables of
//! our whole memory for every server. Here the child shares our memory while we wait (`vfork`).
//! Until `execve` it follows three rules: it only makes system calls, on data that was prepared
//! before; it does not allocate, lock or panic; no signal handler of ours runs in it.
//!
//! The signal is sent when the *thread* that started the child ends, so `spawner` owns threads that
//! never end.

#![expect(unsafe_code, reason = "only the child itself can set the signal, before `execve`")]

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

/// The stack size of the child. It needs a few hundred bytes.
const STACK: usize = 64 * 1024;

/// The highest signal number.
const MAX_SIGNAL: c_int = 64;

/// A block of the stack; its alignment is enough for every architecture.
#[repr(align(64))]
struct StackBlock {
    _bytes: [u8; 64],
}

/// The data that the child uses. It is in the stack frame of the parent, which waits meanwhile.
struct ChildSetup {
    parent: libc::pid_t,
    /// The descriptors that become 0, 1 and 2. None of them is 0, 1 or 2 already.
    ends: [RawFd; 3],
    /// The working directory, or null.
    folder: *const c_char,
    /// These three lists end with null.
    candidates: Vec<*const c_char>,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    /// The default action of a signal, and the empty signal set.
    default: libc::sigaction,
    nothing: libc::sigset_t,
    /// Why the child failed; zero if it has not.
    errno: AtomicI32,
    /// The index of the candidate that was tried last.
    tried: AtomicUsize,
}

/// Starts a program that leads a new process group and is killed when this thread ends. The caller
/// has to reap it.
pub(super) fn start(spec: ExecSpec, ends: ChildEnds) -> io::Result<Pid> {
    let ends = [above_stdio(ends.stdin)?, above_stdio(ends.stdout)?, above_stdio(ends.stderr)?];
    let (error, candidate) = match start_once(&spec, &ends) {
        Ok(pid) => return Ok(pid),
        Err(failure) => failure,
    };
    // As with `execvp`, the shell runs a script without `#!`.
    let script = error.raw_os_error() == Some(libc::ENOEXEC);
    match script.then(|| spec.with_shell(candidate)).flatten() {
        Some(spec) => start_once(&spec, &ends).map_err(|(error, _)| error),
        None => Err(error),
    }
}

/// Duplicates a descriptor to a number above 2. It can be 0, 1 or 2 if ours were closed.
fn above_stdio(end: OwnedFd) -> io::Result<OwnedFd> {
    if end.as_raw_fd() > 2 { Ok(end) } else { Ok(fcntl_dupfd_cloexec(end, 3)?) }
}

/// Starts a child once. An error comes with the index of the candidate that was tried last.
fn start_once(spec: &ExecSpec, ends: &[OwnedFd; 3]) -> Result<Pid, (io::Error, usize)> {
    let setup = ChildSetup::new(spec, ends);
    let pid = with_signals_blocked(|| spawn_in_our_memory(&setup)).map_err(|error| (error, 0))?;
    match setup.errno.load(Ordering::Acquire) {
        0 => Ok(pid),
        errno => {
            // It has exited or is about to. An error would mean that it is already reaped.
            let _ = rustix::io::retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty()));
            Err((io::Error::from_raw_os_error(errno), setup.tried.load(Ordering::Acquire)))
        }
    }
}

/// Starts a child in our own memory, and returns after its `execve` or its exit.
fn spawn_in_our_memory(setup: &ChildSetup) -> io::Result<Pid> {
    let mut stack = Box::<[StackBlock]>::new_uninit_slice(STACK / size_of::<StackBlock>());
    let top: *mut MaybeUninit<StackBlock> = stack.as_mut_ptr_range().end;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let setup = ptr::from_ref(setup).cast_mut().cast::<c_void>();
    // SAFETY: `top` is the end of a stack that nothing else uses, aligned and large enough;
    // stacks grow down on all supported systems. With `CLONE_VFORK` this thread does not
    // run before the child has left our memory, so the stack and the `ChildSetup`, which is only
    // read, outlive their use by the child, and the two do not use thread-local data, such
    // as `errno`, at the same time. `child` takes exactly this pointer to a `ChildSetup`, and
    // never returns or unwinds.
    let pid = unsafe { libc::clone(child, top.cast(), flags, setup) };
    Pid::from_raw(pid.max(0)).ok_or_else(io::Error::last_os_error)
}

/// Runs a closure while all signals are blocked on this thread. The child inherits the blocked
/// signals, so that no handler runs in it, where it would change our memory.
fn with_signals_blocked<T>(work: impl FnOnce() -> T) -> T {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both pointers are to sets that may be written to; the first is initialized before it
    // is read. Blocking signals has no other effect.
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
        // SAFETY: zeros are valid for both, which contain only numbers and optional pointers: no
        // flags, no mask, and `SIG_DFL`, which is zero. `sigemptyset` initializes the set.
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

/// Returns a null-terminated list of pointers to strings, which must outlive the list.
fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}

/// The function that the child runs in our memory.
extern "C" fn child(setup: *mut c_void) -> c_int {
    // SAFETY: `spawn_in_our_memory` passes a pointer to a `ChildSetup` that outlives our use of
    // it, and of which only the atomic fields change.
    let setup = unsafe { &*setup.cast::<ChildSetup>() };
    // SAFETY: this is the child, with all signals blocked, and the `ChildSetup` was made
    // from an `ExecSpec` that lives as long as the `ChildSetup`.
    let Err(errno) = unsafe { prepare(setup).and_then(|()| exec_first_candidate(setup)) };
    setup.errno.store(errno, Ordering::Release);
    // SAFETY: ends the child at once, without running any exit handlers of ours.
    unsafe { libc::_exit(127) }
}

/// Sets the parent-death signal, the process group, the pipes, the folder and the signals of the
/// child.
///
/// # Safety
///
/// Only for the child, while all signals are blocked: it changes the calling process.
unsafe fn prepare(setup: &ChildSetup) -> Result<(), c_int> {
    const KILL: c_ulong = libc::SIGKILL.unsigned_abs() as c_ulong;
    // SAFETY: these are plain system calls on numbers, and on a folder that is null or a string
    // that ends with a NUL byte. The descriptors are the child's own copies.
    unsafe {
        check_syscall(libc::prctl(libc::PR_SET_PDEATHSIG, KILL))?;
        // If the parent has ended before the signal was set, the signal would never be sent.
        if libc::getppid() != setup.parent {
            return Err(libc::ESRCH);
        }
        check_syscall(libc::setpgid(0, 0))?;
        // The copies stay open after `execve`, unlike the originals, which are not 0, 1 or 2.
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

/// Resets all signal handlers, so that signals can be unblocked, and SIGPIPE, which Rust programs
/// ignore. Other ignored signals stay ignored, as for every program that is started.
///
/// # Safety
///
/// Only for the child: without `CLONE_SIGHAND` it has its own copy of the handlers.
unsafe fn reset_signal_handlers(setup: &ChildSetup) {
    let mut current = MaybeUninit::<libc::sigaction>::uninit();
    for signal in 1..=MAX_SIGNAL {
        // SAFETY: the calls read one action and write another, both valid for that. The written
        // action is read only after success; the calls reject numbers that are reserved.
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

/// Executes the first candidate that is a program. Returns only if there is none.
///
/// # Safety
///
/// Only for the child; the `ExecSpec` that the `ChildSetup` was made from must be alive.
unsafe fn exec_first_candidate(setup: &ChildSetup) -> Result<std::convert::Infallible, c_int> {
    let mut failure = libc::ENOENT;
    for (index, &path) in setup.candidates.iter().enumerate() {
        if path.is_null() {
            break;
        }
        setup.tried.store(index, Ordering::Relaxed);
        // SAFETY: the path and all entries of the two lists are strings that end with a NUL byte,
        // and the lists end with null.
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

/// Returns the `errno` of the last system call. It does not allocate.
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

    /// Runs a program to its end, and returns its output.
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
