//! Tests the process tree of a server: start, exit, kill, and that no process is left.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

#[path = "process_tree/connect.rs"]
mod connect;
#[path = "process_tree/test_tree.rs"]
mod test_tree;

use std::os::unix::process::ExitStatusExt as _;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use wharf_protocol::transport::process::{
    GracePeriod, LogSink, Process, ProcessLaunch, StartError, StopMethod, end_leftover_processes,
};

use self::test_tree::{DEADLINE, LONG_GRACE, NO_GRACE, TestTree, is_reaped, runs, until};

const SHORT: Duration = Duration::from_millis(30);

/// Ends a process tree and returns how it ended. Checks that no process of it is left right after.
async fn end_tree(
    words: &str,
    count: usize,
    grace: GracePeriod,
) -> (StopMethod, Option<i32>, Option<i32>) {
    let tree = TestTree::new();
    let (process, _, stdout) = tree.start_and_wait(words, count).await;
    let pid = process.id();
    assert!(runs(pid));
    let ended = tokio::time::timeout(DEADLINE, process.end(grace)).await.unwrap();
    assert_eq!(tree.alive(), [0_u32; 0], "{words}");
    assert!(is_reaped(pid), "{words}");
    tree.tracker.close();
    tokio::time::timeout(DEADLINE, tree.tracker.wait()).await.unwrap();
    drop(stdout);
    let status = ended.status.unwrap();
    (ended.by, status.code(), status.signal())
}

#[tokio::test]
async fn a_server_that_ends_with_its_input_is_not_signalled() {
    let words = "name=server echo exit=5";
    assert_eq!(end_tree(words, 1, LONG_GRACE).await, (StopMethod::EndOfInput, Some(5), None));
}

#[tokio::test]
async fn a_server_that_ignores_the_end_of_its_input_is_terminated() {
    let grace = GracePeriod { after_eof: SHORT, ..LONG_GRACE };
    let terminated = (StopMethod::Terminate, None, Some(15));
    assert_eq!(end_tree("name=server sleep", 1, grace).await, terminated);
    assert_eq!(end_tree("heir stray name=server sleep", 3, grace).await, terminated);
}

#[tokio::test]
async fn a_stopped_server_is_terminated_all_the_same() {
    let grace = GracePeriod { after_eof: SHORT, ..LONG_GRACE };
    let terminated = (StopMethod::Terminate, None, Some(15));
    assert_eq!(end_tree("name=server stop sleep", 1, grace).await, terminated);
}

#[tokio::test]
async fn a_server_that_ignores_everything_is_killed() {
    let grace = GracePeriod { after_eof: SHORT, after_term: SHORT };
    let killed = (StopMethod::Kill, None, Some(9));
    assert_eq!(end_tree("deaf heir stray name=server sleep", 3, grace).await, killed);
}

#[tokio::test]
async fn descendants_of_a_server_that_exited_are_ended() {
    let ended = (StopMethod::EndOfInput, Some(0), None);
    assert_eq!(end_tree("heir stray name=server echo", 3, LONG_GRACE).await, ended);
    let grace = GracePeriod { after_term: SHORT, ..LONG_GRACE };
    assert_eq!(end_tree("deaf heir stray name=server echo", 3, grace).await, ended);
}

#[tokio::test]
async fn a_tree_that_keeps_forking_is_ended() {
    for grace in [GracePeriod { after_eof: SHORT, ..LONG_GRACE }, NO_GRACE] {
        let (by, ..) = end_tree("breeder breeder name=server sleep", 2, grace).await;
        assert!(by >= StopMethod::Terminate);
    }
}

#[tokio::test]
async fn an_exit_is_noticed_while_the_output_stays_open() {
    let tree = TestTree::new();
    let (mut process, members, mut stdout) = tree.start_and_wait("heir name=server echo", 2).await;
    // Waiting can be cancelled and repeated.
    assert!(tokio::time::timeout(SHORT, process.exited()).await.is_err());
    drop(process.take_stdin());
    let status = tokio::time::timeout(DEADLINE, process.exited()).await.unwrap().unwrap();
    assert!(status.success());
    assert_eq!(process.exited().await, Some(status));
    assert!(runs(members["heir"]));
    let open = tokio::time::timeout(SHORT, stdout.read_u8()).await;
    assert!(open.is_err(), "the descendant holds the pipe");
    process.end(LONG_GRACE).await;
    assert_eq!(tree.alive(), [0_u32; 0]);
    assert_eq!(stdout.read(&mut [0]).await.unwrap(), 0);
}

