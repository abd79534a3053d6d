//! Runs the real binary in worlds of their own, verb by verb: exit code, stdout and stderr at once.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may")]
#![expect(clippy::too_many_lines, reason = "a snapshot is as long as what it shows")]

mod add;
mod add_json;
mod add_refused;
mod colour;
mod config;
mod crash;
mod doctor;
mod explain;
mod export;
mod get;
mod harmless;
mod import;
mod list;
mod mcp;
mod narrow_pty;
mod problems;
mod remove;
mod secrets;
mod start;
mod status;
mod switch;
mod token;
mod token_pty;
mod transfer_pty;
mod trust;
mod trust_pty;
mod trust_shown;
mod world;
