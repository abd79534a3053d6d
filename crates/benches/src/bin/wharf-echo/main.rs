//! The workload server of the benches, on std alone: it should cost so little that a bench
//! measures the client.
//!
//! It offers 20 tools, of which `echo` and `blob` do something, in both eras of the protocol.
//! `wharf-echo` speaks on its pipes; `wharf-echo --http 127.0.0.1:0` prints its address as the
//! first line and ends at the end of its input. `ECHO_TOOLS` sets the number of tools,
//! `ECHO_PAGE` how many stand on one page (else all).

#![expect(clippy::print_stderr, reason = "a program says on stderr why it stopped")]

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
            let address: SocketAddr = address
                .parse()
                .map_err(|_| io::Error::other(format!("`{address}` is no address and port")))?;
            http::serve(address, catalog)
        }
        _ => Err(io::Error::other("usage: wharf-echo [--http ADDRESS:PORT]")),
    }
}

#[expect(clippy::disallowed_methods, reason = "the benches set the workload per process")]
fn number_from_environment(name: &str) -> io::Result<Option<usize>> {
    let Ok(text) = std::env::var(name) else { return Ok(None) };
    match text.parse() {
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => Err(io::Error::other(format!("`{name}` is no number above 0: `{text}`"))),
    }
}
