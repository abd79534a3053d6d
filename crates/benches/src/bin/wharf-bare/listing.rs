//! The verb `list`: how long it takes to list all tools, and how much memory that needs.

use std::io;
use std::time::Instant;

use crate::connection::Connection;
use crate::message::{Request, count_tools};
use wharf_benches::{BenchTarget, CallTimes, peak_kib};

/// Lists all tools `count` times on one connection; each list is dropped before the next.
pub(crate) fn run(count: usize, target: &BenchTarget) -> io::Result<String> {
    let request = Request::list(None);
    let mut connection = Connection::open_and_discover(target)?;
    let mut times = CallTimes::default();
    let mut peak = None;
    for _ in 0..count {
        let started = Instant::now();
        connection.send(&request)?;
        let pages = connection.pages()?;
        times.push(started.elapsed());
        peak = peak.or_else(peak_kib);
        if pages.iter().all(|page| count_tools(&page[..page.len().min(4096)]) == 0) {
            return Err(io::Error::other("the list has no tools"));
        }
    }
    let peak = peak.map_or("null".to_owned(), |kib| kib.to_string());
    Ok(format!(r#"{{"p50_us": {:.2}, "peak_kib": {peak}}}"#, times.percentile(50)))
}
