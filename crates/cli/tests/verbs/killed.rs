//! Processes that a killed Wharf leaves running are ended by the next command that connects.

#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::world::World;

const LIMIT: Duration = Duration::from_secs(30);

/// Starts a child that outlives its parent, and records its process id. The child ignores SIGTERM
/// if the file `$0.ignores-sigterm` exists.
const CHILD: &str = r#"
if [ -e "$0.mulish" ]; then trap '' TERM; fi
/bin/sleep 1000 < /dev/null > /dev/null 2>&1 &
trap - TERM
echo $! >> "$0.children"
"#;

/// Waits until no other test leaves processes running: the cleanup of one test would end those
/// of another. The lock is a file, because a cleanup reaches all processes of the user, also those
/// of tests in other processes. It is released when the file is closed.
fn lock_cleanup_tests() -> fs::File {
    let lock =
        fs::File::create(std::env::temp_dir().join("wharf-tests-that-clean-up.lock")).unwrap();
    lock.lock().unwrap();
    lock
}

/// A world with a server that starts a child.
fn world() -> World {
    World::new().server_that_hangs("box", CHILD).own_servers(&[("box", r#""command": "box""#)])
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < LIMIT, "timed out: {what}");
        sleep(Duration::from_millis(5));
    }
}

fn children(world: &World) -> Vec<u32> {
    let text = fs::read_to_string(world.path("bin/box.children")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn run_markers(world: &World) -> usize {
    let entries = fs::read_dir(world.path("home/.wharf/run")).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("servers-")).count()
}

fn is_alive(process: u32) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after = state.rsplit(')').next().unwrap_or_default().trim_start();
    !after.is_empty() && !after.starts_with('Z')
}

/// Starts a run that does not end by itself, and waits until its server was called.
fn start(world: &World) -> Child {
    let mut command = world.command(&["call", "box/go", "--timeout", "10m"]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the call", || world.path("bin/box.seen").exists());
    run
}

#[test]
fn processes_left_by_a_killed_wharf_are_ended_by_the_next_command() {
    let _turn = lock_cleanup_tests();
    for ignores_sigterm in [false, true] {
        let world = world();
        if ignores_sigterm {
            fs::File::create(world.path("bin/box.mulish")).unwrap();
        }
        let mut run = start(&world);
        run.kill().unwrap();
        run.wait().unwrap();
        let left = children(&world)[0];
        assert!(is_alive(left), "the child survives");
        assert_eq!(run_markers(&world), 1);
        assert!(world.output("list").status.success());
        assert!(is_alive(left), "a verb that only reads ends no process");
        assert!(world.output("tools").status.success());
        assert!(!children(&world).into_iter().any(is_alive), "mulish: {ignores_sigterm}");
        assert_eq!(run_markers(&world), 0);
    }
}

#[test]
fn processes_of_a_running_wharf_are_left_alone() {
    let _turn = lock_cleanup_tests();
    let world = world();
    let mut run = start(&world);
    let alive = children(&world)[0];
    assert!(world.output("tools").status.success());
    assert!(is_alive(alive));
    assert_eq!(run_markers(&world), 1);
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(world.output("tools").status.success());
    assert!(!is_alive(alive));
}

#[test]
fn a_clean_exit_leaves_no_run_marker() {
    let world = world();
    assert!(world.output("tools").status.success());
    assert!(world.path("home/.wharf/run").is_dir());
    assert_eq!((run_markers(&world), children(&world).len()), (0, 1));
}
