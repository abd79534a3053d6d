//! Runs the real binary, verb by verb, each test in its own temporary `World`. The snapshots have
//! the exit code, stdout and stderr.
//!
//! Most servers of the tests are shell scripts, and the questions are asked on pseudo-terminals, so
//! the modules that need them are compiled on Unix only.

#![expect(clippy::unwrap_used, reason = "tests may unwrap")]
#![expect(clippy::too_many_lines, reason = "snapshots are long")]

#[cfg(unix)]
mod add;
mod add_errors;
mod add_json;
#[cfg(unix)]
mod add_probe;
mod address;
#[cfg(unix)]
mod broken_files;
#[cfg(unix)]
mod cache;
#[cfg(unix)]
mod call;
#[cfg(unix)]
mod call_json;
#[cfg(unix)]
mod call_retries;
#[cfg(unix)]
mod call_unavailable;
mod colour;
#[cfg(unix)]
mod command_line_server;
#[cfg(unix)]
mod completion;
#[cfg(unix)]
mod completion_pty;
mod concurrent_writes;
mod config;
#[cfg(unix)]
mod connect_failures;
#[cfg(unix)]
mod connect_pty;
#[cfg(unix)]
mod credentials;
#[cfg(unix)]
mod doctor;
#[cfg(unix)]
mod doctor_connected;
#[cfg(unix)]
mod elicitation_pty;
mod enable_disable;
mod explain;
#[cfg(unix)]
mod export;
#[cfg(unix)]
mod file_arguments;
#[cfg(unix)]
mod floods;
mod get;
mod help_and_usage;
mod hints;
#[cfg(unix)]
mod hostile_repository;
#[cfg(unix)]
mod http_server;
#[cfg(unix)]
mod http_sse;
#[cfg(unix)]
mod import;
#[cfg(unix)]
mod import_export_pty;
mod invalid_values;
mod json_errors;
#[cfg(unix)]
mod killed;
mod list;
#[cfg(unix)]
mod logs;
#[cfg(unix)]
mod long_lists;
#[cfg(unix)]
mod mcp;
#[cfg(unix)]
mod message_trace;
#[cfg(unix)]
mod naming;
#[cfg(unix)]
mod omitted_values;
#[cfg(unix)]
mod pinned_protocol;
#[cfg(unix)]
mod progress_pty;
mod project_settings;
mod read_only_verbs;
#[cfg(unix)]
mod recent_failures;
mod recording_server;
#[cfg(unix)]
mod redirects;
mod remove;
#[cfg(unix)]
mod resources_and_prompts;
#[cfg(unix)]
mod revoked_approvals;
#[cfg(unix)]
mod search;
mod secrets;
#[cfg(unix)]
mod secrets_connected;
#[cfg(unix)]
mod secrets_echoed;
#[cfg(unix)]
mod server_history;
#[cfg(unix)]
mod server_script;
#[cfg(unix)]
mod server_variants;
#[cfg(unix)]
mod sign_in;
#[cfg(unix)]
mod sign_in_bad_input;
#[cfg(unix)]
mod sign_in_pty;
#[cfg(unix)]
mod sign_in_world;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod signals_pty;
#[cfg(unix)]
mod stale_cache;
#[cfg(unix)]
mod startup_gate;
#[cfg(unix)]
mod state_files;
#[cfg(unix)]
mod status;
#[cfg(unix)]
mod table_width_pty;
#[cfg(unix)]
mod test_and_reconnect;
#[cfg(unix)]
mod test_servers;
#[cfg(unix)]
mod token;
#[cfg(unix)]
mod token_pty;
#[cfg(unix)]
mod tool_lookup;
#[cfg(unix)]
mod tool_pins;
#[cfg(unix)]
mod tool_usage;
#[cfg(unix)]
mod tools;
#[cfg(unix)]
mod trust;
#[cfg(unix)]
mod trust_prompt;
#[cfg(unix)]
mod trust_pty;
#[cfg(unix)]
mod trust_scope;
#[cfg(unix)]
mod untrusted;
#[cfg(unix)]
mod unusable_tools;
#[cfg(unix)]
mod violations;
mod wharf_log;
mod world;
