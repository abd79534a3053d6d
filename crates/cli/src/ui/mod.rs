//! The door to the person: everything that is written to the screen, and what is asked.
//!
//! Data goes to stdout, all else to stderr. `screen` writes and asks, `keyboard` reads, `json`,
//! `lines`, `table` and `wrap` lay out, `log` takes the log, `style` knows the colours, `phrase`
//! has the words that several verbs share, `time_ago` tells when something was.

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
