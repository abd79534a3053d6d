//! The client that our client is compared with: written by hand on blocking pipes and sockets, with
//! std alone.
//!
//! It sends the same requests as ours (`server/discover`, all pages of `tools/list`, calls with the
//! required metadata) and has the same command line as `wharf-bench`. It reads only the necessary
//! JSON: the id of a response and the cursor of a page. Everything else stays text.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the drivers print results to stdout and errors to stderr"
)]

mod bench;
mod connect;
mod connection;
mod http;
mod listing;
mod message;
mod read_buffer;
mod stdio;

use std::io;
use std::process::ExitCode;

use wharf_benches::BenchTarget;

const USAGE: &str = "usage: wharf-bare VERB … TARGET…
  connect K TARGET…     connect to K copies, list all tools, wait until stdin is closed
  bench N CONC TARGET…  N calls of `echo` with CONC outstanding
  blob N BYTES TARGET…  N calls of `blob`, one after the other
  list N TARGET…        list all tools N times
TARGET is a command with its arguments, or http://HOST:PORT/PATH";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the verb and prints one line of JSON with the numbers.
fn run(arguments: &[String]) -> io::Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let numbers = match words[..] {
        ["connect", count, ref target @ ..] => {
            let target = BenchTarget::read(target)?;
            return connect::run(number(count)?, &target, |numbers| println!("{numbers}"));
        }
        ["bench", calls, outstanding, ref target @ ..] => {
            bench::echo(number(calls)?, number(outstanding)?, &BenchTarget::read(target)?)?
        }
        ["blob", calls, bytes, ref target @ ..] => {
            bench::blob(number(calls)?, number(bytes)?, &BenchTarget::read(target)?)?
        }
        ["list", times, ref target @ ..] => {
            listing::run(number(times)?, &BenchTarget::read(target)?)?
        }
        _ => return Err(io::Error::other(USAGE)),
    };
    println!("{numbers}");
    Ok(())
}

fn number(text: &str) -> io::Result<usize> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(io::Error::other(format!("`{text}` is not a number above 0\n{USAGE}"))),
    }
}
