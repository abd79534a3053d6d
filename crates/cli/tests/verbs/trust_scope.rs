//! What trust covers: one entry, unchanged. And the working folder in which servers run.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::recording_server::RecordingServer;
use crate::world::World;

/// A startup command that logs the working folder, the arguments and the variables of a server.
const LOG_START: &str =
    r#"echo "$0 $* in $(pwd) with ${A-nothing}, ${OAUTH_ACCESS_TOKEN-no token}" >> "$HOME/ran""#;

/// A world with servers that log their start.
fn world(names: &[&str]) -> World {
    names.iter().fold(World::new(), |world, name| world.server_with_startup(name, LOG_START))
}

/// Returns the log entries since the last call.
fn take_start_log(world: &World) -> String {
    let path = world.path("home/ran");
    let log = fs::read_to_string(&path).unwrap_or_default();
    drop(fs::remove_file(path));
    world.filter(&log)
}

/// Adds an executable server to the project, where it could be mistaken for another program.
fn add_executable(world: World, path: &str) -> World {
    let own = fs::read_to_string(world.path("bin/tool")).unwrap();
    let world = world.project(path, &own);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.path("project").join(path), mode).unwrap();
    world
}

#[test]
fn user_servers_run_in_the_home_folder_until_the_project_is_trusted() {
    let world = world(&["npx", "python", "tool"])
        .own_servers(&[
            ("a", r#""command": "npx", "args": ["-y", "mine"], "env": { "A": "!pwd" }"#),
            ("b", r#""command": "python", "args": ["-m", "mine"]"#),
        ])
        .project("mine.py", "import os\n")
        .project("node_modules/mine/package.json", r#"{ "bin": "evil.js" }"#)
        .project(".mcp.json", r#"{ "mcpServers": { "theirs": { "command": "tool" } } }"#);
    let world = add_executable(world, "node_modules/.bin/mine");
    let lines = |world: &World| {
        assert!(world.run("tools --fresh").starts_with("exit 0"));
        let log = take_start_log(world);
        let mut lines: Vec<&str> = log.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    assert_snapshot!(lines(&world), @"
    [world]/bin/npx -y mine in ~ with ~, no token
    [world]/bin/python -m mine in ~ with nothing, no token
    ");
    world.run("trust theirs");
    assert_snapshot!(lines(&world), @"
    [world]/bin/npx -y mine in [project] with [project], no token
    [world]/bin/python -m mine in [project] with nothing, no token
    [world]/bin/tool  in [project] with nothing, no token
    ");
    world.run("untrust theirs");
    assert_snapshot!(lines(&world), @"
    [world]/bin/npx -y mine in ~ with ~, no token
    [world]/bin/python -m mine in ~ with nothing, no token
    ");
}

#[test]
fn only_trusted_servers_run() {
    let world = world(&["tool"]).project(
        ".mcp.json",
        r#"{ "mcpServers": { "a": { "command": "tool", "args": ["a"] },
             "b": { "command": "tool", "args": ["b"] }, "c": { "command": "tool", "args": ["a"] } } }"#,
    );
    world.run("trust a");
    for line in ["tools", "tools --fresh", "doctor", "resources", "call a/go"] {
        world.run(line);
        assert_eq!(
            take_start_log(&world),
            "[world]/bin/tool a in [project] with nothing, no token\n",
            "{line}"
        );
    }
    for line in ["test b", "call c/go", "tools --server b", "reconnect c"] {
        assert!(world.run(line).starts_with("exit 6"), "{line}");
        assert_eq!(take_start_log(&world), "", "{line}");
    }
}

/// Trusts an entry, changes something, and checks that it does not run until it is trusted again.
#[track_caller]
fn check_change_is_refused(entry: &str, change: impl FnOnce(World) -> World, expected: &str) {
    let file = |entry: &str| format!(r#"{{ "mcpServers": {{ {entry} }} }}"#);
    let world =
        world(&["tool", "other"]).project(".env", "A=1\n").project(".wharf/mcp.json", &file(entry));
    let world = add_executable(add_executable(world, "run"), "sub/run");
    world.run("trust a");
    let first = world.run("call a/go");
    assert!(first.starts_with("exit 0"), "{first}");
    assert!(!take_start_log(&world).is_empty());
    let world = change(world);
    for line in ["call a/go", "test a", "tools --server a", "read --server a a:b", "doctor a"] {
        let refused = world.run(line);
        assert!(refused.starts_with("exit 6") || refused.contains("not found"), "{refused}");
    }
    world.run("tools");
    assert_eq!(take_start_log(&world), "", "{entry}");
    let asked = world.run("trust --all");
    assert!(asked.contains(expected), "{asked}");
}

/// Returns a change that replaces the entry itself.
fn replace_entry(entry: &'static str) -> impl FnOnce(World) -> World {
    let file = format!(r#"{{ "mcpServers": {{ {entry} }} }}"#);
    move |world| world.project(".wharf/mcp.json", &file)
}

#[test]
fn a_server_that_changed_after_it_was_trusted_does_not_run() {
    let plain = r#""a": { "command": "tool", "args": ["x"], "env": { "A": "1" } }"#;
    check_change_is_refused(
        plain,
        replace_entry(r#""a": { "command": "tool", "args": ["y"], "env": { "A": "1" } }"#),
        "args[0]: x → y",
    );
    check_change_is_refused(
        plain,
        replace_entry(r#""a": { "command": "tool", "args": ["x"], "env": { "A": "2" } }"#),
        "env.A: has a different value",
    );
    check_change_is_refused(
        plain,
        replace_entry(
            r#""a": { "command": "tool", "args": ["x"], "env": { "A": "1" }, "cwd": "sub" }"#,
        ),
        "cwd: new, sub",
    );
    check_change_is_refused(
        plain,
        replace_entry(r#""a": { "command": "other" }"#),
        "command: tool → other",
    );
    check_change_is_refused(
        plain,
        replace_entry(r#""a": { "url": "http://127.0.0.1:1/" }"#),
        "url: new",
    );
    check_change_is_refused(
        r#""a": { "command": "tool", "envFile": ".env" }"#,
        |world| world.project(".env", "A=2\n"),
        "contents of .env: has a different value",
    );
}

#[test]
fn a_different_program_with_the_same_name_does_not_run() {
    check_change_is_refused(
        r#""a": { "command": "tool" }"#,
        |world| {
            let first = world.path("first").display().to_string();
            let rest = world.path("bin").display().to_string();
            fs::create_dir(world.path("first")).unwrap();
            fs::copy(world.path("bin/other"), world.path("first/tool")).unwrap();
            world.variable("PATH", &format!("{first}:{rest}"))
        },
        "program path: [world]/bin/tool → [world]/first/tool",
    );
    check_change_is_refused(
        r#""a": { "command": "./run", "cwd": "${FOLDER:-sub}" }"#,
        |world| world.variable("FOLDER", "."),
        "program path: ",
    );
}

#[test]
fn a_renamed_server_must_be_trusted_again() {
    check_change_is_refused(
        r#""a": { "command": "tool" }"#,
        replace_entry(r#""b": { "command": "tool" }"#),
        r#"Trusted "b". You are asked again if it changes."#,
    );
}

#[test]
fn the_program_shown_is_the_program_started() {
    let world = world(&["tool"]).project(
        ".wharf/mcp.json",
        r#"{ "mcpServers": { "a": { "command": "./run", "cwd": "sub" },
             "b": { "command": "${PLACE}/run", "cwd": "sub" } } }"#,
    );
    let world =
        add_executable(add_executable(add_executable(world, "run"), "sub/run"), "sub/deep/run");
    let world = world.variable("PLACE", "deep");
    assert_snapshot!(world.run("trust a b"), @r#"
    exit 0
    --- stdout
    Trusted "a" and "b". You are asked again if one of them changes.
    --- stderr
    "a" from [project]/.wharf/mcp.json:1 (Wharf)
      command        ./run
      program        [project]/sub/./run
      runs           sub/run  (part of this project; you are not asked again when it changes)
      cwd            sub
      approval       ask (agents need approval for each call)
    "b" from [project]/.wharf/mcp.json:2 (Wharf)
      command        '${PLACE}/run'
      program        [project]/sub/deep/run
      runs           sub/deep/run  (part of this project; you are not asked again when it changes)
      cwd            sub
      approval       ask (agents need approval for each call)
    "#);
    assert!(world.run("tools --fresh").starts_with("exit 0"));
    let log = take_start_log(&world);
    let mut lines: Vec<&str> = log.lines().collect();
    lines.sort_unstable();
    assert_snapshot!(lines.join("\n"), @"
    [project]/sub/./run  in [project]/sub with nothing, no token
    [project]/sub/deep/run  in [project]/sub with nothing, no token
    ");
}

#[test]
fn a_project_server_gets_no_token_of_another_server() {
    const TOKEN: &str = "t0ken-4711";
    let server = RecordingServer::with_status("401 Unauthorized");
    let address = server.address();
    let entry = |path: &str, id: &str| {
        format!(
            r#""url": "http://{address}/{path}", "auth": {{ "type": "bearer", "credentialId": "{id}" }}"#
        )
    };
    let (mine, theirs) = (entry("own", "here"), entry("mcp", "mine"));
    let world = world(&["tool"])
        .home(".wharf/credentials.json", &format!(
            r#"{{ "version": 1, "credentials": {{
                 "mine": {{ "type": "bearer", "resource": "https://mine.example/mcp", "token": "{TOKEN}" }},
                 "here": {{ "type": "bearer", "resource": "http://{address}/own", "token": "{TOKEN}" }} }} }}"#
        ))
        .own_servers(&[("own", &mine)])
        .project(".wharf/mcp.json", &format!(
            r#"{{ "mcpServers": {{ "web": {{ {theirs} }},
                 "local": {{ "command": "tool", "auth": {{ "type": "bearer", "credentialId": "mine" }} }} }} }}"#
        ));
    world.run("trust --all");
    let rendered = world.run("test web -vvv");
    assert!(rendered.starts_with("exit 4"), "{rendered}");
    assert!(server.received().contains("POST /mcp"), "{}", server.received());
    world.run("call local/go");
    assert_eq!(take_start_log(&world), "[world]/bin/tool  in [project] with nothing, no token\n");
    assert!(!server.received().contains(TOKEN), "{}", server.received());
    // The server that the token belongs to gets it.
    world.run("test own");
    assert!(server.received().contains(&format!("Bearer {TOKEN}")), "{}", server.received());
}
