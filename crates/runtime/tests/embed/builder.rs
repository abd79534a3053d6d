//! The builder: what it reads, starts and stores, and how catalogs are applied.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use wharf::config::settings::SettingValue;
use wharf::config::{Platform, Problem, load};
use wharf::{
    Approval, Catalog, CredentialQuery, CredentialStore, CredentialStoreError, Env, Event, Http,
    LoadOptions, Options, Runtime, Server, ServerName, Settings, Status, StoredCredential,
    TrustDecision, discover_and_load_mcp_tools,
};

use super::world::{CallCount, notes};

fn env(folder: &Path) -> Env {
    let home = folder.join("home");
    std::fs::create_dir_all(home.join(".wharf")).unwrap();
    std::fs::create_dir_all(folder.join("project")).unwrap();
    Env::new(Platform::HOST, folder.join("project")).with_home(home)
}

fn files(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.push(path.strip_prefix(folder).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    all.sort();
    all
}

#[tokio::test]
async fn a_builder_without_servers_starts_none() {
    let folder = tempfile::tempdir().unwrap();
    let env = env(folder.path()).with_variable("WHARF_MCP_SERVERS", "{}");
    let project = env.cwd.clone();
    for builder in [
        Runtime::builder(),
        Runtime::builder().env(env.clone()),
        Runtime::builder().env(env.clone()).discover(&project),
    ] {
        let runtime = builder.start().await.unwrap();
        assert_eq!(runtime.settled().await.servers().count(), 0);
        runtime.shutdown().await;
    }
    let loaded = discover_and_load_mcp_tools(&project, Options::new(env)).await;
    let runtime = loaded.runtime.unwrap();
    assert_eq!(runtime.snapshot().servers().count(), 0);
    runtime.shutdown().await;
}

#[tokio::test]
async fn applying_an_empty_catalog_removes_every_server_and_says_so() {
    let entry = notes(&CallCount::default());
    let builder = Runtime::builder().server("notes", entry);
    let mut events = builder.events();
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    let changes = runtime.apply(&Catalog::new(&Env::of_process())).await.unwrap();
    assert_eq!(changes.removed.iter().map(ServerName::as_str).collect::<Vec<_>>(), ["notes"]);
    assert_eq!(runtime.snapshot().servers().count(), 0);
    assert!(runtime.tools().is_empty());
    runtime.shutdown().await;
    let mut removed = Vec::new();
    while let Some(event) = events.next().await {
        if let Event::Removed { server } = event {
            removed.push(server.as_str().to_owned());
        }
    }
    assert_eq!(removed, ["notes"]);
}

#[tokio::test]
async fn a_catalog_can_be_edited_and_applied_while_other_servers_stay_connected() {
    let calls = CallCount::default();
    let mut catalog = Catalog::new(&Env::of_process());
    catalog.insert("kept", notes(&calls).approval(Approval::Never));
    catalog.insert("dropped", notes(&calls));
    let runtime = Runtime::start(&catalog, Options::new(Env::of_process()));
    runtime.settled().await;
    let connected = |server: &str| {
        let snapshot = runtime.snapshot();
        snapshot.server(server).map(|server| server.status)
    };
    assert_eq!(connected("dropped"), Some(Status::Connected));
    let mut edited = catalog.clone();
    edited.remove("dropped");
    edited.insert("new", notes(&calls).approval(Approval::Never));
    let changes = runtime.apply(&edited).await.unwrap();
    assert_eq!(
        (changes.added.len(), changes.removed.len(), changes.changed.len(), changes.unchanged),
        (1, 1, 0, 1)
    );
    runtime.settled().await;
    assert_eq!((connected("kept"), connected("dropped")), (Some(Status::Connected), None));
    assert!(runtime.call("new/read_note", ()).await.ok());
    runtime.shutdown().await;
}

#[tokio::test]
async fn settings_from_code_replace_those_of_files() {
    let settings = Settings::default().with("tools.naming", "precise").unwrap();
    let builder = Runtime::builder().server("my-notes", notes(&CallCount::default()));
    let runtime = builder.settings(settings).start().await.unwrap();
    runtime.settled().await;
    let names: Vec<String> = runtime.tools().iter().map(|tool| tool.name().to_owned()).collect();
    assert!(names.contains(&"mcp__my_notes__read_note".to_owned()), "{names:?}");
    runtime.shutdown().await;
}

/// A store of tokens that counts how often it is read.
#[derive(Default)]
struct CountingStore(Arc<AtomicUsize>);

impl CredentialStore for CountingStore {
    fn find(
        &self,
        _: &CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(None)
    }
}

#[tokio::test]
async fn the_order_of_setters_does_not_matter() {
    for is_env_last in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let env = env(folder.path()).with_variable("WHARF_MCP_SERVERS", "");
        let asked = Arc::new(AtomicUsize::new(0));
        let store = CountingStore(Arc::clone(&asked));
        // Nothing listens on the port, so only the token is looked up.
        let far = Http::new("http://127.0.0.1:9/mcp");
        let builder = Runtime::builder().server("far", far);
        let load_options = LoadOptions { without_project: true, ..LoadOptions::default() };
        let builder = if is_env_last {
            builder.credentials(store).with_defaults().load_options(load_options).env(env)
        } else {
            builder.env(env).load_options(load_options).with_defaults().credentials(store)
        };
        let defaults = builder.discover(".");
        assert!(defaults.catalog().unwrap().servers.len() > 1, "the default servers are there");
        let settings = Settings::default().with("discovery.disabled", ["defaults"]).unwrap();
        let runtime = defaults.settings(settings).start().await.unwrap();
        assert_eq!(runtime.snapshot().servers().count(), 1);
        runtime.settled().await;
        assert!(asked.load(Ordering::SeqCst) > 0, "the store of the host is asked");
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn settings_from_code_say_which_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let env = env(folder.path());
    let text = json!({ "mcpServers": { "notes": { "command": "wharf-no-such-program" } } });
    let write = |path: &str, text: &str| {
        wharf::config::store::write(&folder.path().join(path), text).unwrap();
    };
    write("home/.cursor/mcp.json", &text.to_string());
    write("project/.mcp.json", &text.to_string());
    write("home/.wharf/config.toml", "discovery.disabled = []\nwrong = 1\n");
    let builder = || Runtime::builder().env(env.clone()).discover(".");
    assert_eq!(builder().catalog().unwrap().servers.len(), 2);
    let catalog_with = |key: &str, value: SettingValue| {
        builder().settings(Settings::default().with(key, value).unwrap()).catalog().unwrap()
    };
    let sources = |catalog: &Catalog| -> Vec<&str> {
        catalog.servers.iter().map(|server| server.definition.source.provider).collect()
    };
    let without_cursor = catalog_with("discovery.disabled", ["cursor"].into());
    assert_eq!(sources(&without_cursor), ["mcp-json"]);
    assert!(without_cursor.problems.is_empty(), "the file of the settings is not read");
    let without_project = catalog_with("discovery.project", false.into());
    assert_eq!(sources(&without_project), ["cursor"]);
}

#[tokio::test]
async fn a_relative_folder_needs_an_environment() {
    let error = Runtime::builder().discover("here").start().await.unwrap_err();
    assert_eq!(
        format!("{error}; {}", error.hint()),
        "the folder \"here\" is relative, but no environment was given; \
         give an absolute folder, or the environment with its working folder"
    );
}

#[tokio::test]
async fn a_server_from_code_wins_over_a_definition_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let env = env(folder.path());
    let text = json!({ "mcpServers": { "notes": { "command": "wharf-no-such-program" } } });
    let file = folder.path().join("home/.wharf/mcp.json");
    wharf::config::store::write(&file, &text.to_string()).unwrap();
    let project = env.cwd.clone();
    let entry = notes(&CallCount::default()).approval(Approval::Never);
    let builder = Runtime::builder().env(env).discover(project).server("notes", entry);
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    assert!(runtime.call("notes/read_note", ()).await.ok());
    assert_eq!(runtime.snapshot().servers().count(), 1);
    runtime.shutdown().await;
}

