//! A server that breaks one rule: `wharf-quirk MODE [legacy|modern]`; `--list` names the modes.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to the person at a shell")]

use std::process::ExitCode;

use wharf_testkit::quirk::{self, Era};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    if mode == "--list" {
        for mode in quirk::stdio_modes() {
            println!("{}: The server {}.", mode.name, mode.sentence);
        }
        return ExitCode::SUCCESS;
    }
    let era = arguments.next();
    quirk::stdio::run(&mode, era.as_deref().and_then(Era::of_word)).unwrap_or_else(|| {
        eprintln!("error: there is no mode \"{mode}\"\nhint: `wharf-quirk --list` names them");
        ExitCode::from(2)
    })
}
