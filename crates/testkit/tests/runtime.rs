//! The runtime against servers that do what a test tells them, in a home of their own.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop at once")]

mod runtime {
    mod approvals;
    mod calls;
    mod changes;
    mod exactly_once;
    mod extras;
    mod host;
    mod levels;
    mod lifecycle;
    mod listening;
    mod panics;
    mod questions;
    mod recorder;
    mod remote;
    mod secrets;
    mod spans;
    mod world;
}
