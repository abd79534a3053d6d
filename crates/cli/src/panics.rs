//! The panic hook: prints where the panic happened, and nothing else.
//!
//! A panic costs one call or one server, so the program continues. The panic message may repeat
//! what a server sent, including secrets, so it is printed only if `RUST_BACKTRACE` is set.

use std::panic;

use crate::host;
use crate::ui;

/// Replaces the default panic hook, unless `RUST_BACKTRACE` is set.
pub(crate) fn install_hook() {
    if host::wants_backtrace() {
        return;
    }
    panic::set_hook(Box::new(|about| {
        let place = about.location().map(|at| format!(" at {}:{}", at.file(), at.line()));
        ui::print_internal_error(&place.unwrap_or_default());
    }));
}
