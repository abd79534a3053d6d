//! The verbs `bench` and `blob`: how long a call takes on an established connection.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use wharf_benches::{BenchTarget, CallTimes};
use wharf_protocol::view::send::Object;
use wharf_protocol::{Json, Peer};

use crate::Failure;
use crate::connect_spec::{ConnectSpec, request_options};

/// The length of the text that is echoed.
const TEXT: usize = 100;

/// Makes `calls` calls of `echo`, after half as many to warm up.
pub(crate) async fn echo(
    calls: usize,
    outstanding: usize,
    target: &BenchTarget,
) -> Result<String, Failure> {
    let peer = ConnectSpec::new(target)?.connect().await?;
    let arguments = object(&format!(r#"{{"text":"{}"}}"#, "x".repeat(TEXT)))?;
    run_calls(&peer, &arguments, (calls / 2).max(outstanding), outstanding).await?;
    let (mut times, elapsed) = run_calls(&peer, &arguments, calls, outstanding).await?;
    #[expect(clippy::cast_precision_loss, reason = "the number of calls is small")]
    let rate = times.len() as f64 / elapsed.as_secs_f64();
    let (p50, p99) = (times.percentile(50), times.percentile(99));
    peer.close().await;
    Ok(format!(r#"{{"p50_us": {p50:.2}, "p99_us": {p99:.2}, "calls_per_s": {rate:.0}}}"#))
}

/// Makes `calls` calls of `blob`, one after the other.
pub(crate) async fn blob(
    calls: usize,
    bytes: usize,
    target: &BenchTarget,
) -> Result<String, Failure> {
    let peer = ConnectSpec::new(target)?.connect().await?;
    let arguments = object(&format!(r#"{{"bytes":{bytes}}}"#))?;
    let mut times = CallTimes::default();
    for _ in 0..calls {
        let started = Instant::now();
        let result = peer.call_tool("blob", Some(&arguments), &request_options()).await?;
        times.push(started.elapsed());
        if result.is_error() || result.raw().as_str().len() < bytes {
            return Err("the blob was not returned".into());
        }
    }
    peer.close().await;
    Ok(format!(r#"{{"p50_us": {:.2}}}"#, times.percentile(50)))
}

/// Keeps `outstanding` callers busy, each in its own task, as agents would.
async fn run_calls(
    peer: &Peer,
    arguments: &Object,
    calls: usize,
    outstanding: usize,
) -> Result<(CallTimes, Duration), Failure> {
    let started = Instant::now();
    let left = Arc::new(Mutex::new((calls, CallTimes::default())));
    let mut callers = JoinSet::new();
    for _ in 0..outstanding {
        let (peer, arguments, left) = (peer.clone(), arguments.clone(), Arc::clone(&left));
        callers.spawn(async move {
            let mut last = None;
            while take_one(&left, last) {
                last = Some(call(&peer, &arguments).await?);
            }
            Ok::<(), Failure>(())
        });
    }
    while let Some(caller) = callers.join_next().await {
        caller??;
    }
    let times = std::mem::take(&mut left.lock().unwrap_or_else(PoisonError::into_inner).1);
    Ok((times, started.elapsed()))
}

/// Records how long the last call took, and returns whether there is another to make.
fn take_one(left: &Mutex<(usize, CallTimes)>, last: Option<Duration>) -> bool {
    let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(time) = last {
        left.1.push(time);
    }
    let is_left = left.0 > 0;
    left.0 -= usize::from(is_left);
    is_left
}

async fn call(peer: &Peer, arguments: &Object) -> Result<Duration, Failure> {
    let started = Instant::now();
    let result = peer.call_tool("echo", Some(arguments), &request_options()).await?;
    let elapsed = started.elapsed();
    if result.is_error() || result.raw().as_str().len() < TEXT {
        return Err("the text was not echoed".into());
    }
    Ok(elapsed)
}

fn object(text: &str) -> Result<Object, Failure> {
    Ok(Object::try_from(text.parse::<Json>()?)?)
}
