//! Visits servers that other people wrote and checks that everything is as it should be.
//!
//! The file says how each server is started and what is known about it (`catalogue`). A visit
//! connects, lists, calls and reads (`visit`), over HTTP to a server that runs beside us (`host`),
//! and when it is over nothing of the server may still run (`leftovers`).

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the results go to stdout, the complaints to stderr"
)]

mod catalogue;
mod host;
mod leftovers;
mod report;
mod visit;

use std::error::Error;
use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use self::catalogue::{Catalogue, Server};

/// Whatever went wrong; the driver only shows it.
type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Visits the servers of the file, or those whose name starts with one of the names.
async fn run(arguments: &[String]) -> Result<bool, Failure> {
    let (file, names) = arguments.split_first().ok_or("usage: wharf-interop FILE [NAME…]")?;
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let catalogue: Catalogue =
        serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
    let is_wanted = |server: &&Server| {
        names.is_empty() || names.iter().any(|name| server.name.starts_with(name.as_str()))
    };
    let servers: Vec<&Server> = catalogue.servers.iter().filter(is_wanted).collect();
    if servers.is_empty() {
        return Err(format!("no server is called `{}`", names.join("` or `")).into());
    }
    let started = Instant::now();
    let mut failed = 0;
    for server in &servers {
        let report = visit::run(server).await;
        print!("{report}");
        failed += usize::from(!report.is_well());
    }
    let (ok, seconds) = (servers.len() - failed, started.elapsed().as_secs_f64());
    println!("{ok} servers as expected, {failed} not, in {seconds:.1} s");
    Ok(failed == 0)
}
