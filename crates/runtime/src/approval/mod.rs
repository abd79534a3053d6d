//! Approval of calls: who decides, what was answered earlier, and taking an answer back.
//!
//! `decision` asks settings, remembered answers and the host's approver, in this order.
//! `approval_store` keeps answers for the session or in `approvals.json`, `grants` says what they
//! cover, and `revoke` is the interface for seeing them and taking them back.

mod approval_store;
mod decision;
mod grants;
mod revoke;

pub use decision::{ApprovalAnswer, ApprovalLifetime, ApprovalRequest, Approver, CallOrigin};
pub use revoke::{ApprovalsError, RememberedApproval, revoke_approvals};

pub(crate) use approval_store::ApprovalStore;
pub(crate) use decision::{Approvals, ProposedCall};
