//! The `wharf` command line: from arguments to an exit code.
//!
//! `args` defines the common flags, `verbs` lists the verbs, `help` prints them in groups, `host`
//! reads the environment once, `log` writes the log that `WHARF_LOG` asks for, `signals` ends the
//! run on a signal, `commands` has one file per verb, and `ui` is the only module that writes to
//! the screen. With the feature `otel`, `traces` exports the spans of the run to an OpenTelemetry
//! collector.

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
