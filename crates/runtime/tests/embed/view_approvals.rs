//! Answers that count for more than one call, in views: where they count, and who can revoke them.

use std::sync::{Arc, Mutex};

use wharf::approval::{
    AllowAll, ApprovalAnswer, ApprovalLifetime, ApprovalPolicy, ApprovalRequest, DenyAll,
};
use wharf::{Event, Runtime, View, ViewOptions};

use super::world::{CallCount, notes, start_with_notes};

type Asked = Arc<Mutex<Vec<String>>>;

/// Returns an approver that records the tools it was asked about, and gives always one answer.
fn recorder(asked: &Asked, answer: &ApprovalAnswer) -> impl wharf::approval::Approver + use<> {
    let (asked, answer) = (Arc::clone(asked), answer.clone());
    move |request: ApprovalRequest| {
        asked.lock().unwrap().push(request.tool);
        std::future::ready(answer.clone())
    }
}

/// Starts a runtime whose own approver gives always this answer.
async fn start_with(asked: &Asked, answer: &ApprovalAnswer) -> Runtime {
    let builder = Runtime::builder().server("notes", notes(&CallCount::default()));
    let runtime = builder.approver(recorder(asked, answer)).start().await.unwrap();
    runtime.settled().await;
    runtime
}

async fn writes(view: &View) -> bool {
    view.call("notes/write_note", ()).await.ok()
}

/// The answers that count for more than one call.
fn lasting_answers() -> Vec<ApprovalAnswer> {
    use ApprovalLifetime::{Permanent, Session, View};
    let each = [View, Session, Permanent].into_iter();
    each.flat_map(|it| [ApprovalAnswer::AlwaysTool(it), ApprovalAnswer::AlwaysServer(it)]).collect()
}

