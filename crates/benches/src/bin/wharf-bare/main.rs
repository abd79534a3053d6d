//! The limit that our client is measured against: a client written by hand on blocking pipes and
//! sockets, with std alone.
//!
//! It makes the same exchange as ours (`server/discover`, `tools/list` to the last page, calls with
//! the metadata they need) and has the same command line as `wharf-bench`, but it looks at no more
//! JSON than it must: the id of an answer, the cursor of a page. Everything else stays text.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the drivers of the benches answer on stdout and complain on stderr"
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
  connect K TARGET…     connect to K copies, list all tools, wait for the end of the input
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

/// Does what the command line says and prints the line with the numbers.
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
        _ => Err(io::Error::other(format!("`{text}` is no number above 0\n{USAGE}"))),
    }
}
