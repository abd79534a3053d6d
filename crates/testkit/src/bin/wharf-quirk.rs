//! Runs a server that violates one rule: `wharf-quirk MODE [legacy|modern]`; `wharf-quirk --list`
//! lists the modes.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a person may run it in a shell")]

use std::process::ExitCode;

use wharf_testkit::quirk::{self, QuirkEra};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    if mode == "--list" {
        for mode in quirk::stdio_modes() {
            println!("{}: The server {}.", mode.name, mode.description);
        }
        return ExitCode::SUCCESS;
    }
    let era = arguments.next();
    quirk::stdio::run(&mode, era.as_deref().and_then(QuirkEra::from_argument)).unwrap_or_else(
        || {
            eprintln!(
                "error: there is no mode \"{mode}\"\nhint: `wharf-quirk --list` lists the modes"
            );
            ExitCode::from(2)
        },
    )
}
