//! The benchmark driver of our client. It has the command line of `wharf-bare`, the client that it
//! is compared with.
//!
//! One thread does everything, as a host's event loop would. The numbers are printed to stdout as
//! one line of JSON.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the drivers print results to stdout and errors to stderr"
)]

mod calls;
mod connect;
mod connect_spec;
mod listing;

use std::error::Error;
use std::process::ExitCode;

use wharf_benches::BenchTarget;

const USAGE: &str = "usage: wharf-bench VERB … TARGET…
  connect K TARGET…     connect to K copies, list all tools, wait until stdin is closed
  bench N CONC TARGET…  N calls of `echo` with CONC outstanding
  blob N BYTES TARGET…  N calls of `blob`, one after the other
  list N TARGET…        list all tools N times
TARGET is a command with its arguments, or http://HOST:PORT/PATH";

/// Any error; the driver only prints it.
type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let numbers = match words[..] {
        ["connect", count, ref target @ ..] => {
            return connect::run(number(count)?, &BenchTarget::read(target)?).await;
        }
        ["bench", calls, outstanding, ref target @ ..] => {
            calls::echo(number(calls)?, number(outstanding)?, &BenchTarget::read(target)?).await?
        }
        ["blob", calls, bytes, ref target @ ..] => {
            calls::blob(number(calls)?, number(bytes)?, &BenchTarget::read(target)?).await?
        }
        ["list", times, ref target @ ..] => {
            listing::run(number(times)?, &BenchTarget::read(target)?).await?
        }
        _ => return Err(USAGE.into()),
    };
    println!("{numbers}");
    Ok(())
}

fn number(text: &str) -> Result<usize, Failure> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("`{text}` is not a number above 0\n{USAGE}").into()),
    }
}
