//! Approval of tool calls.
//!
//! `decision` checks the settings, then stored approvals, then asks the host's approver.
//! `approver` has the trait of the host and ready-made approvers, `policy` one that decides by
//! rules. `approval_store` stores approvals for the session or in `approvals.json`, `grants` checks
//! what they cover, and `revoke` lists and revokes them. `view_approver` has the approvers of views,
//! and the approvals that count for one view.

mod approval_store;
mod approver;
mod decision;
mod grants;
mod policy;
mod revoke;
mod view_approver;

pub use approver::{
    AllowAll, ApprovalAnswer, ApprovalLifetime, ApprovalRequest, Approver, CallOrigin, DenyAll,
};
pub use policy::{ApprovalPolicy, PolicyAction};
pub use revoke::{ApprovalsError, RememberedApproval, revoke_approvals};

pub(crate) use approval_store::ApprovalStore;
pub(crate) use decision::{Approvals, ProposedCall};