#[tokio::test]
async fn nothing_is_written_unless_a_folder_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let env = env(folder.path());
    let entry = || notes(&CallCount::default()).approval(Approval::Never);
    let builder = Runtime::builder().env(env.clone()).discover(&env.cwd).server("notes", entry());
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    assert!(runtime.call("notes/read_note", ()).await.ok());
    runtime.text_for_model(
        &runtime.call("notes/read_note", json!({ "x": "y".repeat(500_000) })).await,
    );
    runtime.shutdown().await;
    assert_eq!(files(folder.path()), Vec::<String>::new());

    let store = folder.path().join("store");
    let builder = Runtime::builder().env(env).server("notes", entry()).store_in(&store);
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    runtime.shutdown().await;
    let written = files(folder.path());
    assert!(
        !written.is_empty() && written.iter().all(|path| path.starts_with("store")),
        "{written:?}"
    );
}

#[tokio::test]
async fn names_do_not_depend_on_who_connects_first() {
    let mut all = Vec::new();
    for first in ["a-b", "a_b"] {
        let second = if first == "a-b" { "a_b" } else { "a-b" };
        let entry = || notes(&CallCount::default()).lazy();
        let builder = Runtime::builder().server("a-b", entry()).server("a_b", entry());
        let runtime = builder.start().await.unwrap();
        runtime.wait_for(first).await.unwrap();
        runtime.wait_for(second).await.unwrap();
        let names: Vec<(String, String)> = runtime
            .tools()
            .iter()
            .map(|tool| (tool.server().as_str().to_owned(), tool.name().to_owned()))
            .collect();
        all.push(names);
        runtime.shutdown().await;
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0].len(), 10);
}

