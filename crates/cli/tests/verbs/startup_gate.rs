//! How long a listing waits for a server that takes its time.

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::world::World;

/// How often each is tried; the best counts, as other tests run at the same time.
const ROUNDS: usize = 3;

/// How long the server needs in bad times, and how long it is waited for.
const SERVER_DELAY: Duration = Duration::from_secs(5);
const GATE: Duration = Duration::from_millis(250);

/// Runs `wharf tools`, and returns what it printed and when the last of it came.
fn listed(world: &World) -> (String, Duration) {
    let began = Instant::now();
    let mut command = world.command(&["tools"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut printed, mut buffer, mut last) = (Vec::new(), [0; 4096], Duration::ZERO);
    loop {
        let read = stdout.read(&mut buffer).unwrap();
        if read == 0 {
            break;
        }
        last = began.elapsed();
        printed.extend_from_slice(&buffer[..read]);
    }
    assert!(child.wait().unwrap().success());
    (String::from_utf8(printed).unwrap(), last)
}

fn fastest(world: &World, expected: &str) -> Duration {
    let times = (0..ROUNDS).map(|_| {
        let (printed, took) = listed(world);
        assert_eq!(printed, expected);
        took
    });
    times.min().unwrap()
}

/// The bar of 250 ms and 60 more is in `benches/cold.rs`, as it needs an optimized build. Here the
/// same run with a server that answers at once says what this build and machine need by themselves.
#[test]
fn a_slow_server_delays_a_listing_only_until_the_startup_gate() {
    let world = World::new()
        .server_with_startup("slow", r#"[ -e "$0.slow" ] && /bin/sleep 5"#)
        .own_servers(&[("slow", r#""command": "slow""#)]);
    let (live, _) = listed(&world);
    assert!(live.contains("mcp_slow_go"), "{live}");
    let quick = fastest(&world, &live);
    std::fs::File::create(world.path("bin/slow.slow")).unwrap();
    let slow = fastest(&world, &live);
    assert!(slow >= GATE, "nobody waited for the gate: {slow:?}");
    assert!(slow < quick + GATE + SERVER_DELAY / 5, "{slow:?} against {quick:?}");
    assert!(slow < SERVER_DELAY / 2, "{slow:?}");
}
