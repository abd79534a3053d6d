//! Approval of tool calls.
//!
//! `decision` checks the settings, then stored approvals, then asks the host's approver.
//! `approval_store` stores approvals for the session or in `approvals.json`, `grants` checks what
//! they cover, and `revoke` lists and revokes them.

mod approval_store;
mod decision;
mod grants;
mod revoke;

pub use decision::{ApprovalAnswer, ApprovalLifetime, ApprovalRequest, Approver, CallOrigin};
pub use revoke::{ApprovalsError, RememberedApproval, revoke_approvals};

pub(crate) use approval_store::ApprovalStore;
pub(crate) use decision::{Approvals, ProposedCall};
