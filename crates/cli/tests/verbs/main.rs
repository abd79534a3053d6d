//! Runs the real binary in worlds of their own, verb by verb: exit code, stdout and stderr at once.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may")]
#![expect(clippy::too_many_lines, reason = "a snapshot is as long as what it shows")]

mod colour;
mod config;
mod doctor;
mod explain;
mod get;
mod harmless;
mod list;
mod problems;
mod secrets;
mod start;
mod status;
mod trust;
mod trust_pty;
mod world;