#[tokio::test]
async fn a_deeper_view_cannot_lift_a_denial() {
    for answer in lasting_answers() {
        let folder = tempfile::tempdir().unwrap();
        let calls = CallCount::default();
        let builder = Runtime::builder().server("notes", notes(&calls));
        let runtime = builder.store_in(folder.path()).start().await.unwrap();
        runtime.settled().await;
        let policy = ApprovalPolicy::new().deny("notes").otherwise(AllowAll);
        let parent = runtime.view(ViewOptions::new().approver(policy));
        let asked = Asked::default();
        let child = parent.view(ViewOptions::new().approver(recorder(&asked, &answer)));
        for _ in 0..3 {
            assert!(!writes(&child).await, "{answer:?}");
        }
        assert!(!writes(&parent).await && !writes(&runtime.view(ViewOptions::new())).await);
        assert_eq!(asked.lock().unwrap().len(), 3, "an answer that was overruled is not stored");
        assert!(runtime.approvals().await.unwrap().is_empty(), "{answer:?}");
        assert_eq!(calls.get(), 0);
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn an_answer_of_a_view_does_not_count_for_the_runtime_or_for_other_views() {
    for answer in lasting_answers() {
        let folder = tempfile::tempdir().unwrap();
        let builder = Runtime::builder().server("notes", notes(&CallCount::default()));
        let builder = builder.store_in(folder.path()).approver(DenyAll);
        let mut events = builder.events();
        let runtime = builder.start().await.unwrap();
        runtime.settled().await;
        let asked = Asked::default();
        let view = runtime.view(ViewOptions::new().approver(recorder(&asked, &answer)));
        assert!(writes(&view).await && writes(&view).await);
        assert!(writes(&view.view(ViewOptions::new())).await);
        assert_eq!(asked.lock().unwrap().len(), 1, "{answer:?} counts for the view");
        assert!(!runtime.call("notes/write_note", ()).await.ok(), "{answer:?}");
        assert!(!writes(&runtime.view(ViewOptions::new())).await, "{answer:?}");
        let other = runtime.view(ViewOptions::new().approver(DenyAll));
        assert!(!writes(&other).await, "{answer:?}");
        let stored = runtime.approvals().await.unwrap();
        assert_eq!((stored.len(), stored[0].lifetime), (1, ApprovalLifetime::View));
        runtime.shutdown().await;
        let mut problems = Vec::new();
        while let Some(event) = events.next().await {
            if let Event::Problem { problem, .. } = event {
                problems.push(problem.message);
            }
        }
        let is_permanent = format!("{answer:?}").contains("Permanent");
        let expected = "the approval counts for this view only: only answers of the runtime's own \
                        approver are stored";
        assert_eq!(problems, vec![expected; usize::from(is_permanent)]);
    }
}

#[tokio::test]
async fn an_approver_of_a_view_decides_also_about_what_the_runtime_has_approved() {
    for answer in lasting_answers() {
        let runtime = start_with(&Asked::default(), &answer).await;
        assert!(runtime.call("notes/write_note", ()).await.ok());
        let closed = runtime.view(ViewOptions::new().approver(DenyAll));
        assert!(!writes(&closed).await, "{answer:?}");
        let shared = runtime.view(ViewOptions::new());
        assert!(writes(&shared).await);
        let narrower = shared.view(ViewOptions::new().approver(DenyAll));
        assert!(!writes(&narrower).await, "{answer:?}");
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn an_answer_for_the_session_counts_in_every_view_with_the_same_approver() {
    let asked = Asked::default();
    let runtime = start_with(&asked, &ApprovalAnswer::AlwaysTool(ApprovalLifetime::Session)).await;
    let [first, second] = [(), ()].map(|()| runtime.view(ViewOptions::new()));
    let with_own = second.view(ViewOptions::new().approver(AllowAll));
    assert!(writes(&first).await && writes(&second).await && writes(&with_own).await);
    assert!(runtime.call("notes/write_note", ()).await.ok());
    assert_eq!(asked.lock().unwrap().len(), 1);
    runtime.shutdown().await;
}

#[tokio::test]
async fn an_answer_for_the_session_from_a_view_counts_in_all_views_made_from_it() {
    let runtime = start_with_notes(&CallCount::default()).await;
    let asked = Asked::default();
    let always = ApprovalAnswer::AlwaysTool(ApprovalLifetime::Session);
    let view = runtime.view(ViewOptions::new().approver(recorder(&asked, &always)));
    let [first, second] = [(), ()].map(|()| view.view(ViewOptions::new()));
    assert!(writes(&first).await && writes(&second).await && writes(&view).await);
    assert_eq!(asked.lock().unwrap().len(), 1);
    runtime.shutdown().await;
}

#[tokio::test]
async fn an_answer_for_a_view_does_not_count_in_the_views_above_it() {
    let asked = Asked::default();
    let runtime = start_with(&asked, &ApprovalAnswer::AlwaysTool(ApprovalLifetime::View)).await;
    let view = runtime.view(ViewOptions::new());
    let below = view.view(ViewOptions::new().approver(AllowAll));
    assert!(writes(&below).await && writes(&below).await);
    assert_eq!(asked.lock().unwrap().len(), 1);
    assert!(writes(&view).await && writes(&view).await);
    assert_eq!(asked.lock().unwrap().len(), 2);
    assert!(runtime.call("notes/write_note", ()).await.ok());
    assert_eq!(asked.lock().unwrap().len(), 3);
    runtime.shutdown().await;
}

#[tokio::test]
async fn approvals_of_views_are_listed_and_revoked() {
    let asked = Asked::default();
    let runtime = start_with(&asked, &ApprovalAnswer::AlwaysTool(ApprovalLifetime::View)).await;
    let view = runtime.view(ViewOptions::new());
    assert!(writes(&view).await && runtime.call("notes/write_note", ()).await.ok());
    let lifetimes = async || {
        let all = runtime.approvals().await.unwrap();
        all.iter().map(|approval| approval.lifetime).collect::<Vec<_>>()
    };
    assert_eq!(lifetimes().await, [ApprovalLifetime::Session, ApprovalLifetime::View]);
    assert!(runtime.revoke_approvals("other", None).await.unwrap().is_empty());
    let revoked = runtime.revoke_approvals("notes", Some("write_note")).await.unwrap();
    assert_eq!(revoked.len(), 2);
    assert!(lifetimes().await.is_empty());
    assert_eq!(asked.lock().unwrap().len(), 2);
    assert!(writes(&view).await);
    assert_eq!(asked.lock().unwrap().len(), 3, "the view is asked again");
    drop(view);
    assert!(lifetimes().await.is_empty(), "the view is gone");
    runtime.shutdown().await;
}

#[tokio::test]
async fn an_answer_for_a_view_counts_in_that_view_and_below() {
    let runtime = start_with_notes(&CallCount::default()).await;
    let asked = Arc::default();
    let always = ApprovalAnswer::AlwaysTool(ApprovalLifetime::View);
    let approver: Arc<dyn wharf::approval::Approver> = Arc::new(recorder(&asked, &always));
    let [first, second] =
        [(), ()].map(|()| runtime.view(ViewOptions::new().approver(Arc::clone(&approver))));
    for _ in 0..3 {
        assert!(first.call("notes/write_note", ()).await.ok());
    }
    assert_eq!(asked.lock().unwrap().len(), 1, "asked once for this view");
    let below = first.view(ViewOptions::new());
    assert!(below.call("notes/write_note", ()).await.ok());
    assert_eq!(asked.lock().unwrap().len(), 1, "the answer counts below");
    assert!(second.call("notes/write_note", ()).await.ok());
    assert_eq!(asked.lock().unwrap().len(), 2, "another view is asked for itself");
    runtime.shutdown().await;
}
