//! What is said when something panics: where, and nothing else.
//!
//! A panic costs one call or one server, so the program goes on. The words of a panic may repeat
//! what a server sent, secrets included, so they are shown only to whoever asks for a backtrace.

use std::panic;

use crate::host;
use crate::ui;

/// Replaces the usual report of a panic, unless somebody debugs Wharf itself.
pub(crate) fn install_hook() {
    if host::wants_backtrace() {
        return;
    }
    panic::set_hook(Box::new(|about| {
        let place = about.location().map(|at| format!(" at {}:{}", at.file(), at.line()));
        ui::print_internal_error(&place.unwrap_or_default());
    }));
}
