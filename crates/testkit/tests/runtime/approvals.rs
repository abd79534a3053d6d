//! Tests stored approvals and revoking them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use wharf::approval::{ApprovalAnswer, ApprovalLifetime, ApprovalRequest, Approver};
use wharf::protocol::transport::BoxFuture;
use wharf::{Options, Runtime};
use wharf_testkit::actor::Script;

use super::fixture::{Fixture, call};

/// Approves the tool for later calls, too, and counts how often it was asked.
struct AlwaysApprover(ApprovalLifetime, AtomicUsize);

impl Approver for AlwaysApprover {
    fn approve(&self, _: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { ApprovalAnswer::AlwaysTool(self.0) })
    }
}

struct ApprovalFixture {
    fixture: Fixture,
    approver: Arc<AlwaysApprover>,
}

impl ApprovalFixture {
    fn new(lifetime: ApprovalLifetime) -> Self {
        let mut fixture = Fixture::new();
        fixture.actor("fs", &Script::with_tools(["a", "b"]), json!({ "approval": "ask" }));
        Self { fixture, approver: Arc::new(AlwaysApprover(lifetime, AtomicUsize::new(0))) }
    }

    async fn start(&self) -> Runtime {
        let approver: Arc<dyn Approver> = Arc::clone(&self.approver) as _;
        let options = Options { approver: Some(approver), ..self.fixture.options() };
        let runtime = Runtime::start(&self.fixture.catalog(), options);
        runtime.settled().await;
        runtime
    }

    /// Calls a tool, and checks how often the approver was asked so far.
    async fn check(&self, runtime: &Runtime, tool: &str, asked: usize) {
        assert_eq!(call(runtime, tool, json!({})).await, "done");
        assert_eq!(self.approver.1.load(Ordering::SeqCst), asked, "{tool}");
    }
}

#[tokio::test]
async fn a_permanent_approval_counts_until_it_is_revoked() {
    let setup = ApprovalFixture::new(ApprovalLifetime::Permanent);
    let runtime = setup.start().await;
    setup.check(&runtime, "mcp_fs_a", 1).await;
    setup.check(&runtime, "mcp_fs_b", 2).await;
    runtime.shutdown().await;

    let runtime = setup.start().await;
    setup.check(&runtime, "mcp_fs_a", 2).await;
    let all = runtime.approvals().await.unwrap();
    assert_eq!((all.len(), all[0].tools.join(",").as_str()), (1, "a,b"));
    let taken = runtime.revoke_approvals("fs", Some("a")).await.unwrap();
    assert_eq!(taken[0].tools, ["a"]);
    setup.check(&runtime, "mcp_fs_b", 2).await;
    setup.check(&runtime, "mcp_fs_a", 3).await;

    // Another process may revoke it, too, while the runtime runs.
    let home = setup.fixture.path("home/.wharf");
    assert_eq!(wharf::revoke_approvals(&home, "fs", None).unwrap().len(), 1);
    setup.check(&runtime, "mcp_fs_b", 4).await;
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_session_approval_can_be_revoked() {
    let setup = ApprovalFixture::new(ApprovalLifetime::Session);
    let runtime = setup.start().await;
    setup.check(&runtime, "mcp_fs_a", 1).await;
    setup.check(&runtime, "mcp_fs_a", 1).await;
    assert_eq!(runtime.approvals().await.unwrap()[0].lifetime, ApprovalLifetime::Session);
    assert_eq!(runtime.revoke_approvals("fs", None).await.unwrap().len(), 1);
    setup.check(&runtime, "mcp_fs_a", 2).await;
    assert!(runtime.revoke_approvals("other", None).await.unwrap().is_empty());
    runtime.shutdown().await;
}
