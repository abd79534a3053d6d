//! Tests of catalogs that are built and changed in code.

use super::*;
use crate::custom_transport::CustomTransport;
use crate::env::{Env, Platform};
use crate::server_entry::{Http, ServerEntry, Stdio};

/// An environment with these servers in the variable that replaces all files.
fn loaded(folder: &std::path::Path, servers: &str) -> Catalog {
    let env = Env::new(Platform::HOST, folder).with_variable("WHARF_MCP_SERVERS", servers);
    load(&env, LoadOptions::default()).unwrap()
}

fn empty() -> Catalog {
    Catalog::new(&Env::new(Platform::HOST, "/work"))
}

/// Renders every definition in order: name, level, state, and why it is not used.
fn render(catalog: &Catalog) -> String {
    let line = |server: &Server| {
        let name = &server.definition.name;
        let level = server.definition.source.level.word();
        let by = server.shadowed_by.as_ref().map(|by| format!(" by {}", by.level.word()));
        let of = server.duplicate_of.as_ref().map(|of| format!(" of {of}"));
        let why = by.or(of).unwrap_or_default();
        format!("{name} {level} {}{why}", server.state.word())
    };
    catalog.servers.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_new_catalog_is_empty() {
    let catalog = empty();
    assert!(catalog.servers.is_empty() && catalog.problems.is_empty() && catalog.files.is_empty());
    assert_eq!(catalog.settings, Settings::default());
}

#[test]
fn a_server_of_the_program_needs_no_trust_and_has_no_file() {
    let mut catalog = empty();
    let server = catalog.insert("time", Stdio::new("x"));
    assert_eq!(server.definition.source.provider, PROGRAM);
    assert_eq!(server.trust, Trust::NotNeeded);
    assert_eq!(server.definition.folder.as_path(), std::path::Path::new("/work"));
    insta::assert_snapshot!(serde_json::to_string(&*server.definition.source).unwrap(), @r#"{"provider":"program","providerName":"this program","level":"program"}"#);
}

#[test]
fn a_person_decides_only_about_addresses_that_can_be_shown() {
    let folder = tempfile::tempdir().unwrap();
    let servers = r#"{ "mcpServers": { "far": { "url": "https://a.example" }, "near": { "command": "x" } } }"#;
    crate::store::write(&folder.path().join(".wharf/mcp.json"), servers).unwrap();
    let env = Env::new(Platform::HOST, folder.path());
    let catalog = load(&env, LoadOptions::default()).unwrap();
    let names: Vec<&str> =
        catalog.undecided().map(|server| server.definition.name.as_str()).collect();
    let expected: &[&str] = if cfg!(feature = "http") { &["far", "near"] } else { &["near"] };
    assert_eq!(names, expected);
}

#[test]
fn a_server_of_the_program_wins_its_name_over_every_definition() {
    let folder = tempfile::tempdir().unwrap();
    let mut catalog = loaded(
        folder.path(),
        r#"{ "a": { "command": "a" }, "b": { "command": "b", "enabled": false },
             "c": { "command": "" }, "d": { "command": "d" } }"#,
    );
    for name in ["c", "a", "b"] {
        catalog.insert(name, Stdio::new("own").arg(name));
    }
    insta::assert_snapshot!(render(&catalog), @"
    a program enabled
    b program enabled
    c program enabled
    a env shadowed by program
    b env shadowed by program
    c env shadowed by program
    d env enabled
    ");
    let states: Vec<_> = catalog.winners().iter().map(|server| server.state).collect();
    assert_eq!(states, [DefinitionState::Enabled; 4]);
    assert!(catalog.servers.iter().all(|server| {
        server.state != DefinitionState::Shadowed
            || (server.spec.is_none() && server.reason.is_none())
    }));
}

#[test]
fn an_invalid_server_of_the_program_keeps_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut catalog = loaded(folder.path(), r#"{ "a": { "command": "a" } }"#);
    catalog.insert("a", Http::new("nowhere"));
    insta::assert_snapshot!(render(&catalog), @"
    a program invalid
    a env shadowed by program
    ");
}

#[test]
fn a_second_server_of_the_program_replaces_the_first() {
    let mut catalog = empty();
    catalog.insert("a", Stdio::new("one"));
    catalog.insert(String::from("a"), Stdio::new("two"));
    assert_eq!(render(&catalog), "a program enabled");
    let command = catalog.servers[0].definition.fields.command.as_ref().unwrap();
    assert_eq!(command.text, "two");
}

#[test]
fn all_definitions_of_a_name_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let mut catalog =
        loaded(folder.path(), r#"{ "a": { "command": "a" }, "b": { "command": "b" } }"#);
    catalog.insert("a", Stdio::new("own"));
    catalog.keep_only(|server| server.definition.name != "b");
    assert!(catalog.remove("a") && catalog.remove("b"));
    assert!(catalog.servers.is_empty() && catalog.excluded.is_empty());
    assert!(!catalog.remove("a"));
}

#[test]
fn equal_servers_of_other_names_are_duplicates() {
    let folder = tempfile::tempdir().unwrap();
    let mut catalog = loaded(folder.path(), r#"{ "a": { "command": "x" } }"#);
    let handle = CustomTransport::new(Arc::new(()), CustomTransport::CUSTOM);
    catalog.insert("b", Stdio::new("x"));
    catalog.insert("c", handle.clone());
    catalog.insert("d", handle);
    catalog.insert("e", CustomTransport::new(Arc::new(()), CustomTransport::CUSTOM));
    insta::assert_snapshot!(render(&catalog), @"
    b program enabled
    c program enabled
    d program duplicate of c
    e program enabled
    a env duplicate of b
    ");
    // The one that was hidden takes the place of the first.
    catalog.remove("b");
    catalog.remove("c");
    insta::assert_snapshot!(render(&catalog), @"
    d program enabled
    e program enabled
    a env enabled
    ");
    catalog.settings = catalog.settings.with("discovery.duplicates", "keep").unwrap();
    catalog.insert("f", Stdio::new("x"));
    assert_eq!(catalog.winner("a").unwrap().state, DefinitionState::Enabled);
}

#[test]
fn a_copy_of_a_catalog_is_independent() {
    let mut catalog = empty();
    catalog.insert("a", Stdio::new("x"));
    let mut copy = catalog.clone();
    copy.insert("b", ServerEntry::from(Stdio::new("y")));
    copy.settings = copy.settings.with("tools.naming", "precise").unwrap();
    assert_eq!(render(&catalog), "a program enabled");
    assert_eq!(catalog.settings, Settings::default());
    assert_eq!(copy.winners().len(), 2);
}

#[test]
fn an_empty_variable_map_means_no_servers_even_if_defaults_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let env = Env::new(Platform::HOST, folder.path()).with_home(folder.path().join("home"));
    let options = LoadOptions { with_defaults: true, ..LoadOptions::default() };
    let names = |env: &Env, options| {
        let catalog = load(env, options).unwrap();
        assert_eq!(catalog.problems, []);
        catalog.servers.iter().map(|server| server.definition.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&env, options), ["thinking", "context7", "github"]);
    assert!(names(&env, LoadOptions::default()).is_empty(), "nobody asked for the defaults");
    let env = env.with_variable("WHARF_MCP_SERVERS", "{}");
    assert!(names(&env, options).is_empty(), "the variable replaces the defaults, too");
}

#[test]
fn servers_of_the_program_are_in_order_of_their_names() {
    let mut catalog = empty();
    for name in ["b", "C", "a"] {
        catalog.insert(name, Stdio::new(name));
    }
    let names: Vec<&str> =
        catalog.servers.iter().map(|server| server.definition.name.as_str()).collect();
    assert_eq!(names, ["C", "a", "b"], "by precedence");
    let winners = catalog.winners();
    let names: Vec<&str> = winners.iter().map(|server| server.definition.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "C"], "for a listing");
}

#[test]
fn the_same_entry_makes_equal_servers() {
    let entry = || Http::new("https://docs.example/mcp").bearer("token");
    let (mut one, mut other) = (empty(), empty());
    assert_eq!(one.insert("docs", entry()), other.insert("docs", entry()));
    assert_ne!(one.insert("docs", entry().bearer("other")), other.winner("docs").unwrap());
}

#[test]
fn the_folder_of_a_server_is_its_own_or_that_of_the_catalog() {
    let mut catalog = empty();
    let folder = |server: &Server| {
        let spec = server.spec.as_deref().unwrap();
        let crate::Transport::Stdio(launch) = &spec.transport else { panic!("not a program") };
        launch.cwd.as_ref().map(|cwd| cwd.expose().to_owned())
    };
    let own = folder(catalog.insert("own", Stdio::new("x").cwd("/elsewhere")));
    assert_eq!(own.as_deref(), Some("/elsewhere"));
    let server = catalog.insert("none", Stdio::new("y"));
    assert_eq!(server.definition.folder.as_path(), std::path::Path::new("/work"));
}

#[test]
fn the_debug_output_of_a_catalog_from_files_has_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let secret = "hunter2";
    let servers = format!(
        r#"{{ "a": {{ "command": "x", "args": ["--token", "{secret}"], "env": {{ "K": "{secret}" }} }},
             "b": {{ "url": "https://u:{secret}@h.example/?key={secret}", "headers": {{ "X-Key": "{secret}" }},
                     "oauth": {{ "clientId": "c", "clientSecret": "{secret}" }} }},
             "c": {{ "command": "{secret}", "url": "{secret}" }} }}"#
    );
    let catalog = loaded(folder.path(), &servers);
    assert_eq!(catalog.servers.len(), 3);
    let env = Env::new(Platform::HOST, folder.path());
    let views = catalog.servers.iter().map(|server| {
        let revealed = crate::view::CatalogServerView::revealed(server, &env);
        format!("{:?} {revealed:?}", crate::view::CatalogServerView::of(server))
    });
    let rendered = format!("{catalog:?} {}", views.collect::<String>());
    assert!(!rendered.contains(secret), "{rendered}");
}
