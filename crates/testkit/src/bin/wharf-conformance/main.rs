//! The client that the official conformance suite starts: connects, lists, calls, and closes.
//!
//! The last argument is the URL of the server. All scenarios run the same `session`; the scenario
//! only selects the calls (`plan`). `client_handler` responds to requests of the server, and
//! `sign_in_host` plays the person who signs in. Every step
//! is logged on stderr, which the suite shows when a check fails.

#![expect(clippy::print_stderr, reason = "every step is logged on stderr")]

mod client_handler;
mod plan;
mod schema_values;
mod session;
mod sign_in_host;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use self::plan::ScenarioPlan;

/// The timeout of a run; that of the suite ends only the shell that started this program.
const LIMIT: Duration = Duration::from_secs(20);

/// Any error; it is only printed.
type AnyError = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let run = async {
        let url = std::env::args().skip(1).last().ok_or("usage: wharf-conformance URL")?;
        session::run(&url, ScenarioPlan::from_environment()?).await
    };
    match tokio::time::timeout(LIMIT, run).await {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(error)) => print_error(&*error),
        Err(_) => eprintln!("error: timed out after {LIMIT:?}"),
    }
    ExitCode::FAILURE
}

fn print_error(error: &(dyn Error + 'static)) {
    eprintln!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprintln!("  cause: {error}");
        cause = error.source();
    }
}
