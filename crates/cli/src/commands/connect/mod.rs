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

mod changes;
mod holders;
mod late;
mod listed;
mod omitted;
pub(crate) mod one_off;
mod progress;
mod questions;
mod running;
mod servers;
mod session;
mod tool;
mod trouble;
mod wait;

pub(crate) use changes::all_changes;
pub(crate) use holders::{Held, Holders};
pub(crate) use late::late;
pub(crate) use listed::Listed;
pub(crate) use omitted::omitted;
pub(crate) use running::Running;
pub(crate) use servers::{all, for_tool, is_server, narrow, only, split_server};
pub(crate) use session::{with_call, with_checks, with_servers};
pub(crate) use tool::tool;
pub(crate) use trouble::{CutList, Trouble, cut_lists, refused};
pub(crate) use wait::{answered, ready, settled};
