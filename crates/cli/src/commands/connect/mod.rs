//! Connects for a verb: selects the servers, waits for them, reports progress and errors.
//!
//! ```text
//! one_off           a server from `--url` or `--` that is not configured
//! servers           selects the servers: one, those that could have a tool, or all; asks for trust
//! session           connects, runs the verb's work, prints, and shuts everything down
//! progress          the progress line: which servers are connecting, how far a call is
//! elicitation       asks the person for the input that servers request
//! running_call      the call in progress
//! wait              waits for the servers that a verb needs
//! tool              finds a tool by its name
//! server_errors     errors of servers that are not connected
//! tool_changes      tools that differ from their pins
//! matching_servers  the one server that has a prompt or resource
//! unawaited         servers that a listing did not wait for
//! listing_report    errors and exit code of a listing
//! omissions         values that were omitted from a server's configuration
//! ```
//!
//! Verbs that do not connect use nothing of this.

mod elicitation;
mod listing_report;
mod matching_servers;
mod omissions;
pub(crate) mod one_off;
mod progress;
mod running_call;
mod server_errors;
mod servers;
mod session;
mod tool;
mod tool_changes;
mod unawaited;
mod wait;

pub(crate) use listing_report::ListingReport;
pub(crate) use matching_servers::{MatchingServers, SoughtItem};
pub(crate) use omissions::omissions;
pub(crate) use progress::Progress;
pub(crate) use running_call::RunningCall;
pub(crate) use server_errors::{CutListJson, ServerErrorJson, cut_lists, request_failure};
pub(crate) use servers::{
    is_server, keep_servers, select_all, select_for_tool, select_one, split_server,
};
pub(crate) use session::{with_call, with_checks, with_servers, with_sign_in};
pub(crate) use tool::find_tool;
pub(crate) use tool_changes::describe_all_changes;
pub(crate) use unawaited::unawaited;
pub(crate) use wait::{ready, settled, settled_except_failing};
