//! The workload server of the benchmarks, on std alone: it needs so little time that a benchmark
//! measures the client.
//!
//! It offers 20 tools in both eras of the protocol; only `echo` and `blob` do something.
//! `wharf-echo` uses stdio; `wharf-echo --http 127.0.0.1:0` prints its address as the first line
//! and ends when stdin is closed. `ECHO_TOOLS` sets the number of tools, `ECHO_PAGE` the number of
//! tools per page (default: all).

#![expect(clippy::print_stderr, reason = "errors are printed to stderr")]

mod catalog;
mod http;
mod response;
mod scan;
mod stdio;

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use crate::catalog::ToolCatalog;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let catalog = ToolCatalog::new(
        number_from_environment("ECHO_TOOLS")?.unwrap_or(20),
        number_from_environment("ECHO_PAGE")?,
    );
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => stdio::serve(&catalog),
        ["--http", address] => {
            let address: SocketAddr = address.parse().map_err(|_| {
                io::Error::other(format!("`{address}` is not an address with a port"))
            })?;
            http::serve(address, catalog)
        }
        _ => Err(io::Error::other("usage: wharf-echo [--http ADDRESS:PORT]")),
    }
}

#[expect(clippy::disallowed_methods, reason = "the benchmarks set the workload per process")]
fn number_from_environment(name: &str) -> io::Result<Option<usize>> {
    let Ok(text) = std::env::var(name) else { return Ok(None) };
    match text.parse() {
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => Err(io::Error::other(format!("`{name}` is not a number above 0: `{text}`"))),
    }
}
