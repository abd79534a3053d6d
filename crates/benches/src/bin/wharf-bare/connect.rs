//! The verb `connect`: many servers at once, until all tools of all are listed.
//!
//! Two threads share the work: starting a process is mostly the kernel's time, and one thread
//! leaves the other cores waiting for it. Each thread first starts all its servers, so that they
//! get ready while it goes on, and only then waits for their answers in turn.

use std::io;
use std::thread;
use std::time::Instant;

use crate::connection::Connection;
use crate::message::{Request, count_tools};
use wharf_benches::BenchTarget;

const THREADS: usize = 2;

/// A connection with all the text of its tools.
struct Connected {
    #[expect(dead_code, reason = "it is held open while the driver waits")]
    connection: Connection,
    pages: Vec<Vec<u8>>,
}

/// Connects, tells the numbers, and holds the connections until the end of the input.
pub(crate) fn run(count: usize, target: &BenchTarget, print: impl Fn(String)) -> io::Result<()> {
    let started = Instant::now();
    let connected = connect(count, target)?;
    let ready = started.elapsed().as_secs_f64() * 1e3;
    let pages = connected.iter().flat_map(|server| &server.pages);
    let tools: usize = pages.map(|page| count_tools(page)).sum();
    print(format!(r#"{{"ready_ms": {ready:.2}, "tools": {tools}}}"#));
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    Ok(())
}

fn connect(count: usize, target: &BenchTarget) -> io::Result<Vec<Connected>> {
    thread::scope(|scope| {
        let share = |index: usize| count / THREADS + usize::from(index < count % THREADS);
        let others: Vec<_> = (1..THREADS)
            .filter(|&index| share(index) > 0)
            .map(|index| scope.spawn(move || connect_share(share(index), target)))
            .collect();
        let mut connected = connect_share(share(0), target)?;
        for other in others {
            let joined = other.join().map_err(|_| io::Error::other("a thread failed"))?;
            connected.append(&mut joined?);
        }
        Ok(connected)
    })
}

fn connect_share(count: usize, target: &BenchTarget) -> io::Result<Vec<Connected>> {
    let (discover, list) = (Request::discover(), Request::list(None));
    let mut connections = Vec::with_capacity(count);
    for _ in 0..count {
        let mut connection = Connection::open(target)?;
        connection.send(&discover)?;
        connections.push(connection);
    }
    for connection in &mut connections {
        connection.receive()?;
        connection.send(&list)?;
    }
    connections
        .into_iter()
        .map(|mut connection| Ok(Connected { pages: connection.pages()?, connection }))
        .collect()
}
