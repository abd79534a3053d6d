//! Runs the real binary in worlds of their own, verb by verb: exit code, stdout and stderr at once.

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
#[cfg(unix)]
mod trust_pty;
mod world;