#[tokio::test]
async fn the_error_output_is_kept_and_logged() {
    let tree = TestTree::new();
    let logged = Arc::new(Mutex::new(Vec::new()));
    let log: LogSink = {
        let logged = Arc::clone(&logged);
        Arc::new(move |piece| logged.lock().unwrap().extend_from_slice(piece))
    };
    let mut process = tree.start_logged("complain=no_key\n exit=3", Some(log)).await;
    let tail = process.stderr().clone();
    let status = tokio::time::timeout(DEADLINE, process.exited()).await.unwrap();
    assert_eq!(status.unwrap().code(), Some(3));
    assert_eq!(process.final_stderr(DEADLINE).await, "no_key\n");
    assert_eq!(process.end(LONG_GRACE).await.status, status);
    assert_eq!(tail.text(), "no_key\n");
    assert_eq!(*logged.lock().unwrap(), b"no_key\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_after_a_hundred_ends() {
    let grace = GracePeriod { after_eof: Duration::ZERO, after_term: Duration::from_millis(5) };
    for _ in 0..20 {
        let rounds = (0..5).map(|_| end_tree("deaf heir stray name=server sleep", 3, grace));
        for (by, ..) in futures_util::future::join_all(rounds).await {
            assert_eq!(by, StopMethod::Kill);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_after_a_hundred_drops() {
    let tree = TestTree::new();
    for _ in 0..20 {
        let words = "deaf heir stray name=server sleep";
        let rounds = (0..5).map(|_| tree.start_and_wait(words, 3));
        let trees = futures_util::future::join_all(rounds).await;
        let numbers: Vec<u32> = trees.iter().map(|(process, ..)| process.id()).collect();
        assert!(tree.alive().len() >= 15);
        drop(trees);
        tree.wait_until_gone().await;
        until(|| numbers.iter().all(|&pid| is_reaped(pid)), || "a zombie is left".into()).await;
    }
}

#[tokio::test]
async fn nothing_is_left_after_a_hundred_cancelled_starts() {
    let tree = TestTree::new();
    let mut cancelled = 0;
    for polls in 0..100 {
        let mut start = pin!(Process::start(tree.launch("heir sleep"), &tree.tracker, None));
        // From "not started" to "almost done".
        for _ in 0..polls * polls {
            tokio::select! {
                biased;
                started = &mut start => { drop(started.unwrap()); break; }
                () = tokio::task::yield_now() => {}
            }
        }
        cancelled += 1;
    }
    assert_eq!(cancelled, 100);
    // Once these have been started, so has everything before them.
    for _ in 0..2 {
        let (one, other) = tokio::join!(tree.start("sleep"), tree.start("sleep"));
        tokio::join!(one.end(NO_GRACE), other.end(NO_GRACE));
    }
    tree.wait_until_gone().await;
}

#[tokio::test]
async fn cancelling_a_graceful_end_kills_at_once() {
    let tree = TestTree::new();
    let (process, _, _stdout) = tree.start_and_wait("deaf heir stray name=server echo", 3).await;
    assert!(tokio::time::timeout(SHORT, process.end(LONG_GRACE)).await.is_err());
    tree.wait_until_gone().await;
}

#[test]
fn a_process_may_be_dropped_after_its_runtime() {
    let tree = TestTree::new();
    let build = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let runtime = build();
    let started = runtime.block_on(tree.start_and_wait("deaf heir stray name=server sleep", 3));
    drop(runtime);
    assert_eq!(tree.alive().len(), 3);
    let pid = started.0.id();
    drop(started);
    build().block_on(async {
        tree.wait_until_gone().await;
        until(|| is_reaped(pid), || "a zombie is left".into()).await;
    });
}

#[tokio::test]
async fn a_daemon_without_group_and_environment_ends_where_orphans_are_adopted() {
    for (words, is_ended) in [
        ("adopt own daemon name=server echo", true),
        ("adopt own daemon daemon heir stray name=server sleep", true),
        // Without a subreaper, this process is not adopted and stays.
        ("own daemon name=server echo", false),
    ] {
        let tree = TestTree::new();
        let members = words.split(' ').filter(|word| !matches!(*word, "adopt" | "echo" | "sleep"));
        let count = members.collect::<std::collections::BTreeSet<_>>().len();
        let (mut owner, members, _stdout) = tree.start_and_wait(words, count).await;
        drop(owner.take_stdin());
        tokio::time::timeout(DEADLINE, owner.exited()).await.unwrap();
        let daemon = members["daemon"];
        let still_runs = runs(daemon);
        if still_runs {
            kill_process(Pid::from_raw(daemon.cast_signed()).unwrap(), Signal::KILL).unwrap();
        }
        assert_eq!(still_runs, !is_ended, "{words}");
        assert!(tree.alive().is_empty(), "{words}");
    }
}

#[tokio::test]
async fn the_library_is_not_a_subreaper_by_default() {
    let tree = TestTree::new();
    let (process, ..) = tree.start_and_wait("name=server echo", 1).await;
    process.end(LONG_GRACE).await;
    assert_eq!(rustix::process::child_subreaper().unwrap(), None);
}

/// Waits for other tests that leave processes running on purpose: the cleanup of one test would end
/// the processes of the others, also across test processes. The lock is released when the file is
/// closed.
fn lock_cleanup_tests() -> std::fs::File {
    let path = std::env::temp_dir().join("wharf-tests-that-clean-up.lock");
    let lock = std::fs::File::create(path).unwrap();
    lock.lock().unwrap();
    lock
}

/// Kills an owner, and checks when the processes of its servers end.
async fn owner_is_killed(reaped: bool) {
    let _turn = lock_cleanup_tests();
    let (lost, kept) = (TestTree::new(), TestTree::new());
    let words = "own deaf heir stray name=server sleep";
    let (owner, members, _stdout) = lost.start_and_wait(words, 4).await;
    let (living, _, _stdout) = kept.start_and_wait(words, 4).await;
    assert_eq!((lost.alive().len(), kept.alive().len()), (4, 4));

    kill_process(Pid::from_raw(owner.id().cast_signed()).unwrap(), Signal::KILL).unwrap();
    until(|| !runs(members["server"]), || "the direct child still runs".into()).await;
    assert!(runs(members["heir"]) && runs(members["stray"]), "{members:?}");
    // An owner that is a zombie counts as dead, like one that was reaped.
    let owner = if reaped {
        owner.end(LONG_GRACE).await;
        None
    } else {
        Some(owner)
    };

    tokio::time::timeout(DEADLINE, end_leftover_processes()).await.unwrap();
    assert_eq!(lost.alive(), [0_u32; 0]);
    assert_eq!(kept.alive().len(), 4, "their owner still runs");

    drop(owner);
    assert_eq!(living.end(LONG_GRACE).await.by, StopMethod::EndOfInput);
    assert_eq!(kept.alive(), [0_u32; 0]);
}

#[tokio::test]
async fn the_processes_of_a_killed_owner_are_swept() {
    owner_is_killed(true).await;
}

#[tokio::test]
async fn the_processes_of_a_zombie_owner_are_swept() {
    owner_is_killed(false).await;
}

#[tokio::test]
async fn a_flood_on_stderr_is_read_without_memory_growth_or_delay() {
    const MEGABYTES: usize = 200;
    let tree = TestTree::new();
    let (mut echo, _, mut stdout) = tree.start_and_wait("name=server echo", 1).await;
    let mut stdin = echo.take_stdin().unwrap();
    let before = peak_memory();
    let read = Arc::new(AtomicUsize::new(0));
    let log: LogSink = {
        let read = Arc::clone(&read);
        Arc::new(move |piece| {
            read.fetch_add(piece.len(), Ordering::Relaxed);
        })
    };
    let began = Instant::now();
    let mut flood = tree.start_logged(&format!("flood={MEGABYTES} exit=0"), Some(log)).await;
    until(|| read.load(Ordering::Relaxed) > 0, || "nothing was read".into()).await;
    stdin.write_all(b"ping").await.unwrap();
    let mut answer = [0; 4];
    tokio::time::timeout(DEADLINE, stdout.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(&answer, b"ping");
    assert!(read.load(Ordering::Relaxed) < MEGABYTES << 20, "the other process had to wait");

    tokio::time::timeout(DEADLINE, flood.exited()).await.unwrap();
    let tail = flood.final_stderr(DEADLINE).await;
    assert_eq!(read.load(Ordering::Relaxed), MEGABYTES << 20);
    assert!(tail.len() <= 64 * 1024 && tail.starts_with("all work"), "{} kept", tail.len());
    let grown = peak_memory().saturating_sub(before);
    assert!(grown < 64 * 1024, "grown by {grown} KiB");
    println!("{MEGABYTES} MB in {:?}, memory grown by {grown} KiB", began.elapsed());
    tokio::join!(flood.end(LONG_GRACE), echo.end(NO_GRACE));
}

/// Returns the peak memory of this process, in KiB.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn a_server_gets_its_environment_the_marker_and_default_signals() {
    let tree = TestTree::new();
    // A shell, because the Rust runtime changes the handling of SIGPIPE at start.
    let launch = ProcessLaunch { arguments: vec!["-c".into(), "read x".into()], ..tree.launch("") };
    let launch = ProcessLaunch { program: "/bin/sh".into(), ..launch };
    let process = Process::start(launch, &tree.tracker, None).await.unwrap();
    // During `exec`, `/proc/<pid>/environ` is empty for a moment.
    let path = format!("/proc/{}/environ", process.id());
    let until = Instant::now() + Duration::from_secs(10);
    let environment = loop {
        let environment = std::fs::read_to_string(&path).unwrap();
        if !environment.is_empty() || Instant::now() > until {
            break environment;
        }
        tokio::task::yield_now().await;
    };
    let names = environment.split_terminator('\0').filter_map(|entry| entry.split('=').next());
    let names: Vec<&str> = names.collect();
    assert_eq!(names, ["WHARF_SESSION", "WHARF_TRIAL"]);
    let owner = format!("WHARF_SESSION={}.", std::process::id());
    assert!(environment.starts_with(&owner), "{environment}");
    assert!(!is_ignored(process.id(), Signal::PIPE));
    assert!(is_ignored(std::process::id(), Signal::PIPE), "otherwise the test proves nothing");
    process.end(NO_GRACE).await;
}

fn is_ignored(pid: u32, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << (signal.as_raw() - 1)) != 0
}

#[tokio::test]
async fn a_large_message_fits_into_the_output_pipe() {
    let tree = TestTree::new();
    let mut process = tree.start("sleep").await;
    let stdout = process.take_stdout().unwrap();
    assert_eq!(rustix::pipe::fcntl_getpipe_size(&stdout).unwrap(), 256 * 1024);
    process.end(NO_GRACE).await;
}

async fn fails(launch: ProcessLaunch) -> String {
    let secret = [("TOKEN".into(), "hunter2".into())];
    let environment = launch.environment.iter().cloned().chain(secret).collect();
    let launch = ProcessLaunch { arguments: vec!["hunter3".into()], environment, ..launch };
    let error: StartError =
        Process::start(launch, &TestTree::new().tracker, None).await.unwrap_err();
    let hint = error.hint().unwrap_or_default();
    assert!(!format!("{error:?} {hint}").contains("hunter"));
    format!("{error}; {hint}")
}

#[tokio::test]
async fn a_program_that_cannot_start_is_reported_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let path = vec![("PATH".into(), folder.path().into())];
    for (name, text) in [("plain", "hello"), ("script", "#!/no/such/interpreter\n")] {
        std::io::Write::write_all(
            &mut std::fs::File::create(place(name)).unwrap(),
            text.as_bytes(),
        )
        .unwrap();
    }
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place("script"), mode).unwrap();

    let by_name =
        |name: &str| ProcessLaunch { environment: path.clone(), ..ProcessLaunch::new(name) };
    let inside =
        |name: &str| ProcessLaunch { folder: Some(place(name)), ..ProcessLaunch::new("/bin/sh") };
    let mut seen = String::new();
    for launch in [
        by_name("no-such-program"),
        by_name("script"),
        ProcessLaunch::new(place("nothing")),
        ProcessLaunch::new(place("plain")),
        ProcessLaunch::new(place("script")),
        ProcessLaunch::new(folder.path()),
        inside("nowhere"),
        inside("plain"),
        ProcessLaunch { folder: Some("a\0b".into()), ..ProcessLaunch::new("/bin/sh") },
        ProcessLaunch::new(""),
    ] {
        seen += &fails(launch).await.replace(folder.path().to_str().unwrap(), "DIR");
        seen += "\n";
    }
    insta::assert_snapshot!(seen, @r"
    program `no-such-program` was not found; install `no-such-program`, or give its full path
    program `script` was found, but not the interpreter that it names; install what the first line of `script` names
    program `DIR/nothing` was not found; check the path `DIR/nothing`
    program `DIR/plain` may not be executed; check that `DIR/plain` is a file you may execute
    program `DIR/script` was found, but not the interpreter that it names; install what the first line of `DIR/script` names
    program `DIR` may not be executed; check that `DIR` is a file you may execute
    program `/bin/sh` cannot run in DIR/nowhere, which is not a folder; create DIR/nowhere, or name another folder
    program `/bin/sh` cannot run in DIR/plain, which is not a folder; create DIR/plain, or name another folder
    could not start program `/bin/sh`; 
    program `` was not found; name a program
    ");
}
