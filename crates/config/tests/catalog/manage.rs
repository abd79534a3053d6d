//! Tests of `manage`: each change edits the right file in the right way, and no other file.

use std::fs;

use serde_json::json;
use wharf_config::edit::JsonValue;
use wharf_config::manage::{
    self, AddRequest, ConfigScope, ManageError, Switch, Transfer, TransferRequest,
};
use wharf_config::{Credentials, DefinitionState, LoadOptions, Secret};

use crate::world::{CANARY, World};

fn add(
    world: &World,
    name: &str,
    entry: impl Into<JsonValue>,
    scope: ConfigScope,
) -> manage::ChangeSummary {
    try_add(world, name, entry, scope).expect("added")
}

fn try_add(
    world: &World,
    name: &str,
    entry: impl Into<JsonValue>,
    scope: ConfigScope,
) -> Result<manage::ChangeSummary, ManageError> {
    let request = AddRequest {
        name: name.to_owned(),
        entry: entry.into(),
        token: None,
        scope,
        replace: false,
    };
    manage::add(&world.env, request)
}

fn read(world: &World, path: &str) -> String {
    fs::read_to_string(world.path(path)).expect("a file")
}

fn state(world: &World, name: &str) -> DefinitionState {
    world.load().winner(name).expect("a server").state
}

fn request(program: &str, scope: ConfigScope) -> TransferRequest {
    TransferRequest {
        program: program.to_owned(),
        names: Vec::new(),
        scope,
        replace: false,
        dry_run: false,
        store_tokens: false,
        options: LoadOptions::default(),
    }
}

/// Renders a transfer in a few lines.
fn render(transfer: &Transfer) -> String {
    let skipped: Vec<String> = transfer
        .skipped
        .iter()
        .map(|skipped| format!("{}: {}", skipped.name, skipped.why))
        .collect();
    let notes: Vec<String> =
        transfer.notes.iter().map(|note| format!("note: {}: {}", note.name, note.text)).collect();
    let (added, changed) = (&transfer.added, &transfer.changed);
    format!("added {added:?}, changed {changed:?}\n{}", [skipped, notes].concat().join("\n"))
}

#[test]
fn a_server_that_the_person_adds_to_a_project_is_trusted() {
    let world = World::new();
    let entry: JsonValue = r#"{ "command": "npx", "args": ["-y", "x"] }"#.parse().expect("JSON");
    let done = add(&world, "fs", entry, ConfigScope::Project);
    assert_eq!(done.path, Some(world.path(".wharf/mcp.json")));
    assert_eq!(state(&world, "fs"), DefinitionState::Enabled);
    insta::assert_snapshot!(read(&world, ".wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "fs": {
          "command": "npx",
          "args": ["-y", "x"]
        }
      }
    }
    "#);
}

#[test]
fn an_entry_changed_outside_wharf_needs_trust_again() {
    let world = World::new();
    add(&world, "fs", json!({ "command": "npx" }), ConfigScope::Project);
    world.write(".wharf/mcp.json", r#"{ "mcpServers": { "fs": { "command": "evil" } } }"#);
    assert_eq!(state(&world, "fs"), DefinitionState::Untrusted);
}

#[test]
fn a_token_is_stored_in_the_credential_store_only() {
    let world = World::new();
    let request = AddRequest {
        name: "api".to_owned(),
        entry: json!({ "type": "http", "url": "https://api.example/mcp" }).into(),
        token: Some(Secret::new(CANARY)),
        scope: ConfigScope::User,
        replace: false,
    };
    manage::add(&world.env, request).expect("added");
    assert!(!read(&world, "~/.wharf/mcp.json").contains(CANARY));
    let catalog = world.load();
    let auth = catalog.winner("api").and_then(|own| own.definition.fields.auth.clone());
    let id = auth.and_then(|auth| auth.credential_id).expect("a reference");
    let credential = Credentials::load(&world.env).expect("a store").get(&id).expect("a token");
    assert_eq!(
        (credential.resource.as_str(), credential.token.expose()),
        ("https://api.example/mcp", CANARY)
    );
    manage::remove(&world.env, "api", None, LoadOptions::default()).expect("removed");
    assert!(Credentials::load(&world.env).expect("a store").get(&id).is_none());
}

#[cfg(unix)]
#[test]
fn new_files_are_accessible_only_to_their_owner() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::new();
    add(&world, "fs", json!({ "command": "npx" }), ConfigScope::Project);
    let mode =
        |path: &str| fs::metadata(world.path(path)).expect("it").permissions().mode() & 0o777;
    assert_eq!(
        (mode(".wharf"), mode(".wharf/mcp.json"), mode("~/.wharf"), mode("~/.wharf/trust.json")),
        (0o700, 0o600, 0o700, 0o600)
    );
}

