//! What the verbs that connect have in common.
//!
//! ```text
//! one_off    a server that is given on the command line and configured nowhere
//! servers    which ones: named, those that could offer a tool, or all, with the trust question asked in place
//! session    the one place that waits: connects, lets the verb work, shows, ends everything
//! progress   the line that says who is awaited, and how far a call is
//! questions  what servers ask the person meanwhile
//! running    the call that it is about
//! wait       for what a verb needs, and not for more
//! tool       the tool that is meant
//! trouble    what is said about servers that are not there
//! changes    tools that are not what they were
//! holders    which server is meant by something that one of them has
//! late       servers that were not waited for
//! listed     how a listing of many servers ends
//! omitted    what had to be left out of servers
//! ```
//!
//! Nothing here is touched by a verb that only looks.

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
pub(crate) use running_call::RunningCall;
pub(crate) use server_errors::{CutListJson, ServerErrorJson, cut_lists, request_failure};
pub(crate) use servers::{
    is_server, keep_servers, select_all, select_for_tool, select_one, split_server,
};
pub(crate) use session::{with_call, with_checks, with_servers};
pub(crate) use tool::find_tool;
pub(crate) use tool_changes::describe_all_changes;
pub(crate) use unawaited::unawaited;
pub(crate) use wait::{ready, settled, settled_except_failing};
