//! The approver that decides in one view, and its answers that count for more than one call.
//!
//! An answer counts only where the approver that gave it decides. Those of the runtime's approver
//! for the session or for good are in the `ApprovalStore`; those of an approver that belongs to a
//! view, and all answers for one view, are here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::approver::{ApprovalLifetime, Approver};
use super::decision::{GrantScope, ProposedCall};
use super::grants::{GrantCheck, Grants};
use super::revoke::RememberedApproval;

/// An approver in one view, or in the runtime.
pub(super) struct ViewApprover {
    pub(super) approver: Option<Arc<dyn Approver>>,
    grants: Mutex<Grants>,
    owner: ApproverOwner,
}

/// Whom an approver belongs to.
enum ApproverOwner {
    Runtime,
    /// The view that it was set for.
    View,
    /// The view, or the runtime, that this view was made from.
    Above(Arc<ViewApprover>),
}

impl ViewApprover {
    pub(super) fn of_runtime(approver: Option<Arc<dyn Approver>>) -> Arc<Self> {
        Arc::new(Self { approver, grants: Mutex::default(), owner: ApproverOwner::Runtime })
    }

    pub(super) fn of_view(approver: Arc<dyn Approver>) -> Arc<Self> {
        let approver = Some(approver);
        Arc::new(Self { approver, grants: Mutex::default(), owner: ApproverOwner::View })
    }

    /// Returns the same approver in a view that is made from this one. What it approved here counts
    /// there, too.
    pub(super) fn in_view_below(self: &Arc<Self>) -> Arc<Self> {
        let (approver, owner) = (self.approver.clone(), ApproverOwner::Above(Arc::clone(self)));
        Arc::new(Self { approver, grants: Mutex::default(), owner })
    }

    /// Checks whether an earlier answer for this view, or for one above it, covers a call. A tool
    /// that has changed since it was approved here is not covered by what is above.
    pub(super) fn check(&self, call: &ProposedCall) -> GrantCheck {
        let here = self.grants().check_and_pin(call);
        match self.above() {
            Some(above) if here == GrantCheck::NotCovered => above.check(call),
            _ => here,
        }
    }

    /// Tells whether this is the runtime itself, not a view of it.
    pub(super) fn is_runtime(&self) -> bool {
        matches!(self.owner, ApproverOwner::Runtime)
    }

    /// Returns the same approver in the view that it was set for, or in the runtime.
    pub(super) fn owner(self: &Arc<Self>) -> &Arc<Self> {
        self.above().map_or(self, Self::owner)
    }

    /// Removes pins that a newer answer for more than this view replaces: those of this view and
    /// of the views above it, up to `owner`.
    pub(super) fn unpin_below(&self, owner: &Self, call: &ProposedCall) {
        if std::ptr::eq(self, owner) {
            return;
        }
        self.grants().unpin(call);
        if let Some(above) = self.above() {
            above.unpin_below(owner, call);
        }
    }

    fn above(&self) -> Option<&Arc<Self>> {
        match &self.owner {
            ApproverOwner::Above(above) => Some(above),
            ApproverOwner::Runtime | ApproverOwner::View => None,
        }
    }

    fn grants(&self) -> MutexGuard<'_, Grants> {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The views that have approvals of their own, as long as they live.
#[derive(Default)]
pub(super) struct GrantedViews(Mutex<Vec<Weak<ViewApprover>>>);

impl GrantedViews {
    /// Adds an approval to those of a view.
    pub(super) fn add(&self, view: &Arc<ViewApprover>, call: &ProposedCall, scope: GrantScope) {
        let mut views = self.views();
        // Dropped views are removed here, so that the list stays as long as there are views.
        views.retain(|known| known.strong_count() > 0 && known.as_ptr() != Arc::as_ptr(view));
        views.push(Arc::downgrade(view));
        view.grants().add(call, scope);
    }

    /// Returns the approvals of all views.
    pub(super) fn all(&self) -> Vec<RememberedApproval> {
        self.of_each(|grants| grants.to_remembered(ApprovalLifetime::View))
    }

    /// Revokes the approvals of a server, or of one of its tools, in all views, and returns them.
    pub(super) fn revoke(&self, server: &str, tool: Option<&str>) -> Vec<RememberedApproval> {
        self.of_each(|grants| grants.revoke(server, tool).to_remembered(ApprovalLifetime::View))
    }

    fn of_each(
        &self,
        get: impl Fn(&mut Grants) -> Vec<RememberedApproval>,
    ) -> Vec<RememberedApproval> {
        let views: Vec<_> = self.views().iter().filter_map(Weak::upgrade).collect();
        views.iter().flat_map(|view| get(&mut view.grants())).collect()
    }

    fn views(&self) -> MutexGuard<'_, Vec<Weak<ViewApprover>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use wharf_config::Approval;

    use super::super::approver::{AllowAll, ApprovalRequest};
    use super::*;

    fn call(tool: &str, pin: &str) -> ProposedCall {
        ProposedCall {
            request: ApprovalRequest::new("fs", tool, "{}".parse().unwrap()),
            policy: Approval::Ask,
            is_withheld: false,
            is_definition_lasting: true,
            definition: "d".into(),
            pin: Some(pin.into()),
        }
    }

    #[test]
    fn a_tool_that_changed_since_a_view_approved_it_is_not_covered_by_what_is_above() {
        let granted = GrantedViews::default();
        let above = ViewApprover::of_view(Arc::new(AllowAll));
        let below = above.in_view_below();
        granted.add(&above, &call("list", "p"), GrantScope::Server);
        granted.add(&below, &call("read", "p"), GrantScope::Tool);
        assert_eq!(below.check(&call("read", "p")), GrantCheck::Covered);
        for _ in 0..2 {
            assert_eq!(below.check(&call("read", "q")), GrantCheck::Lapsed);
        }
        below.unpin_below(below.owner(), &call("read", "q"));
        granted.add(below.owner(), &call("read", "q"), GrantScope::Tool);
        assert_eq!(below.check(&call("read", "q")), GrantCheck::Covered, "it was approved again");
    }

    #[test]
    fn dropped_views_have_no_approvals() {
        let granted = GrantedViews::default();
        let views = [(), ()].map(|()| ViewApprover::of_view(Arc::new(AllowAll)));
        for view in &views {
            granted.add(view, &call("read", "p"), GrantScope::Tool);
            granted.add(view, &call("list", "p"), GrantScope::Tool);
        }
        assert_eq!(granted.all().len(), 2);
        let [kept, dropped] = views;
        drop(dropped);
        assert_eq!(granted.all().len(), 1);
        granted.add(&kept, &call("write", "p"), GrantScope::Tool);
        assert_eq!(granted.views().len(), 1);
    }
}
