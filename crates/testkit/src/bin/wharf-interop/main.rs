//! Tests the client with third-party servers.
//!
//! A JSON file (`server_list`) describes how each server is started and what is expected of it. A
//! test (`server_test`) connects, lists, calls and reads; it also runs the process of an HTTP
//! server (`http_server_process`). Afterwards no process of the server may run
//! (`remaining_processes`).

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the reports go to stdout, errors to stderr"
)]

mod http_server_process;
mod remaining_processes;
mod report;
mod server_list;
mod server_test;

use std::error::Error;
use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use self::server_list::{InteropServer, ServerList};

/// Any error; it is only printed.
type AnyError = Box<dyn Error + Send + Sync>;

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

/// Tests the servers of the file, or those whose name starts with one of the names. Returns whether
/// all tests passed.
async fn run(arguments: &[String]) -> Result<bool, AnyError> {
    let (file, names) = arguments.split_first().ok_or("usage: wharf-interop FILE [NAME…]")?;
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let list: ServerList =
        serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
    let is_wanted = |server: &&InteropServer| {
        names.is_empty() || names.iter().any(|name| server.name.starts_with(name.as_str()))
    };
    let servers: Vec<&InteropServer> = list.servers.iter().filter(is_wanted).collect();
    if servers.is_empty() {
        return Err(format!("no server has the name `{}`", names.join("` or `")).into());
    }
    let started = Instant::now();
    let mut failed = 0;
    for server in &servers {
        let report = server_test::run(server).await;
        print!("{report}");
        failed += usize::from(!report.passed());
    }
    let (ok, seconds) = (servers.len() - failed, started.elapsed().as_secs_f64());
    println!("{ok} servers passed, {failed} failed, in {seconds:.1} s");
    Ok(failed == 0)
}
