//! Many processes with one expired credential, and a server that revokes a grant whose refresh token
//! is used twice.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use wharf_testkit::oauth::{Misbehavior, OAuthEndpoint};

use super::world::World;

const PROCESSES: usize = 50;

/// Longer than any step takes, on any machine.
const LIMIT: Duration = Duration::from_secs(50);

/// Starts a program that calls a tool of the server with the stored credential.
fn start(world: &World, limited: bool) -> Child {
    let program = env!("CARGO_BIN_EXE_wharf-oauth-caller");
    // No file may grow: every write fails, as on a full disk.
    let script = if limited { "trap '' XFSZ; ulimit -f 0; exec \"$@\"" } else { "exec \"$@\"" };
    #[expect(clippy::disallowed_methods, reason = "the test waits for each process itself")]
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", program]).arg(world.home.path()).arg(world.server.url());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits for a process; returns whether it succeeded, and its error output.
fn finish(mut child: Child) -> (bool, String) {
    let mut output = String::new();
    let read = child.stderr.take().unwrap().read_to_string(&mut output);
    read.unwrap();
    (child.wait().unwrap().success(), output)
}

fn wait_until(what: &str, is_done: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_done() {
        assert!(began.elapsed() < LIMIT, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn check_all_succeed(world: &World, refreshes: usize) {
    let children: Vec<Child> = (0..PROCESSES).map(|_| start(world, false)).collect();
    let outcomes: Vec<_> = children.into_iter().map(finish).collect();
    for (is_success, output) in &outcomes {
        assert!(is_success, "{output}");
        world.check_no_leak(output);
    }
    assert_eq!(world.server.token_requests("refresh_token"), refreshes);
    assert_eq!(world.server.active_grants(), 1);
}

#[test]
fn one_of_fifty_processes_renews_and_all_succeed() {
    let world = World::new();
    world.store_tokens(-10);
    world.server.expire_access_tokens();
    check_all_succeed(&world, 1);
}

#[test]
fn a_process_that_is_killed_while_it_renews_does_not_hold_up_the_others() {
    let world = World::new();
    world.store_tokens(-10);
    world.server.expire_access_tokens();
    world.server.misbehave_times(OAuthEndpoint::Token, 1, Misbehavior::Silent);
    let mut first = start(&world, false);
    wait_until("the token request", || world.server.token_requests("refresh_token") == 1);
    first.kill().unwrap();
    first.wait().unwrap();
    check_all_succeed(&world, 2);
}

#[test]
fn processes_with_a_full_disk_lose_nothing() {
    let world = World::new();
    world.store_tokens(-10);
    world.server.expire_access_tokens();
    let before = world.stored_text();
    let (is_success, output) = finish(start(&world, true));
    assert!(!is_success, "{output}");
    assert_eq!((world.server.token_requests("refresh_token"), world.stored_text()), (0, before));
    world.check_no_leak(&output);
    check_all_succeed(&world, 1);
}
