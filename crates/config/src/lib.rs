//! Finds, reads, merges, checks and edits the MCP server definitions of every program on a machine.
//!
//! ```text
//! files ─ discover ─ formats ─ trust ─ expand ─ validate ─ merge ─► Catalog
//! ```
//!
//! This crate has no async code, does not use the network, starts no process and does not read the
//! process's environment: the caller passes an [`Env`]. Reading does not fail as a whole; every
//! stage returns values and [`Problem`]s.
//!
//! The feature `discovery`, which is on by default, finds, reads and changes the files of other
//! programs. Without it, [`load`](fn@load) reads only `WHARF_MCP_SERVERS` and Wharf's own
//! `mcp.json`, and the modules `edit` and `manage` do not exist.
//!
//! The feature `http`, which is on by default and part of `discovery`, parses the addresses of
//! servers. Without it, a server has an address that is only compared as text.
//!
//! A program finds the servers that its user already has, adds its own, and sees which one is used
//! and why:
//!
//! ```
//! use wharf_config::{Catalog, DefinitionState, Env, Http, LoadOptions, Stdio, load};
//!
//! # let folder = tempfile::tempdir()?;
//! # let env = Env::new(wharf_config::Platform::HOST, folder.path()).with_home(folder.path());
//! # /*
//! let env = Env::of_process();
//! # */
//! let mut catalog: Catalog = load(&env, LoadOptions::default())?;
//! catalog.insert("time", Stdio::new("uvx").arg("mcp-server-time"));
//! catalog.insert("docs", Http::new("https://docs.example/mcp").bearer("token"));
//!
//! for server in catalog.winners() {
//!     println!("{}: {}", server.definition.name, server.state.word());
//!     server.problems.iter().for_each(|problem| println!("  {}", problem.message));
//! }
//! assert_eq!(catalog.winner("time").map(|server| server.state), Some(DefinitionState::Enabled));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | find the servers of all programs | [`load`](fn@load) |
//! | define servers and settings in code | [`Catalog::insert`], [`Stdio`], [`Http`], [`Settings::with`] |
//! | ask the person about servers of a project | [`Catalog::undecided`], [`TrustReview`], [`trust`] |
//! | list servers as JSON, with secrets redacted | [`view`] |
//! | add, remove, import and export servers | module `manage` |
//! | change a config file and keep its comments | module `edit` |

#![warn(missing_debug_implementations)]

mod catalog;
pub mod command;
mod credentials;
mod custom_transport;
mod defaults;
mod discover;
pub mod document;
mod duplicates;
#[cfg(feature = "discovery")]
pub mod edit;
mod env;
mod exa;
mod expand;
mod formats;
#[cfg(all(any(test, fuzzing), feature = "discovery"))]
pub mod fuzz;
#[cfg(feature = "discovery")]
pub mod manage;
mod merge;
mod named_files;
mod problem;
mod real_path;
pub mod secret;
mod server;
pub mod server_entry;
mod server_url;
pub mod settings;
pub mod shell;
mod source;
mod spec;
pub mod store;
mod switches;
pub mod text;
pub mod time;
pub mod trust;
mod untrusted_folder;
mod validate;
pub mod view;
#[cfg(windows)]
mod windows_search;

pub use catalog::{
    Catalog, DefinitionState, DiscoveryError, LoadOptions, ONE_OFF, PROGRAM, Server, TrustReview,
    load, load_one_off, load_with_settings,
};
pub use credentials::{
    ClientOrigin, Credential, CredentialError, CredentialSummary, Credentials, GrantKind,
    InvalidCredential, OAuthClient, OAuthGrant, TokenCopy, TokenType, credential_id,
    select_credential, select_summary,
};
pub use custom_transport::CustomTransport;
pub use env::{Env, NO_HOME, Platform};
pub use expand::{MissingReason, PlaceholderUse, Syntax, ValueOrigin};
pub use formats::providers;
pub use problem::{Problem, Severity};
pub use real_path::real_path;
pub use secret::Secret;
pub use server::{
    Approval, Auth, AuthKind, ConfigValue, DEFAULT_TIMEOUT_MS, Definition, Endpoint, EntryFields,
    LaunchCommand, NameError, NewServerName, OAuth, PROTOCOL_VERSIONS, Policy, ServerLimits,
    ServerName, ServerSpec, SwitchedOff, Timeouts, Transport, TransportKind, WrittenText,
};
pub use server_entry::{Http, ServerEntry, Stdio};
#[cfg(feature = "http")]
pub use server_url::ServerLocation;
pub use server_url::{ForbiddenCharacter, ServerUrl, ServerUrlError};
pub use settings::Settings;
pub use source::{FilePrecedence, Level, Rank, Source};
pub use spec::FieldUse;
