//! The client that the official conformance suite starts: connects, lists, calls, and leaves.
//!
//! The server's address is the last argument. There is one path for all scenarios; the scenario
//! only decides what is called (`plan`). What the server asks is answered by `answers`. Every step
//! is told on stderr, which the suite shows when a check fails.

#![expect(clippy::print_stderr, reason = "every step is told on stderr")]

mod answers;
mod plan;
mod sample;
mod visit;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use self::plan::Plan;

/// The suite's own limit only ends the shell that it started us with.
const LIMIT: Duration = Duration::from_secs(20);

/// Whatever went wrong; the client only shows it.
type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let run = async {
        let url = std::env::args().skip(1).last().ok_or("usage: wharf-conformance URL")?;
        visit::run(&url, Plan::from_environment()?).await
    };
    match tokio::time::timeout(LIMIT, run).await {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(error)) => tell_error(&*error),
        Err(_) => eprintln!("error: not done within {LIMIT:?}"),
    }
    ExitCode::FAILURE
}

fn tell_error(error: &(dyn Error + 'static)) {
    eprintln!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprintln!("  cause: {error}");
        cause = error.source();
    }
}
