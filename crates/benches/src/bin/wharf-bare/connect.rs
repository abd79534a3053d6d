//! The verb `connect`: connects to many servers and lists all their tools.
//!
//! Two threads share the work, because starting a process is mostly kernel time and one thread
//! would leave the other cores idle. Each thread first starts all its servers and then reads their
//! responses one after the other.

use std::io;
use std::thread;
use std::time::Instant;

use crate::connection::Connection;
use crate::message::{Request, count_tools};
use wharf_benches::BenchTarget;

const THREADS: usize = 2;

/// A connection with the raw text of its tools.
struct Connected {
    #[expect(dead_code, reason = "keeps the connection open while the driver waits")]
    connection: Connection,
    pages: Vec<Vec<u8>>,
}

/// Connects, prints the numbers, and keeps the connections open until stdin is closed.
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
