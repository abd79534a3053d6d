//! The verbs `bench` and `blob`: how long a call takes on an established connection.

use std::io;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::{Connection, Link};
use crate::message::Request;
use crate::stdio::Pipes;
use wharf_benches::{BenchTarget, CallTimes};

/// The length of the text that is echoed.
const TEXT: usize = 100;
/// With more outstanding requests both pipes can be full, and both sides wait forever.
const MAX_ON_PIPES: usize = 256;

/// Makes `calls` calls of `echo`, after half as many to warm up.
pub(crate) fn echo(calls: usize, outstanding: usize, target: &BenchTarget) -> io::Result<String> {
    let request = Request::echo(&"x".repeat(TEXT));
    let warm_up = (calls / 2).max(outstanding);
    let (mut times, elapsed) = match target {
        _ if outstanding == 1 => {
            let mut connection = Connection::open_and_discover(target)?;
            call_sequentially(&mut connection, &request, warm_up)?;
            let started = Instant::now();
            (call_sequentially(&mut connection, &request, calls)?, started.elapsed())
        }
        BenchTarget::Command(_) if outstanding > MAX_ON_PIPES => {
            let message = format!("at most {MAX_ON_PIPES} requests may be outstanding on pipes");
            return Err(io::Error::other(message));
        }
        BenchTarget::Command(_) => {
            let mut connection = Connection::open_and_discover(target)?;
            let Link::Pipes(pipes) = &mut connection.link else {
                return Err(io::Error::other("a command has no pipes"));
            };
            call_pipelined(pipes, &request, warm_up, outstanding)?;
            let started = Instant::now();
            (call_pipelined(pipes, &request, calls, outstanding)?, started.elapsed())
        }
        BenchTarget::Http { .. } => {
            call_in_threads(target, &request, [warm_up, calls], outstanding)?
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "the number of calls is small")]
    let rate = times.len() as f64 / elapsed.as_secs_f64();
    let (p50, p99) = (times.percentile(50), times.percentile(99));
    Ok(format!(r#"{{"p50_us": {p50:.2}, "p99_us": {p99:.2}, "calls_per_s": {rate:.0}}}"#))
}

/// Makes `calls` calls of `blob`, one after the other.
pub(crate) fn blob(calls: usize, bytes: usize, target: &BenchTarget) -> io::Result<String> {
    let request = Request::blob(bytes);
    let mut connection = Connection::open_and_discover(target)?;
    let mut times = CallTimes::default();
    for _ in 0..calls {
        let started = Instant::now();
        let length = connection.call(&request)?;
        times.push(started.elapsed());
        if length < bytes {
            return Err(io::Error::other(format!("received {length} bytes instead of {bytes}")));
        }
    }
    Ok(format!(r#"{{"p50_us": {:.2}}}"#, times.percentile(50)))
}

fn call_sequentially(
    connection: &mut Connection,
    request: &Request,
    calls: usize,
) -> io::Result<CallTimes> {
    let mut times = CallTimes::default();
    for _ in 0..calls {
        let started = Instant::now();
        let length = connection.call(request)?;
        times.push(started.elapsed());
        if length < TEXT {
            return Err(io::Error::other("the text was not echoed"));
        }
    }
    Ok(times)
}

/// Keeps `outstanding` requests in flight from one thread: each read is followed by one write with
/// as many new requests as there were responses.
///
/// Each response is followed at once by a new request, as with the callers of a real client. The
/// latency therefore includes the queue: latency times rate is the number of outstanding requests.
fn call_pipelined(
    pipes: &mut Pipes,
    request: &Request,
    calls: usize,
    outstanding: usize,
) -> io::Result<CallTimes> {
    // Larger than the ids of the handshake, and all ids have the same number of digits.
    const FIRST: u64 = 1_000_000;
    let mut times = CallTimes::default();
    let mut started = Vec::with_capacity(calls);
    while started.len() < outstanding.min(calls) {
        pipes.queue(request, FIRST + started.len() as u64)?;
        started.push(Instant::now());
    }
    while times.len() < calls {
        pipes.flush()?;
        pipes.fill()?;
        while let Some(id) = pipes.next_id()? {
            let index = id.checked_sub(FIRST).and_then(|index| usize::try_from(index).ok());
            let Some(start) = index.and_then(|index| started.get(index)) else { continue };
            let now = Instant::now();
            times.push(now - *start);
            if started.len() < calls {
                pipes.queue(request, FIRST + started.len() as u64)?;
                started.push(now);
            }
        }
    }
    Ok(times)
}

/// Keeps `threads` requests in flight, each with its own thread and connection.
fn call_in_threads(
    target: &BenchTarget,
    request: &Request,
    [warm_up, calls]: [usize; 2],
    threads: usize,
) -> io::Result<(CallTimes, Duration)> {
    let mut connections = (0..threads)
        .map(|_| Connection::open_and_discover(target))
        .collect::<io::Result<Vec<_>>>()?;
    let barrier = Barrier::new(threads + 1);
    let share = |all: usize, index: usize| all / threads + usize::from(index < all % threads);
    thread::scope(|scope| {
        let workers: Vec<_> = connections
            .iter_mut()
            .enumerate()
            .map(|(index, connection)| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let warm = call_sequentially(connection, request, share(warm_up, index));
                    // A thread that failed must not block the others.
                    barrier.wait();
                    warm?;
                    call_sequentially(connection, request, share(calls, index))
                })
            })
            .collect();
        barrier.wait();
        let started = Instant::now();
        let mut times = CallTimes::default();
        for worker in workers {
            let joined = worker.join().map_err(|_| io::Error::other("a thread failed"))?;
            times.append(joined?);
        }
        Ok((times, started.elapsed()))
    })
}
