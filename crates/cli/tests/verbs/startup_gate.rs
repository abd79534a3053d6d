//! The startup gate: how long a listing waits for a slow server whose tools are cached.

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::world::World;

/// How often each run is repeated; the fastest counts, because other tests run at the same time.
const ROUNDS: usize = 3;

/// How long the slow server needs, and how long a listing waits for it.
const SERVER_DELAY: Duration = Duration::from_secs(5);
const GATE: Duration = Duration::from_millis(250);

/// Runs `wharf tools`; returns the output and the time of its last byte.
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

/// The limit of 310 ms is tested in `benches/cold.rs`, because it needs an optimized build. Here
/// the slow run is compared with a run of the same build and a server that answers at once.
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
    assert!(slow >= GATE, "the listing did not wait for the gate: {slow:?}");
    assert!(slow < quick + GATE + SERVER_DELAY / 5, "{slow:?} against {quick:?}");
    assert!(slow < SERVER_DELAY / 2, "{slow:?}");
}
