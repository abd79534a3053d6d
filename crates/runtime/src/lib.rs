//! MCP servers for programs written in Rust: finds the configured servers, connects to all of them
//! at once, and calls their tools.
//!
//! ```no_run
//! use wharf::approval::ApprovalPolicy;
//! use wharf::{Env, Runtime};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let policy = ApprovalPolicy::new().allow("clock/now");
//!     let builder = Runtime::builder().env(Env::of_process()).discover(".").approver(policy);
//!     let runtime = builder.start().await?;
//!     for tool in runtime.ready().await.tools() {
//!         println!("{}", tool.name());
//!     }
//!     println!("{}", runtime.call("clock/now", ()).await.text);
//!     runtime.shutdown().await;
//!     Ok(())
//! }
//! ```
//!
//! What happens in between:
//!
//! ```text
//! Catalog ─ trust_gate ─ resolve ─ connections ─► Snapshot ─► Registry ─► execute ─► Outcome
//! ```
//!
//! [`Runtime`] is the handle for everything; [`discover_and_load_mcp_tools`] is one call that does
//! all of it for an agent. What most programs need is at the root of this crate; the modules have
//! the rest of each subject, and [`config`] and [`protocol`] are the crates below. [`model_formats`]
//! writes tools and outcomes for model providers. Types of other crates in signatures are in
//! [`third_party`].
//!
//! Runtimes share no servers and no settings: the host passes the environment as [`Env`]. This crate
//! never prints, prompts, or reads the environment of the process; only on macOS and Windows, the
//! library for root certificates reads `SSL_CERT_FILE` and `SSL_CERT_DIR`, and on Linux, the one for
//! the keychain reads the address of the session bus. On Unix, all runtimes of
//! a process share the threads that start and end processes, and the list of process groups that
//! they have started.

#![warn(missing_debug_implementations)]

mod advice;
pub mod approval;
pub mod arguments;
#[cfg(feature = "oauth")]
pub mod auth;
mod builder;
mod cached_tools;
pub mod call;
mod call_context;
mod call_record;
mod client_features;
mod connections;
mod credentials;
mod earlier_runs;
pub mod elicitation;
mod event;
mod execute;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "discovery")]
mod load;
mod log_entry;
mod logs;
pub mod model_formats;
mod options;
#[cfg(feature = "otel")]
pub mod otel;
mod own_transport;
mod resolve;
mod resources_and_prompts;
mod runtime;
mod scope;
mod scoped_requests;
mod serialized_errors;
#[cfg(feature = "oauth")]
mod signing_in;
mod spans;
mod startup;
mod status;
mod stderr;
mod store;
#[cfg(feature = "thinking")]
pub mod thinking;
pub mod third_party;
mod tool_review;
mod tool_servers;
pub mod tools;
mod trace;
mod trust_decider;
mod trust_gate;
mod view;
mod violations;

pub use approval::{
    AllowAll, ApprovalAnswer, ApprovalLifetime, ApprovalPolicy, ApprovalRequest, ApprovalsError,
    Approver, CallOrigin, DenyAll, PolicyAction, RememberedApproval, revoke_approvals,
};
pub use arguments::Arguments;
pub use builder::RuntimeBuilder;
pub use cached_tools::cached_tools;
pub use call::{CallDetails, CallError, CallErrorKind, CallErrorReason, CallPhase, Outcome};
pub use call_context::CallContext;
pub use call_record::{CallRecord, CallSink};
pub use client_features::{ClientFeatures, ElicitationRequest, Elicitor, Sampler, SamplingRequest};
pub use connections::{CatalogChanges, ConnectionInfo, ServerSnapshot, Snapshot};
pub use credentials::{
    CredentialLock, CredentialPlaces, CredentialQuery, CredentialStorage, CredentialStore,
    CredentialStoreError, FileCredentials, MemoryCredentials, StoredCredential, UserCredentials,
};
pub use earlier_runs::{EarlierRun, earlier_runs, start_folders};
pub use event::{Event, Events, MissedEvents, TimedEvent};
pub use execute::{CallOptions, ToolCall, ToolRef};
#[cfg(feature = "discovery")]
pub use load::{LoadError, LoadedTools, discover_and_load_mcp_tools, discover_mcp_servers};
pub use log_entry::LogEntry;
pub use logs::{log_entries, log_path};
pub use options::{Options, StartupMode};
pub use own_transport::custom_transport;
#[cfg(feature = "serve")]
pub use own_transport::in_process;
pub use resolve::has_variable;
pub use runtime::{Runtime, Unavailable, UnknownServer};
pub use scope::ViewOptions;
pub use scoped_requests::CollectedList;
pub use status::{FailureKind, ServerFailure, Status};
pub use stderr::last_meaningful_line;
pub use store::attempts::LastAttempt;
pub use store::tool_cache::clear_cache;
pub use store::{RecordKind, StoredRecord, StoredRecords, stored_records};
pub use tool_review::ToolReview;
pub use tool_servers::{ToolServers, servers_of_tool};
pub use tools::{Freshness, Registry, Tool};
pub use trace::{TraceKind, TraceLine, TraceSink};
pub use trust_decider::{TrustDecider, TrustDecision};
pub use view::View;

pub use wharf_config as config;
pub use wharf_protocol as protocol;

pub use wharf_config::{
    Approval, Catalog, Credential, CustomTransport, DiscoveryError, Env, Http, LoadOptions,
    Platform, Problem, Secret, Server, ServerEntry, ServerName, Settings, Stdio,
};
pub use wharf_protocol::Json;
pub use wharf_protocol::transport::BoxFuture;
