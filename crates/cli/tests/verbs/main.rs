//! Runs the real binary in worlds of their own, verb by verb: exit code, stdout and stderr at once.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may")]
#![expect(clippy::too_many_lines, reason = "a snapshot is as long as what it shows")]

mod add;
mod add_json;
mod add_refused;
mod address;
mod agreed;
mod call;
mod colour;
mod completion;
mod completion_pty;
mod config;
mod connect_pty;
mod crash;
mod doctor;
mod doctor_connected;
mod explain;
mod export;
mod files;
mod gate;
mod get;
mod harmless;
mod hostile;
mod import;
mod killed;
mod known;
mod list;
mod log;
mod logs;
mod lookup;
mod loopback;
mod mcp;
mod naming;
mod narrow_pty;
mod offered;
mod one_off;
mod pinned;
mod problems;
mod progress_pty;
mod questions_pty;
mod remove;
mod search;
mod secrets;
mod secrets_connected;
mod servers;
mod signals;
mod signals_pty;
mod start;
mod state_files;
mod status;
mod switch;
mod taken_back;
mod tested;
mod token;
mod token_pty;
mod tools;
mod transfer_pty;
mod trust;
mod trust_pty;
mod trust_shown;
mod untrusted;
mod usage;
mod world;