#[test]
fn error_messages_are_exact() {
    let world = World::new()
        .with("~/.cursor/mcp.json", r#"{ "mcpServers": { "theirs": { "command": "x" } } }"#);
    add(&world, "fs", json!({ "command": "npx" }), ConfigScope::User);
    let separators = ['/', std::path::MAIN_SEPARATOR];
    let home = world.path("~/").display().to_string().trim_end_matches(separators).to_owned();
    let text = |result: Result<manage::ChangeSummary, ManageError>| {
        result.expect_err("refused").to_string().replace(&home, "~")
    };
    let user = ConfigScope::User;
    let both = json!({ "command": "x", "url": "https://h" });
    let cases = [
        (
            text(try_add(&world, "fs", json!({ "command": "x" }), user)),
            "Server \"fs\" already exists in ~/.wharf/mcp.json",
        ),
        (text(try_add(&world, "", json!({}), user)), "Server name cannot be empty"),
        (
            text(try_add(&world, &"x".repeat(101), json!({}), user)),
            "Server name is too long (max 100 characters)",
        ),
        (
            text(try_add(&world, "a b", json!({}), user)),
            "Server name can only contain letters, numbers, dash, underscore and dot",
        ),
        (
            text(try_add(&world, "n", both, user)),
            "Invalid server config: both \"command\" and \"url\" are set",
        ),
        (
            text(try_add(&world, "n", json!({}), user)),
            "Invalid server config: stdio server requires \"command\"",
        ),
        (
            text(try_add(&world, "n", json!({ "type": "http" }), user)),
            "Invalid server config: http server requires \"url\"",
        ),
        (
            text(try_add(&world, "n", json!({ "type": "sse" }), user)),
            "Invalid server config: sse server requires \"url\"",
        ),
        (
            text(try_add(&world, "n", json!({ "type": "x" }), user)),
            "Invalid server config: unknown server type \"x\"",
        ),
        (
            text(try_add(&world, "n", json!({ "type": "ws", "url": "ws://h" }), user)),
            "Invalid server config: WebSocket is not supported",
        ),
        (
            text(manage::remove(&world.env, "nope", None, LoadOptions::default())),
            "Server \"nope\" not found",
        ),
        (
            text(manage::remove(&world.env, "theirs", None, LoadOptions::default())),
            "Server \"theirs\" is defined in ~/.cursor/mcp.json (Cursor)",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(text.replace(std::path::MAIN_SEPARATOR, "/"), expected);
    }
}

#[test]
fn switching_another_programs_server_changes_only_our_user_file() {
    let cursor = r#"{ "mcpServers": { "theirs": { "command": "x", "disabled": true } } }"#;
    let world = World::new().with("~/.cursor/mcp.json", cursor);
    assert_eq!(state(&world, "theirs"), DefinitionState::Disabled);
    manage::switch(&world.env, "theirs", Switch::On, LoadOptions::default()).expect("on");
    assert_eq!(state(&world, "theirs"), DefinitionState::Enabled);
    manage::switch(&world.env, "theirs", Switch::Off, LoadOptions::default()).expect("off");
    assert_eq!(state(&world, "theirs"), DefinitionState::Disabled);
    assert_eq!(read(&world, "~/.cursor/mcp.json"), cursor);
    insta::assert_snapshot!(read(&world, "~/.wharf/mcp.json"), @r#"
    {
      "enabledServers": [],
      "disabledServers": ["theirs"]
    }
    "#);
}

#[test]
fn an_entry_with_both_switches_is_really_switched() {
    let entry =
        r#"{ "mcpServers": { "fs": { "command": "x", "disabled": false, "enabled": false } } }"#;
    let world = World::new().with("~/.wharf/mcp.json", entry);
    assert_eq!(state(&world, "fs"), DefinitionState::Disabled);
    manage::switch(&world.env, "fs", Switch::On, LoadOptions::default()).expect("on");
    assert_eq!(state(&world, "fs"), DefinitionState::Enabled);
    manage::switch(&world.env, "fs", Switch::Off, LoadOptions::default()).expect("off");
    assert_eq!(state(&world, "fs"), DefinitionState::Disabled);
}

#[test]
fn switching_a_native_server_keeps_comments_and_trust() {
    let world = World::new();
    add(&world, "fs", json!({ "command": "npx" }), ConfigScope::Project);
    let with_comment =
        read(&world, ".wharf/mcp.json").replace("\"mcpServers\"", "// ours\n  \"mcpServers\"");
    world.write(".wharf/mcp.json", &with_comment);
    manage::switch(&world.env, "fs", Switch::Off, LoadOptions::default()).expect("off");
    assert_eq!(state(&world, "fs"), DefinitionState::Disabled);
    manage::switch(&world.env, "fs", Switch::On, LoadOptions::default()).expect("on");
    assert_eq!(state(&world, "fs"), DefinitionState::Enabled);
    assert!(read(&world, ".wharf/mcp.json").contains("// ours"));
    let again = manage::switch(&world.env, "fs", Switch::On, LoadOptions::default()).expect("on");
    assert_eq!((again.path, again.message.as_str()), (None, "Server \"fs\" is already enabled"));
}

#[test]
fn removing_a_server_names_the_definition_that_wins_next() {
    let world = World::new()
        .with("~/.cursor/mcp.json", r#"{ "mcpServers": { "fs": { "command": "x" } } }"#);
    add(&world, "fs", json!({ "command": "npx" }), ConfigScope::User);
    let done = manage::remove(&world.env, "fs", None, LoadOptions::default()).expect("removed");
    let separator = std::path::MAIN_SEPARATOR_STR;
    assert_eq!(
        done.message.replace(separator, "/"),
        "Removed server \"fs\" from ~/.wharf/mcp.json; the one in ~/.cursor/mcp.json (Cursor) is used now"
    );
    assert_eq!(state(&world, "fs"), DefinitionState::Enabled);
}

#[test]
fn concurrent_additions_all_succeed() {
    let world = World::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let world = &world;
            scope.spawn(move || {
                for number in 0..5 {
                    add(
                        world,
                        &format!("s{writer}-{number}"),
                        json!({ "command": "x" }),
                        ConfigScope::Project,
                    );
                }
            });
        }
    });
    let enabled =
        world.load().servers.iter().filter(|own| own.state == DefinitionState::Enabled).count();
    // All define the same server, so one is enabled and the others are duplicates.
    assert_eq!((world.load().servers.len(), enabled), (20, 1));
}

#[test]
fn a_broken_file_is_not_written_to() {
    let world = World::new().with("~/.wharf/mcp.json", "{ \"mcpServers\": {");
    let error =
        try_add(&world, "fs", json!({ "command": "x" }), ConfigScope::User).expect_err("refused");
    assert!(matches!(error, ManageError::Edit { .. }), "{error:?}");
    assert_eq!(read(&world, "~/.wharf/mcp.json"), "{ \"mcpServers\": {");
}

#[cfg(unix)]
#[test]
fn a_project_symlink_cannot_redirect_a_write_outside_the_project() {
    let world = World::new().with("~/.claude.json", "{}");
    fs::create_dir(world.path(".wharf")).expect("a folder");
    for target in ["~/.claude.json", "~/not-there.json"] {
        let link = world.path(".wharf/mcp.json");
        std::os::unix::fs::symlink(world.path(target), &link).expect("a link");
        let error = try_add(&world, "fs", json!({ "command": "x" }), ConfigScope::Project);
        assert!(matches!(error, Err(ManageError::OutsideProject { .. })), "{error:?}");
        fs::remove_file(link).expect("removed");
    }
    assert_eq!(read(&world, "~/.claude.json"), "{}");
}

#[cfg(unix)]
#[test]
fn a_symlink_in_the_home_folder_is_followed() {
    let world = World::new().with("~/dotfiles/mcp.json", "{}\n");
    let link = world.new_path("~/.wharf/mcp.json");
    std::os::unix::fs::symlink(world.path("~/dotfiles/mcp.json"), &link).expect("a link");
    add(&world, "fs", json!({ "command": "x" }), ConfigScope::User);
    assert!(link.is_symlink() && read(&world, "~/dotfiles/mcp.json").contains("\"fs\""));
}

#[test]
fn the_home_folder_is_not_a_project() {
    let world = World::new().working_in("~/");
    assert_eq!(manage::default_scope(&world.env), ConfigScope::User);
    let error = try_add(&world, "fs", json!({ "command": "x" }), ConfigScope::Project)
        .expect_err("refused");
    assert!(matches!(error, ManageError::NoProject), "{error:?}");
}

#[test]
fn an_import_keeps_the_meaning_of_every_value() {
    let world = World::new()
        .with_variable("DEBUG", "1")
        .with_variable("TOKEN", CANARY)
        .with(
            "~/.cursor/mcp.json",
            r#"{ "mcpServers": {
              "fs": { "command": "npx", "args": ["${userHome}/docs"], "env": { "KEY": "${env:TOKEN}" } },
              "level": { "command": "x", "env": { "LOG_LEVEL": "DEBUG" } },
              "my server": { "command": "x" },
              "api": { "url": "https://h/mcp", "headers": { "X-Key": "${env:TOKEN}" } }
            } }"#,
        );
    let transfer =
        manage::import(&world.env, &request("cursor", ConfigScope::User)).expect("imported");
    assert!(!transfer.diff.contains(CANARY));
    insta::assert_snapshot!(render(&transfer), @r#"
    added ["fs", "api"], changed []
    level: the value of "LOG_LEVEL" would mean something else in Wharf's file; put it into a variable
    my server: Server name can only contain letters, numbers, dash, underscore and dot
    "#);
    let home = world.in_json("~/");
    let imported = read(&world, "~/.wharf/mcp.json").replace(r"\\", "/").replace(&home, "[home]");
    insta::assert_snapshot!(imported, @r#"
    {
      "mcpServers": {
        "fs": {
          "command": "npx",
          "args": ["[home]/docs"],
          "env": {
            "KEY": "${TOKEN}"
          }
        },
        "api": {
          "type": "http",
          "url": "https://h/mcp",
          "headers": {
            "X-Key": "${TOKEN}"
          }
        }
      }
    }
    "#);
}

#[test]
fn an_import_skips_untrusted_servers() {
    let world =
        World::new().with(".cursor/mcp.json", r#"{ "mcpServers": { "fs": { "command": "x" } } }"#);
    // Trust for one run does not count, because the copy outlives the run.
    let options = LoadOptions { trust_project: true, ..LoadOptions::default() };
    let wanted = TransferRequest { options, ..request("cursor", ConfigScope::User) };
    let transfer = manage::import(&world.env, &wanted).expect("imported");
    insta::assert_snapshot!(render(&transfer), @"
    added [], changed []
    fs: it is not trusted
    ");
    assert!(!world.path("~/.wharf/mcp.json").exists());
}

#[test]
fn a_dry_run_changes_nothing() {
    let world = World::new()
        .with("~/.cursor/mcp.json", r#"{ "mcpServers": { "fs": { "command": "x" } } }"#);
    let dry = TransferRequest { dry_run: true, ..request("zed", ConfigScope::User) };
    let transfer = manage::export(&world.env, &dry).expect("a preview");
    assert_eq!((transfer.added, transfer.backup), (vec!["fs".to_owned()], None));
    assert!(transfer.diff.contains('+'));
    assert!(!world.path("~/.config/zed/settings.json").exists());
}

const OURS: &str = r#"{ "mcpServers": {
  "local": { "command": "npx", "args": ["-y", "x"], "env": { "TOKEN": "${TOKEN}" }, "callTimeout": 90000 },
  "plain": { "command": "server", "excludeTools": ["rm"] },
  "remote": { "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } },
  "older": { "type": "sse", "url": "https://h/sse" }
} }"#;

/// Exports the same four servers to a program; renders its file and the skipped servers.
fn exported(program: &str, file: &str) -> String {
    let world = World::new().with("~/.wharf/mcp.json", OURS);
    let transfer =
        manage::export(&world.env, &request(program, ConfigScope::User)).expect("exported");
    assert_eq!(transfer.path, world.path(file));
    let reread = world.load();
    for name in &transfer.added {
        let copies = reread.candidates(name).count();
        assert_eq!(copies, 2, "{program} does not find \"{name}\" in its own file");
    }
    format!("{}\n{}", read(&world, file), render(&transfer))
}

#[test]
fn every_exported_file_is_read_back() {
    for (program, file) in [
        ("claude", "~/.claude.json"),
        ("claude-desktop", "~/.config/Claude/claude_desktop_config.json"),
        ("cursor", "~/.cursor/mcp.json"),
        ("vscode", "~/.config/Code/User/mcp.json"),
        ("windsurf", "~/.codeium/windsurf/mcp_config.json"),
        ("codex", "~/.codex/config.toml"),
        ("gemini", "~/.gemini/settings.json"),
        ("opencode", "~/.config/opencode/opencode.jsonc"),
        ("zed", "~/.config/zed/settings.json"),
        ("copilot", "~/.copilot/mcp-config.json"),
        ("kiro", "~/.kiro/settings/mcp.json"),
        ("lmstudio", "~/.lmstudio/mcp.json"),
        ("qwen", "~/.qwen/settings.json"),
    ] {
        insta::with_settings!({ snapshot_suffix => program, prepend_module_to_snapshot => false, snapshot_path => "snapshots/export" }, {
            insta::assert_snapshot!("export", exported(program, file));
        });
    }
}

#[test]
fn an_export_keeps_the_rest_of_the_file_and_a_backup() {
    let settings = "// mine\n{\n  \"theme\": \"dark\", // at night\n}\n";
    let world =
        World::new().with("~/.wharf/mcp.json", OURS).with("~/.config/zed/settings.json", settings);
    let only = TransferRequest {
        names: vec!["plain".to_owned(), "nope".to_owned()],
        ..request("zed", ConfigScope::User)
    };
    let transfer = manage::export(&world.env, &only).expect("exported");
    assert_eq!(
        fs::read_to_string(transfer.backup.clone().expect("a backup")).expect("a file"),
        settings
    );
    insta::assert_snapshot!(format!("{}\n{}", read(&world, "~/.config/zed/settings.json"), render(&transfer)), @r#"
    // mine
    {
      "theme": "dark", // at night
      "context_servers": {
        "plain": {
          "command": "server"
        }
      },
    }

    added ["plain"], changed []
    nope: no such server
    note: plain: "excludeTools" is not copied: all its tools will be offered there
    "#);
}

#[test]
fn servers_excluded_by_a_setting_or_variable_can_still_be_changed() {
    let world = World::new()
        .with(
            "~/.wharf/config.toml",
            "discovery.project = false\ndiscovery.disabled = [\"wharf\"]\n",
        )
        .with_variable("WHARF_MCP_SERVERS", r#"{ "only": { "command": "x" } }"#);
    add(&world, "fs", json!({ "command": "npx" }), ConfigScope::Project);
    manage::switch(&world.env, "fs", Switch::Off, LoadOptions::default()).expect("off");
    assert!(read(&world, ".wharf/mcp.json").contains("\"enabled\": false"));
    manage::remove(&world.env, "fs", None, LoadOptions::default()).expect("removed");
    manage::switch(&world.env, "only", Switch::Off, LoadOptions::default()).expect("off");
    assert_eq!(state(&world, "only"), DefinitionState::Disabled);
}

#[test]
fn without_projects_project_files_are_not_changed() {
    let world = World::new();
    add(&world, "fs", json!({ "command": "npx" }), ConfigScope::Project);
    let before = read(&world, ".wharf/mcp.json");
    let options = LoadOptions { without_project: true, ..LoadOptions::default() };
    let refused = [
        manage::remove(&world.env, "fs", None, options),
        manage::switch(&world.env, "fs", Switch::Off, options),
    ];
    for result in refused {
        assert!(matches!(result, Err(ManageError::NotFound { .. })), "{result:?}");
    }
    assert_eq!(read(&world, ".wharf/mcp.json"), before);
}

#[test]
fn removing_a_server_revokes_its_trust() {
    let world = World::new();
    add(&world, "fs", json!({ "command": "npx" }), ConfigScope::Project);
    manage::remove(&world.env, "fs", None, LoadOptions::default()).expect("removed");
    assert!(!read(&world, "~/.wharf/trust.json").contains("npx"));
}

#[test]
fn a_switch_does_not_save_trust_for_one_run() {
    let world =
        World::new().with(".wharf/mcp.json", r#"{ "mcpServers": { "fs": { "command": "x" } } }"#);
    let once = LoadOptions { trust_project: true, ..LoadOptions::default() };
    manage::switch(&world.env, "fs", Switch::Off, once).expect("off");
    manage::switch(&world.env, "fs", Switch::On, once).expect("on");
    assert_eq!(state(&world, "fs"), DefinitionState::Untrusted);
}

#[cfg(unix)]
#[test]
fn a_project_symlink_cannot_redirect_a_removal_or_a_switch() {
    let outside = r#"{ "mcpServers": { "fs": { "command": "x" } } }"#;
    let world = World::new().with("~/elsewhere.json", outside);
    let link = world.new_path(".wharf/mcp.json");
    std::os::unix::fs::symlink(world.path("~/elsewhere.json"), link).expect("a link");
    let refused = [
        manage::remove(&world.env, "fs", None, LoadOptions::default()),
        manage::switch(&world.env, "fs", Switch::Off, LoadOptions::default()),
    ];
    for result in refused {
        assert!(matches!(result, Err(ManageError::OutsideProject { .. })), "{result:?}");
    }
    assert_eq!(read(&world, "~/elsewhere.json"), outside);
}
