//! Benchmark of the tool registry: the runtime against `wharf-bare`, which only lists the tools.
//!
//! One server with 10 000 tools, then 500 servers with 20 tools each. The runtime makes a registry
//! with names, schemas and pins and may take at most 3 times as long as `wharf-bare`. Nothing is
//! cached. Run by `cargo xtask bench`; exits with 1 if the bar is exceeded.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark starts programs, prints its numbers and stops at the first error"
)]

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use wharf::config::{Env, LoadOptions, Platform, load};
use wharf::{Options, Runtime};
use wharf_benches::peak_kib;

/// The runtime may take this many times as long as the bare client.
const MAX_RATIO: f64 = 3.0;

fn main() -> ExitCode {
    println!("{:<24} {:>10} {:>10} {:>7} {:>6}", "", "bare", "ours", "ratio", "bar");
    // The smaller case comes first, because the peak of the process never goes down.
    let large = compare("10 000 tools, 1 server", 7, bare_list_time, || ours(1, 10_000).list);
    println!("{:<24} {:>10} {:>6} KiB", "memory of both sides", "", peak_kib().unwrap_or_default());
    let many =
        compare("20 tools, 500 servers", 3, || bare_connect_time(500), || ours(500, 20).total);
    println!("{:<24} {:>10} {:>6} KiB", "memory of both sides", "", peak_kib().unwrap_or_default());
    if large && many { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn compare(
    name: &str,
    rounds: usize,
    bare: impl Fn() -> Duration,
    ours: impl Fn() -> Duration,
) -> bool {
    // Measured again after a failure, because other load on the machine can cause one.
    (0..2).any(|_| {
        let (mut bare_times, mut our_times) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            bare_times.push(bare());
            our_times.push(ours());
        }
        let (bare, ours) = (median(bare_times), median(our_times));
        let ratio = ours.as_secs_f64() / bare.as_secs_f64();
        println!("{name:<24} {bare:>10.2?} {ours:>10.2?} {ratio:>7.2} {MAX_RATIO:>6.1}");
        ratio <= MAX_RATIO
    })
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Returns how long the bare client takes to list 10 000 tools.
fn bare_list_time() -> Duration {
    let numbers = bare(&["list", "3"], &[("ECHO_TOOLS", "10000")]);
    Duration::from_secs_f64(numbers["p50_us"].as_f64().expect("a time") / 1e6)
}

/// Returns how long the bare client takes to connect and list.
fn bare_connect_time(servers: usize) -> Duration {
    let numbers = bare(&["connect", &servers.to_string()], &[]);
    Duration::from_secs_f64(numbers["ready_ms"].as_f64().expect("a time") / 1e3)
}

fn bare(words: &[&str], variables: &[(&str, &str)]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_wharf-bare"))
        .args(words)
        .arg(env!("CARGO_BIN_EXE_wharf-echo"))
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("wharf-bare runs");
    serde_json::from_slice(&output.stdout).expect("wharf-bare prints numbers")
}

/// How long the runtime took.
struct ReadyTimes {
    /// From the `tools/list` request of one server to the registry.
    list: Duration,
    /// From the start of the runtime to the registry.
    total: Duration,
}

fn ours(servers: usize, tools: usize) -> ReadyTimes {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut entries = Map::new();
    for at in 0..servers {
        let name: String =
            at.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect();
        // Servers with equal definitions would count as duplicates.
        let env = json!({ "ECHO_TOOLS": tools.to_string(), "AT": at.to_string() });
        entries.insert(name, json!({ "command": env!("CARGO_BIN_EXE_wharf-echo"), "env": env }));
    }
    let env = Env::new(Platform::HOST, folder.path())
        .with_home(folder.path())
        .with_variable("WHARF_MCP_SERVERS", Value::Object(entries).to_string());
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build();
    tokio.expect("a Tokio runtime").block_on(async {
        let catalog = load(&env, LoadOptions::default()).expect("a catalog");
        let began = Instant::now();
        let wharf = Runtime::start(&catalog, Options::new(env).store_in_wharf_home().one_shot());
        let snapshot = wharf.settled().await;
        let naming = Instant::now();
        assert_eq!(snapshot.registry().tools().len(), servers * tools);
        let (naming, total) = (naming.elapsed(), began.elapsed());
        let listing = snapshot.servers().filter_map(|it| Some(it.info.as_ref()?.list_time)).max();
        wharf.shutdown().await;
        ReadyTimes { list: listing.unwrap_or_default() + naming, total }
    })
}
