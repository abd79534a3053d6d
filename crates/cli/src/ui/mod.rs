//! Terminal input and output. Only this module prints and prompts.
//!
//! Data goes to stdout, everything else to stderr. `screen` prints and asks for
//! confirmation, `keyboard` reads lines, `json`, `lines`, `table` and `wrap` format
//! text, `log` writes log lines, `style` has the colours, `phrase` formats names, paths
//! and problems, and `time_ago` formats the age of an event.

mod json;
mod keyboard;
mod lines;
mod log;
pub(crate) mod phrase;
mod screen;
pub(crate) mod style;
mod table;
pub(crate) mod time_ago;
mod wrap;

pub(crate) use json::indented;
pub(crate) use keyboard::Keyboard;
pub(crate) use lines::Lines;
pub(crate) use log::LogLine;
pub(crate) use screen::{
    Confirmation, Ui, Verbosity, has_printed_document, print_bytes, print_internal_error,
    print_json, show_usage,
};
pub(crate) use table::{Cell, Column, Paint, Table};
pub(crate) use wrap::fill;
