//! The verbs, one file or folder each: the arguments with their help, and the implementation.
//!
//! A verb gets its arguments and an [`Invocation`], and returns an [`Exit`] or a [`Failure`], which
//! is printed once. A new verb is a file here and a line in `verbs`.

pub(crate) mod add;
pub(crate) mod add_json;
pub(crate) mod cache;
pub(crate) mod call;
mod catalog_history;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod config;
mod connect;
pub(crate) mod credentials;
mod defaults;
pub(crate) mod disable;
mod dispatch;
pub(crate) mod doctor;
pub(crate) mod enable;
pub(crate) mod explain;
pub(crate) mod export;
mod failure;
mod file_values;
pub(crate) mod get;
pub(crate) mod import;
pub(crate) mod invocation;
pub(crate) mod list;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod logs;
pub(crate) mod man;
pub(crate) mod mcp;
mod probe;
pub(crate) mod prompt;
pub(crate) mod prompts;
pub(crate) mod read;
pub(crate) mod reconnect;
pub(crate) mod remove;
pub(crate) mod resources;
mod server_args;
mod server_change;
mod server_credential;
mod sign_in;
mod start_check;
pub(crate) mod status;
pub(crate) mod test;
mod time_limit;
mod tool_usage;
pub(crate) mod tools;
mod trace;
mod transfer;
pub(crate) mod trust;
pub(crate) mod untrust;

pub(crate) use dispatch::run;
pub(crate) use failure::{Exit, Failure, report};
pub(crate) use invocation::Invocation;
