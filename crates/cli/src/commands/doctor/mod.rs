//! `wharf doctor`: checks the configuration first, then the connections.
//!
//! ```text
//! wharf_files   Wharf's own files
//! keychain      the keychain of the system
//! config_files  the config files of all programs
//! server        each server, with `secrets` and `pass_env`
//! conflicts     problems between servers
//! connections   connects to the servers
//! check         the result of one check
//! run           runs the checks and prints them
//! ```

mod check;
mod config_files;
mod conflicts;
mod connections;
mod keychain;
mod pass_env;
mod run;
mod secrets;
mod server;
mod wharf_files;
mod windows_commands;

pub(crate) use run::{DoctorArgs, run};
