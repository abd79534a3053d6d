//! Approval of calls: who decides, what was answered earlier, and taking an answer back.
//!
//! `decision` asks settings, remembered answers and the host's approver, in this order. `remembered`
//! keeps answers for the session or in `approvals.json`, `grants` says what they cover, and `revoke` is
//! the interface for seeing them and taking them back.

mod decision;
mod grants;
mod remembered;
mod revoke;

pub use decision::{Answer, ApprovalRequest, Approver, Caller, Lasting};
pub use revoke::{ApprovalsError, RememberedApproval, forget_approvals};

pub(crate) use decision::{Approvals, Proposal};
pub(crate) use remembered::Remembered;
