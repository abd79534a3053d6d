//! What happens when lists, definitions and catalogs change under way.

use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::{Value, json};
use wharf::config::{Catalog, LoadOptions, ServerName, load};
use wharf::{Event, Runtime, Status};
use wharf_testkit::actor::Script;

use super::world::{LIMIT, World, call, is_alive, shown, tools, until};

#[tokio::test]
async fn a_changed_list_of_tools_arrives_without_a_restart() {
    let mut world = World::new();
    let diary = world.actor("fs", &Script::with_tools(["one"]), json!({}));
    let runtime = world.start();
    runtime.ready().await;
    call(&runtime, "mcp_fs_one", json!({ "tools": ["one", "two"] })).await;
    let snapshot = until(&runtime, "two appears", |it| it.registry().tools().len() == 2).await;
    assert_snapshot!(tools(&snapshot), @"
    mcp_fs_one Live
    mcp_fs_two Live
    ");
    assert_eq!(diary.starts().len(), 1);
    runtime.shutdown().await;
}

#[tokio::test]
async fn only_what_changed_is_restarted() {
    let mut world = World::new();
    let same = world.actor("same", &Script::with_tools(["a"]), json!({}));
    let policy = world.actor("policy", &Script::with_tools(["a", "b"]), json!({}));
    let other = world.actor("other", &Script::with_tools(["a"]), json!({}));
    let gone = world.actor("gone", &Script::with_tools(["a"]), json!({}));
    let runtime = world.start();
    runtime.ready().await;
    world.change("policy", "excludeTools", json!(["b"]));
    world.change("other", "env", json!({ "LEVEL": "debug" }));
    world.remove("gone");
    world.actor("new", &Script::with_tools(["a"]), json!({}));
    let applied = runtime.apply(&world.catalog()).await;
    assert_snapshot!(format!("{applied:?}"), @r#"Applied { added: [ServerName("new")], removed: [ServerName("gone")], changed: [ServerName("other"), ServerName("policy")], unchanged: 1 }"#);
    let snapshot = runtime.settled().await;
    assert_snapshot!(shown(&snapshot), @"
    new connected 1
    other connected 1
    policy connected 1
    same connected 1
    ");
    let starts = [same, policy, other, gone].map(|diary| diary.starts().len());
    assert_eq!(starts, [1, 1, 2, 1]);
    runtime.shutdown().await;
}

/// The ways in which a program gets a catalog without servers.
fn empty_catalogs(world: &World) -> [Catalog; 2] {
    let env = world.env().with_variable("WHARF_MCP_SERVERS", "{}");
    let mut emptied = world.catalog();
    emptied.keep_only(|_| false);
    [load(&env, LoadOptions::default()).unwrap(), emptied]
}

#[tokio::test]
async fn an_empty_catalog_ends_every_server_and_starts_no_defaults() {
    let mut world = World::new();
    let eager = world.actor("fs", &Script::with_tools(["a"]), json!({}));
    let lazy = world.actor("lazy", &Script::with_tools(["b"]), json!({ "lazy": true }));
    let starts = || [eager.starts(), lazy.starts()].concat();
    for empty in empty_catalogs(&world) {
        let runtime = world.start();
        runtime.ready().await;
        runtime.connect("lazy").await.unwrap();
        let before = starts();
        let applied = runtime.apply(&empty).await;
        let removed: Vec<&str> = applied.removed.iter().map(ServerName::as_str).collect();
        assert_eq!(removed, ["fs", "lazy"]);
        assert_eq!((applied.added.len(), applied.changed.len(), applied.unchanged), (0, 0, 0));
        let snapshot = runtime.settled().await;
        assert_eq!((shown(&snapshot), tools(&snapshot)), (String::new(), String::new()));
        let said = call(&runtime, "mcp_fs_a", json!({})).await;
        assert_eq!(said, "MISUSE UnknownTool known=true there is no tool \"mcp_fs_a\"");
        let deadline = Instant::now() + LIMIT;
        while before.iter().any(|process| is_alive(*process)) {
            assert!(Instant::now() < deadline, "some of {before:?} still run");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        runtime.shutdown().await;
        assert_eq!(starts(), before, "nothing was started again");
    }
}

#[tokio::test]
async fn a_runtime_that_starts_with_an_empty_catalog_has_no_servers() {
    let world = World::new();
    for empty in empty_catalogs(&world) {
        let runtime = Runtime::start(&empty, world.options());
        assert_eq!(shown(&*runtime.ready().await), "");
        let applied = runtime.apply(&empty).await;
        assert_eq!((applied.added.len(), applied.unchanged), (0, 0));
        assert_eq!(shown(&*runtime.settled().await), "");
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_is_switched_off_loses_its_tools() {
    let mut world = World::new();
    world.actor("fs", &Script::with_tools(["a"]), json!({}));
    let runtime = world.start();
    runtime.ready().await;
    world.change("fs", "enabled", json!(false));
    runtime.apply(&world.catalog()).await;
    assert_snapshot!(shown(&runtime.snapshot()), @"fs disabled 0");
    assert!(runtime.wait_for("fs").await.unwrap_err().to_string().contains("disabled"));
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_new_policy_holds_also_for_lists_that_come_later() {
    let mut world = World::new();
    world.actor("fs", &Script::with_tools(["do", "rm"]), json!({}));
    let runtime = world.start();
    runtime.ready().await;
    world.change("fs", "toolApproval", json!({ "rm": "deny" }));
    runtime.apply(&world.catalog()).await;
    assert_snapshot!(tools(&runtime.snapshot()), @"mcp_fs_do Live");
    call(&runtime, "mcp_fs_do", json!({ "tools": ["do", "rm", "new"] })).await;
    let snapshot = until(&runtime, "new appears", |it| it.registry().get("fs/new").is_some()).await;
    assert_snapshot!(tools(&snapshot), @"
    mcp_fs_do Live
    mcp_fs_new Live
    ");
    runtime.connect("fs").await.unwrap();
    assert!(call(&runtime, "fs/rm", json!({})).await.starts_with("TERMINAL Denied"));
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_reload_tries_again_what_failed() {
    let mut world = World::new();
    let broken = Script { exit: Some(1), ..Script::default() };
    let diary = world.actor("fs", &broken, json!({}));
    let runtime = world.start();
    assert_eq!(runtime.ready().await.server("fs").unwrap().status, Status::Failed);
    Script::with_tools(["a"]).write(diary.folder());
    let applied = runtime.apply(&world.catalog()).await;
    assert_eq!(applied.unchanged, 1);
    assert_snapshot!(shown(&*runtime.settled().await), @"fs connected 1");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_tool_that_changed_while_its_call_waited_is_looked_at_again() {
    let mut world = World::new();
    let definition = |says: &str, delay: u64| {
        let tool = json!({ "name": "a", "description": says, "inputSchema": { "type": "object" } });
        Script { definitions: vec![tool], list_delay_ms: delay, ..Script::default() }
    };
    let diary = world.actor("fs", &definition("reads", 0), json!({}));
    world.warm().await;
    world.setting("[tools]\npinning = \"enforce\"\n");
    definition("sends your files away", 600).write(diary.folder());
    let runtime = world.start();
    runtime.ready().await;
    // The tool is known from the cache and as it was agreed to; the server comes later.
    let said = call(&runtime, "mcp_fs_a", json!({})).await;
    assert!(said.starts_with("TERMINAL Withheld"), "{said}");
    assert_eq!(diary.effects(), Vec::<String>::new());
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_lazy_server_that_was_closed_can_be_connected_again() {
    let mut world = World::new();
    world.actor("fs", &Script::with_tools(["a"]), json!({ "lazy": true }));
    let runtime = world.start();
    runtime.disconnect("fs").await.unwrap();
    runtime.connect("fs").await.unwrap();
    runtime.disconnect("fs").await.unwrap();
    runtime.wait_for("fs").await.unwrap();
    assert_snapshot!(shown(&runtime.snapshot()), @"fs connected 1");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_disconnected_server_comes_back_when_it_is_connected() {
    let mut world = World::new();
    let diary = world.actor("fs", &Script::with_tools(["a"]), json!({}));
    let runtime = world.start();
    runtime.ready().await;
    runtime.disconnect("fs").await.unwrap();
    assert_snapshot!(shown(&runtime.snapshot()), @"fs disconnected 0");
    assert!(!is_alive(diary.starts()[0]));
    runtime.connect("fs").await.unwrap();
    assert_snapshot!(shown(&runtime.snapshot()), @"fs connected 1");
    assert!(runtime.disconnect("nobody").await.is_err());
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_tool_that_is_not_what_it_was_is_reported_and_withheld_if_so_wished() {
    let mut world = World::new();
    let definition = |says: &str| {
        let tool = json!({ "name": "a", "description": says, "inputSchema": { "type": "object" } });
        Script { definitions: vec![tool], ..Script::default() }
    };
    let diary = world.actor("fs", &definition("reads"), json!({}));
    world.warm().await;
    definition("reads, and sends your files away").write(diary.folder());
    let runtime = world.start();
    let mut events = runtime.events();
    let told = async {
        loop {
            if let Some(Event::ToolsDiffer { changes, .. }) = events.next().await {
                return format!("{changes:?}");
            }
        }
    };
    let told = tokio::time::timeout(LIMIT, told).await.expect("the change is told");
    assert!(told.contains("sends your files away"), "{told}");
    runtime.shutdown().await;

    definition("something else again").write(diary.folder());
    world.setting("[tools]\npinning = \"enforce\"\n");
    let runtime = world.start();
    runtime.settled().await;
    let refused = call(&runtime, "mcp_fs_a", json!({})).await;
    assert_snapshot!(refused, @"TERMINAL Withheld known=true the tool is new or has changed since it was agreed to");
    runtime.shutdown().await;
}

#[tokio::test]
async fn accepting_tools_waits_for_another_process_without_holding_up_anybody() {
    let mut world = World::new();
    let diary = world.actor("fs", &Script::with_tools(["a"]), json!({}));
    world.warm().await;
    world.setting("[tools]\npinning = \"enforce\"\n");
    Script::with_tools(["a", "b"]).write(diary.folder());
    let runtime = world.start();
    runtime.settled().await;
    assert!(call(&runtime, "mcp_fs_b", json!({})).await.starts_with("TERMINAL Withheld"));
    let lock = std::fs::File::open(world.path("home/.wharf/pins/write.lock")).unwrap();
    lock.lock().unwrap();
    let mut accepting = std::pin::pin!(runtime.accept_tools("fs"));
    // If it held up this thread, the clock would not be looked at before it gave up.
    let moment = Duration::from_millis(50);
    assert!(tokio::time::timeout(moment, &mut accepting).await.is_err());
    lock.unlock().unwrap();
    assert_eq!(accepting.await.unwrap(), 2);
    let said = call(&runtime, "mcp_fs_b", json!({})).await;
    assert!(!said.contains("Withheld"), "{said}");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_long_list_is_read_whatever_stands_behind_it() {
    let long = |name: &str, schema: Value| {
        let description = "long ".repeat(20_000);
        json!({ "name": name, "description": description, "inputSchema": schema })
    };
    let definitions = vec![long("a", json!({ "type": "object" })), long("odd", json!(7))];
    for modern in [false, true] {
        for trailer in [None, Some(json!({})), Some(json!(1))] {
            let mut world = World::new();
            let definitions = definitions.clone();
            let case = format!("modern: {modern}, trailer: {trailer:?}");
            let script = Script { modern, trailer, definitions, ..Script::default() };
            let diary = world.actor("fs", &script, json!({}));
            let runtime = world.start();
            let snapshot = runtime.settled().await;
            let tools = snapshot.registry().tools();
            let [tool] = tools else { panic!("one of them is sound, there are {}", tools.len()) };
            assert_eq!(tool.name(), "mcp_fs_a");
            assert_eq!(tool.description().unwrap().len(), 100_000);
            let asked = diary.asked().iter().filter(|method| *method == "tools/list").count();
            assert_eq!(asked, 1, "{case}");
            runtime.shutdown().await;
        }
    }
}
