//! Tests of trust decisions that are applied to a catalog in memory, without loading it again.

use insta::assert_snapshot;
use wharf_config::trust::{Trust, TrustStore};
use wharf_config::{Catalog, DefinitionState, Env, Transport, TrustReview};

use crate::world::World;

const FILE: &str = ".cursor/mcp.json";
const USER_FILE: &str = "~/.cursor/mcp.json";

fn review(catalog: &Catalog, name: &str, env: &Env) -> TrustReview {
    let server = catalog.undecided().find(|server| server.definition.name == *name);
    TrustReview::of(&server.expect("an undecided server").definition, env)
}

/// Trusts a server in memory and renders the catalog; checks that it is the one that is loaded
/// after the decision is stored.
fn trusted(world: &World, name: &str) -> String {
    let mut catalog = world.load();
    assert!(catalog.trust(&review(&catalog, name, &world.env), &world.env));
    let in_place = world.show_catalog(&catalog);
    world.trust(&[name]);
    assert_eq!(in_place, world.show(), "loaded again");
    in_place
}

#[test]
fn trusting_one_entry_changes_only_it() {
    let text = r#"{ "mcpServers": { "a": { "command": "x" }, "b": { "command": "y" } } }"#;
    let world = World::new().with(FILE, text).with(".mcp.json", text);
    assert_snapshot!(trusted(&world, "a"), @"
    a: enabled stdio, cursor project [project]/.cursor/mcp.json:1
    a: shadowed stdio, mcp-json project [project]/.mcp.json:1, by cursor project [project]/.cursor/mcp.json
    b: untrusted stdio, cursor project [project]/.cursor/mcp.json:1
    b: shadowed stdio, mcp-json project [project]/.mcp.json:1, by cursor project [project]/.cursor/mcp.json
    ");
}

#[test]
fn a_trusted_entry_no_longer_warns_that_it_hides_another() {
    let world = World::new()
        .with(FILE, r#"{ "mcpServers": { "a": { "command": "x" } } }"#)
        .with(USER_FILE, r#"{ "mcpServers": { "a": { "command": "mine" } } }"#);
    assert!(world.show().contains("hides your"));
    assert_snapshot!(trusted(&world, "a"), @"
    a: enabled stdio, cursor project [project]/.cursor/mcp.json:1
    a: shadowed stdio, cursor user ~/.cursor/mcp.json:1, by cursor project [project]/.cursor/mcp.json
    ");
}

#[test]
fn a_trusted_entry_takes_part_in_finding_duplicates() {
    let same = |name: &str| format!(r#"{{ "mcpServers": {{ "{name}": {{ "command": "x" }} }} }}"#);
    // The project's file is first in order of precedence.
    let world = World::new().with(FILE, same("theirs")).with(USER_FILE, same("mine"));
    assert_snapshot!(trusted(&world, "theirs"), @"
    mine: duplicate stdio, cursor user ~/.cursor/mcp.json:1, of theirs
    theirs: enabled stdio, cursor project [project]/.cursor/mcp.json:1
    ");
    // Here the user's file is.
    let world = World::new().with(FILE, same("theirs")).with("~/.wharf/mcp.json", same("mine"));
    assert_snapshot!(trusted(&world, "theirs"), @"
    mine: enabled stdio, wharf user ~/.wharf/mcp.json:1
    theirs: duplicate stdio, cursor project [project]/.cursor/mcp.json:1, of mine
    ");
}

#[test]
fn a_trusted_map_replaces_the_user_map_of_its_program() {
    let servers = |names: &[&str]| {
        let entry = |name: &&str| format!(r#""{name}": {{ "command": "{name}-server" }}"#);
        let entries: Vec<String> = names.iter().map(entry).collect();
        format!(r#"{{ "mcp_servers": {{ {} }} }}"#, entries.join(", "))
    };
    let world = World::new()
        .with(".co-cli/settings.json", servers(&["project"]))
        .with("~/.config/co-cli/settings.json", servers(&["mine"]))
        .with(USER_FILE, r#"{ "mcpServers": { "other": { "command": "x" } } }"#);
    assert_snapshot!(trusted(&world, "project"), @"
    mine: shadowed stdio, co-cli user ~/.config/co-cli/settings.json:1, by co-cli project [project]/.co-cli/settings.json
    other: enabled stdio, cursor user ~/.cursor/mcp.json:1
    project: enabled stdio, co-cli project [project]/.co-cli/settings.json:1
    ");
}

#[test]
fn an_exa_server_is_native_if_the_session_searches_the_web_itself() {
    let entry = r#"{ "url": "https://mcp.exa.ai/mcp?exaApiKey=key" }"#;
    let mut world = World::new().with(FILE, format!(r#"{{ "mcpServers": {{ "exa": {entry} }} }}"#));
    world.options.native_web_search = true;
    let mut catalog = world.load();
    assert!(catalog.trust(&review(&catalog, "exa", &world.env), &world.env));
    assert_eq!(catalog.winner("exa").expect("a server").state, DefinitionState::Native);
    assert_eq!(catalog.exa_keys.len(), 1);
}

#[test]
fn the_files_of_an_entry_are_used_as_they_were_reviewed() {
    let world = World::new()
        .with(FILE, r#"{ "mcpServers": { "a": { "command": "x", "envFile": ".env" } } }"#)
        .with(".env", "KEY=reviewed\n");
    let mut catalog = world.load();
    let review = review(&catalog, "a", &world.env);
    world.write(".env", "KEY=changed\n");
    assert!(catalog.trust(&review, &world.env));
    let spec = catalog.winner("a").and_then(|server| server.spec.as_deref());
    let Some(Transport::Stdio(launch)) = spec.map(|spec| &spec.transport) else {
        panic!("not a program")
    };
    assert_eq!(launch.env[0].1.text().expose(), "reviewed");

    // What was reviewed is what is stored, so the file as it is now is not trusted.
    let (mut store, _) = TrustStore::load(&world.env);
    store.accept(review.subject());
    store.save().expect("a file");
    let trust = &world.load().winner("a").expect("a server").trust.clone();
    assert!(matches!(trust, Trust::Changed(_)), "{trust:?}");
}

#[test]
fn an_entry_that_changed_between_question_and_answer_is_not_trusted() {
    let file =
        |command: &str| format!(r#"{{ "mcpServers": {{ "a": {{ "command": "{command}" }} }} }}"#);
    let world = World::new().with(FILE, file("x"));
    let review = review(&world.load(), "a", &world.env);
    world.write(FILE, file("y"));
    let mut catalog = world.load();
    assert!(!catalog.trust(&review, &world.env));
    assert_eq!(catalog.winner("a").expect("a server").state, DefinitionState::Untrusted);
    assert!(!catalog.is_folder_trusted);
    // The same name in another file is another entry.
    world.write(FILE, "{}");
    world.write(".mcp.json", file("x"));
    let mut catalog = world.load();
    assert!(!catalog.trust(&review, &world.env));
    assert_eq!(catalog.winner("a").expect("a server").state, DefinitionState::Untrusted);
}

#[test]
fn a_refused_entry_is_decided_and_not_used() {
    let world = World::new().with(FILE, r#"{ "mcpServers": { "a": { "command": "x" } } }"#);
    let mut catalog = world.load();
    catalog.refuse(&review(&catalog, "a", &world.env));
    assert_eq!(catalog.undecided().count(), 0);
    let server = catalog.winner("a").expect("a server");
    assert_eq!((server.state, &server.trust), (DefinitionState::Untrusted, &Trust::Refused));
    assert!(server.spec.is_none());
}

#[test]
fn a_server_that_needs_no_trust_is_not_asked_about() {
    let world = World::new()
        .with(FILE, r#"{ "mcpServers": { "off": { "command": "x", "disabled": true } } }"#)
        .with(USER_FILE, r#"{ "mcpServers": { "mine": { "command": "x" } } }"#);
    assert_eq!(world.load().undecided().count(), 0);
}
