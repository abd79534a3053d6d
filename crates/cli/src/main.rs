//! The `wharf` command line: from arguments to an exit code.
//!
//! `args` says what can be typed, `host` looks at the machine once, `log` says what happens inside
//! to whoever asks, `commands` does the work with one file per verb, and `ui` is the only part that
//! writes to the screen.

mod args;
mod commands;
mod host;
mod log;
mod ui;

use std::process::ExitCode;

fn main() -> ExitCode {
    match args::parse(host::arguments()) {
        Ok(cli) => {
            let host = host::look(cli.flags.project.as_deref());
            log::begin(&cli.flags, &host);
            commands::run(&cli, host).into()
        }
        Err(error) => ui::show_usage(&error),
    }
}
