//! Answers that count for more than one call, and taking them back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use wharf::approval::{Answer, ApprovalRequest, Approver, Lasting};
use wharf::protocol::transport::BoxFuture;
use wharf::{Options, Runtime};
use wharf_testkit::actor::Script;

use super::world::{World, call};

/// Says yes for ever, and counts how often it was asked.
struct Generous(Lasting, AtomicUsize);

impl Approver for Generous {
    fn approve(&self, _: ApprovalRequest) -> BoxFuture<'_, Answer> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Answer::AlwaysTool(self.0) })
    }
}

struct Stage {
    world: World,
    approver: Arc<Generous>,
}

impl Stage {
    fn new(lasting: Lasting) -> Self {
        let mut world = World::new();
        world.actor("fs", &Script::with_tools(["a", "b"]), json!({ "approval": "ask" }));
        Self { world, approver: Arc::new(Generous(lasting, AtomicUsize::new(0))) }
    }

    async fn start(&self) -> Runtime {
        let approver: Arc<dyn Approver> = Arc::clone(&self.approver) as _;
        let options = Options { approver: Some(approver), ..self.world.options() };
        let runtime = Runtime::start(&self.world.catalog(), options);
        runtime.settled().await;
        runtime
    }

    /// Calls a tool, and checks how often somebody was asked until then.
    async fn check(&self, runtime: &Runtime, tool: &str, asked: usize) {
        assert_eq!(call(runtime, tool, json!({})).await, "done");
        assert_eq!(self.approver.1.load(Ordering::SeqCst), asked, "{tool}");
    }
}

#[tokio::test]
async fn an_answer_for_good_counts_until_it_is_taken_back() {
    let stage = Stage::new(Lasting::ForGood);
    let runtime = stage.start().await;
    stage.check(&runtime, "mcp_fs_a", 1).await;
    stage.check(&runtime, "mcp_fs_b", 2).await;
    runtime.shutdown().await;

    let runtime = stage.start().await;
    stage.check(&runtime, "mcp_fs_a", 2).await;
    let all = runtime.approvals().await.unwrap();
    assert_eq!((all.len(), all[0].tools.join(",").as_str()), (1, "a,b"));
    let taken = runtime.forget_approvals("fs", Some("a")).await.unwrap();
    assert_eq!(taken[0].tools, ["a"]);
    stage.check(&runtime, "mcp_fs_b", 2).await;
    stage.check(&runtime, "mcp_fs_a", 3).await;

    // Somebody else may take it back, too, while we run.
    let home = stage.world.path("home/.wharf");
    assert_eq!(wharf::forget_approvals(&home, "fs", None).unwrap().len(), 1);
    stage.check(&runtime, "mcp_fs_b", 4).await;
    runtime.shutdown().await;
}

#[tokio::test]
async fn an_answer_for_the_session_can_be_taken_back() {
    let stage = Stage::new(Lasting::Session);
    let runtime = stage.start().await;
    stage.check(&runtime, "mcp_fs_a", 1).await;
    stage.check(&runtime, "mcp_fs_a", 1).await;
    assert_eq!(runtime.approvals().await.unwrap()[0].lasting, Lasting::Session);
    assert_eq!(runtime.forget_approvals("fs", None).await.unwrap().len(), 1);
    stage.check(&runtime, "mcp_fs_a", 2).await;
    assert!(runtime.forget_approvals("other", None).await.unwrap().is_empty());
    runtime.shutdown().await;
}
