//! Applying a catalog asks the trust decider about the untrusted servers of a project.

use std::sync::{Arc, Mutex};

use serde_json::json;
use wharf::config::{Platform, load};
use wharf::{
    BoxFuture, Env, Event, Http, LoadOptions, Runtime, Server, Status, TrustDecider, TrustDecision,
};

/// Records which servers it is asked about, and trusts `docs` for this run.
struct Recorder(Arc<Mutex<Vec<String>>>);

impl TrustDecider for Recorder {
    fn decide(&self, server: Server) -> BoxFuture<'_, TrustDecision> {
        let name = server.definition.name.as_str().to_owned();
        let decision = match name.as_str() {
            "docs" => TrustDecision::TrustOnce,
            _ => TrustDecision::Skip,
        };
        self.0.lock().unwrap().push(name);
        Box::pin(std::future::ready(decision))
    }
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a test's own folder needs no atomic writes")]
async fn an_applied_catalog_with_a_server_of_a_project_is_decided_about_first() {
    let folder = tempfile::tempdir().unwrap();
    let (home, project) = (folder.path().join("home"), folder.path().join("project"));
    std::fs::create_dir_all(&home).unwrap();
    std::fs::create_dir_all(&project).unwrap();
    // Nothing listens on the port, so a server that may be contacted fails.
    let entry = json!({ "type": "http", "url": "http://127.0.0.1:1/mcp" });
    let file = json!({ "mcpServers": { "docs": entry, "other": entry } });
    std::fs::write(project.join(".mcp.json"), file.to_string()).unwrap();
    let env = Env::new(Platform::HOST, &project).with_home(&home);

    let asked = Arc::default();
    let builder = Runtime::builder().env(env.clone()).trust_decider(Recorder(Arc::clone(&asked)));
    let runtime = builder.start().await.unwrap();
    assert!(asked.lock().unwrap().is_empty(), "no file was read yet");
    let catalog = load(&env, LoadOptions::default()).unwrap();
    let changes = runtime.apply(&catalog).await.unwrap();
    assert_eq!(*asked.lock().unwrap(), ["docs", "other"]);
    assert!(changes.removed.is_empty());
    runtime.settled().await;
    assert_eq!(runtime.status("docs"), Some(Status::Failed), "it was contacted");
    assert_eq!(runtime.status("other"), Some(Status::Untrusted));
    runtime.shutdown().await;
}

/// Trusts everything for this run.
fn trusting() -> impl TrustDecider {
    |_: Server| std::future::ready(TrustDecision::TrustOnce)
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a test's own folder needs no atomic writes")]
async fn a_trusted_server_that_duplicates_one_from_code_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (home, project) = (folder.path().join("home"), folder.path().join("project"));
    std::fs::create_dir_all(&home).unwrap();
    std::fs::create_dir_all(&project).unwrap();
    let url = "http://127.0.0.1:1/mcp";
    let file = json!({ "mcpServers": { "docs": { "type": "http", "url": url } } });
    std::fs::write(project.join(".mcp.json"), file.to_string()).unwrap();
    let env = Env::new(Platform::HOST, &project).with_home(&home);
    let expected = (Some("docs"), "it is started or reached like \"own\", which is used instead");

    let builder = Runtime::builder().env(env.clone()).discover(".").server("own", Http::new(url));
    let builder = builder.trust_decider(trusting());
    let mut events = builder.events();
    let runtime = builder.start().await.unwrap();
    let problem = loop {
        if let Some(Event::Problem { problem, .. }) = events.next().await {
            break problem;
        }
    };
    assert_eq!((problem.server.as_deref(), problem.message.as_str()), expected);
    assert_eq!(runtime.problems(), [problem]);
    assert!(runtime.snapshot().server("docs").is_none());
    runtime.shutdown().await;

    let builder = Runtime::builder().env(env.clone()).trust_decider(trusting());
    let runtime = builder.start().await.unwrap();
    let mut catalog = load(&env, LoadOptions::default()).unwrap();
    catalog.insert("own", Http::new(url));
    let changes = runtime.apply(&catalog).await.unwrap();
    let problems: Vec<_> =
        changes.problems.iter().map(|it| (it.server.as_deref(), it.message.as_str())).collect();
    assert_eq!(problems, [expected]);
    runtime.shutdown().await;
}