#[test]
fn a_catalog_of_an_environment_without_files_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = load(&env(folder.path()), LoadOptions::default()).unwrap();
    assert!(catalog.servers.is_empty());
    let with_defaults = LoadOptions { with_defaults: true, ..LoadOptions::default() };
    assert!(!load(&env(folder.path()), with_defaults).unwrap().servers.is_empty());
}

#[tokio::test]
async fn problems_of_files_and_of_decisions_are_returned() {
    let folder = tempfile::tempdir().unwrap();
    let env = env(folder.path());
    let write = |path: &str, text: &str| {
        wharf::config::store::write(&folder.path().join(path), text).unwrap();
    };
    write("home/.cursor/mcp.json", "{ broken");
    write("project/.wharf/mcp.json", r#"{"mcpServers":{"far":{"url":"http://127.0.0.1:9/"}}}"#);
    let refuse = async |_: Server| TrustDecision::Skip;
    let builder = Runtime::builder().env(env.clone()).discover(".").trust_decider(refuse);
    let runtime = builder.start().await.unwrap();
    let is_broken_file = |problem: &Problem| {
        problem.is_error() && problem.path.as_ref().is_some_and(|path| path.ends_with("mcp.json"))
    };
    assert!(runtime.problems().iter().any(is_broken_file), "{:?}", runtime.problems());
    let catalog = load(&env, LoadOptions::default()).unwrap();
    let changes = runtime.apply(&catalog).await.unwrap();
    assert!(changes.problems.iter().any(is_broken_file), "{changes:?}");
    runtime.apply(&Catalog::new(&env)).await.unwrap();
    assert_eq!(runtime.problems(), []);
    runtime.shutdown().await;
}

#[tokio::test]
async fn after_the_shutdown_every_function_says_so() {
    let builder = Runtime::builder().server("notes", notes(&CallCount::default()));
    let runtime = builder.start().await.unwrap();
    runtime.shutdown().await;
    let applied = runtime.apply(&Catalog::new(&Env::of_process())).await;
    assert_eq!(applied.unwrap_err().to_string(), "the runtime was shut down");
    let listed = runtime.resources(None).await;
    let errors: Vec<&str> = listed.errors.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(errors, ["notes"]);
    assert_eq!(listed.errors[0].1.message, "the runtime was shut down");
    let disconnected = runtime.disconnect("notes").await;
    assert_eq!(disconnected.unwrap_err().to_string(), "the runtime was shut down");
}
