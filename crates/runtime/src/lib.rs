//! MCP servers for programs written in Rust: found wherever they are configured, connected all at
//! once without making anybody wait, their tools offered safely.
//!
//! ```text
//! Catalog ─ gate ─ resolve ─ connections ─► Snapshot ─► Registry ─► call ─► Outcome
//! ```
//!
//! [`Runtime`] is the handle for everything; [`discover_and_load_mcp_tools`] is the short way for an
//! agent. No global state: the surroundings are handed in as [`config::Env`], and nothing here
//! prints, asks, or reads the process's own environment.

mod advice;
pub mod approval;
pub mod arguments;
mod asking;
mod cached;
pub mod call;
mod connections;
mod deciding;
pub mod elicitation;
mod event;
mod execute;
mod gate;
mod http;
mod known;
mod load;
mod log_entry;
mod logs;
mod lookup;
mod options;
#[cfg(feature = "otel")]
pub mod otel;
mod ports;
mod resolve;
mod runtime;
mod spans;
mod startup;
mod status;
mod stderr;
mod store;
pub mod thinking;
mod tool_review;
pub mod tools;
mod trace;
mod violations;

pub use approval::{ApprovalsError, RememberedApproval, forget_approvals};
pub use asking::Offered;
pub use cached::cached_tools;
pub use connections::{About, Applied, ServerView, Snapshot};
pub use deciding::{Decision, TrustDecider};
pub use event::{Event, Events};
pub use execute::{CallOptions, ToolRef};
pub use known::{Known, known, start_folders};
pub use load::{LoadError, LoadedTools, discover_and_load_mcp_tools, discover_mcp_servers};
pub use log_entry::LogEntry;
pub use logs::{log_entries, log_path, log_tail};
pub use lookup::{ToolServers, servers_of_tool};
pub use options::{Options, StartupMode};
pub use ports::{Elicitor, Ports, Sampler};
pub use resolve::{
    CredentialStore, CredentialStoreError, FileCredentials, WantedCredential, has_variable,
};
pub use runtime::{Runtime, Unavailable, UnknownServer};
pub use status::{Failure, FailureKind, Status};
pub use stderr::last_meaningful_line;
pub use store::attempts::LastAttempt;
pub use store::tool_cache::clear_cache;
pub use store::{RecordKind, StoredRecord, StoredRecords, stored_records};
pub use tool_review::ToolReview;
pub use trace::{TraceKind, TraceLine, TraceSink};

pub use wharf_config as config;
pub use wharf_protocol as protocol;
