//! The `wharf` command line: from arguments to an exit code.
//!
//! `args` says what can be typed, `verbs` has the list of verbs, `help` prints them in groups,
//! `host` looks at the machine once, `log` says what happens inside to whoever asks, `signals` ends
//! the run when somebody wants that, `commands` does the work with one file per verb, and `ui` is
//! the only part that writes to the screen. With the feature `otel`, `traces` tells a collector of
//! the run.

mod args;
mod commands;
mod help;
mod host;
mod log;
mod panics;
mod signals;
#[cfg(feature = "otel")]
mod traces;
mod ui;
mod verbs;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = host::arguments();
    let json = args::wants_json(&arguments);
    match args::parse(&arguments) {
        Ok(cli) => {
            panics::install_hook();
            signals::receive();
            let host = host::inspect(cli.flags.project.as_deref());
            run(&cli, host).into()
        }
        Err(error) => ui::show_usage(&error, json),
    }
}

#[cfg(not(feature = "otel"))]
fn run(cli: &args::Cli, host: host::Host) -> commands::Exit {
    log::init(&cli.flags, &host);
    commands::run(cli, host)
}

#[cfg(feature = "otel")]
fn run(cli: &args::Cli, host: host::Host) -> commands::Exit {
    match traces::init(&cli.flags, &host) {
        Some(traces) => traces.run(&cli.verb_name, || commands::run(cli, host)),
        None => commands::run(cli, host),
    }
}
