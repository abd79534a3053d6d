//! What an agreement covers: exactly the one entry, exactly as it was; and where things run.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::loopback::Loopback;
use crate::world::World;

/// Before it serves, a server says where it runs and what it was given.
const SAYS: &str =
    r#"echo "$0 $* in $(pwd) with ${A-nothing}, ${OAUTH_ACCESS_TOKEN-no token}" >> "$HOME/ran""#;

/// Makes a machine with servers that say what happens to them.
fn world(names: &[&str]) -> World {
    names.iter().fold(World::new(), |world, name| world.server_after(name, SAYS))
}

/// Returns what was said since this was asked last.
fn ran(world: &World) -> String {
    let path = world.path("home/ran");
    let said = fs::read_to_string(&path).unwrap_or_default();
    drop(fs::remove_file(path));
    world.filter(&said)
}

/// Puts a server where somebody might take it for another one.
fn planted(world: World, path: &str) -> World {
    let own = fs::read_to_string(world.path("bin/tool")).unwrap();
    let world = world.project(path, &own);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.path("project").join(path), mode).unwrap();
    world
}

#[test]
fn servers_of_your_own_run_at_home_until_something_in_the_folder_is_trusted() {
    let world = world(&["npx", "python", "tool"])
        .own_servers(&[
            ("a", r#""command": "npx", "args": ["-y", "mine"], "env": { "A": "!pwd" }"#),
            ("b", r#""command": "python", "args": ["-m", "mine"]"#),
        ])
        .project("mine.py", "import os\n")
        .project("node_modules/mine/package.json", r#"{ "bin": "evil.js" }"#)
        .project(".mcp.json", r#"{ "mcpServers": { "theirs": { "command": "tool" } } }"#);
    let world = planted(world, "node_modules/.bin/mine");
    let lines = |world: &World| {
        assert!(world.run("tools --fresh").starts_with("exit 0"));
        let said = ran(world);
        let mut lines: Vec<&str> = said.lines().collect();
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
fn only_what_was_agreed_to_runs() {
    let world = world(&["tool"]).project(
        ".mcp.json",
        r#"{ "mcpServers": { "a": { "command": "tool", "args": ["a"] },
             "b": { "command": "tool", "args": ["b"] }, "c": { "command": "tool", "args": ["a"] } } }"#,
    );
    world.run("trust a");
    for line in ["tools", "tools --fresh", "doctor", "resources", "call a/go"] {
        world.run(line);
        assert_eq!(
            ran(&world),
            "[world]/bin/tool a in [project] with nothing, no token\n",
            "{line}"
        );
    }
    for line in ["test b", "call c/go", "tools --server b", "reconnect c"] {
        assert!(world.run(line).starts_with("exit 6"), "{line}");
        assert_eq!(ran(&world), "", "{line}");
    }
}

/// Agrees to an entry, changes something, and checks that it is not run and asked about again.
#[track_caller]
fn changed(entry: &str, change: impl FnOnce(World) -> World, shown: &str) {
    let file = |entry: &str| format!(r#"{{ "mcpServers": {{ {entry} }} }}"#);
    let world =
        world(&["tool", "other"]).project(".env", "A=1\n").project(".wharf/mcp.json", &file(entry));
    let world = planted(planted(world, "run"), "sub/run");
    world.run("trust a");
    let first = world.run("call a/go");
    assert!(first.starts_with("exit 0"), "{first}");
    assert!(!ran(&world).is_empty());
    let world = change(world);
    for line in ["call a/go", "test a", "tools --server a", "read --server a a:b", "doctor a"] {
        let refused = world.run(line);
        assert!(refused.starts_with("exit 6") || refused.contains("not found"), "{refused}");
    }
    world.run("tools");
    assert_eq!(ran(&world), "", "{entry}");
    let asked = world.run("trust --all");
    assert!(asked.contains(shown), "{asked}");
}

/// Changes the entry itself.
fn written(entry: &'static str) -> impl FnOnce(World) -> World {
    let file = format!(r#"{{ "mcpServers": {{ {entry} }} }}"#);
    move |world| world.project(".wharf/mcp.json", &file)
}

#[test]
fn what_changes_after_the_agreement_does_not_run() {
    let plain = r#""a": { "command": "tool", "args": ["x"], "env": { "A": "1" } }"#;
    changed(
        plain,
        written(r#""a": { "command": "tool", "args": ["y"], "env": { "A": "1" } }"#),
        "args[0]: x → y",
    );
    changed(
        plain,
        written(r#""a": { "command": "tool", "args": ["x"], "env": { "A": "2" } }"#),
        "env.A: has another value",
    );
    changed(
        plain,
        written(r#""a": { "command": "tool", "args": ["x"], "env": { "A": "1" }, "cwd": "sub" }"#),
        "cwd: new, sub",
    );
    changed(plain, written(r#""a": { "command": "other" }"#), "command: tool → other");
    changed(plain, written(r#""a": { "url": "http://127.0.0.1:1/" }"#), "url: new");
    changed(
        r#""a": { "command": "tool", "envFile": ".env" }"#,
        |world| world.project(".env", "A=2\n"),
        "contents of .env: has another value",
    );
}

#[test]
fn another_program_under_the_same_name_does_not_run() {
    changed(
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
    changed(
        r#""a": { "command": "./run", "cwd": "${FOLDER:-sub}" }"#,
        |world| world.variable("FOLDER", "."),
        "program path: ",
    );
}

#[test]
fn a_renamed_server_is_another_one() {
    changed(
        r#""a": { "command": "tool" }"#,
        written(r#""b": { "command": "tool" }"#),
        r#"Trusted "b". You are asked again if it changes."#,
    );
}

#[test]
fn the_program_that_is_shown_is_the_program_that_is_started() {
    let world = world(&["tool"]).project(
        ".wharf/mcp.json",
        r#"{ "mcpServers": { "a": { "command": "./run", "cwd": "sub" },
             "b": { "command": "${PLACE}/run", "cwd": "sub" } } }"#,
    );
    let world = planted(planted(planted(world, "run"), "sub/run"), "sub/deep/run");
    let world = world.variable("PLACE", "deep");
    assert_snapshot!(world.run("trust a b"), @r#"
    exit 0
    --- stdout
    Trusted "a" and "b". You are asked again if one of them changes.
    --- stderr
    "a" from [project]/.wharf/mcp.json:1 (Wharf)
      command        ./run
      program        [project]/sub/./run
      runs           sub/run  (part of this project; not asked about again when it changes)
      cwd            sub
      approval       ask (each call needs approval)
    "b" from [project]/.wharf/mcp.json:2 (Wharf)
      command        '${PLACE}/run'
      program        [project]/sub/deep/run
      runs           sub/deep/run  (part of this project; not asked about again when it changes)
      cwd            sub
      approval       ask (each call needs approval)
    "#);
    assert!(world.run("tools --fresh").starts_with("exit 0"));
    let said = ran(&world);
    let mut lines: Vec<&str> = said.lines().collect();
    lines.sort_unstable();
    assert_snapshot!(lines.join("\n"), @"
    [project]/sub/./run  in [project]/sub with nothing, no token
    [project]/sub/deep/run  in [project]/sub with nothing, no token
    ");
}

#[test]
fn a_project_gets_no_token_that_is_for_somebody_else() {
    const TOKEN: &str = "t0ken-4711";
    let server = Loopback::answering("401 Unauthorized");
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
    let shown = world.run("test web -vvv");
    assert!(shown.starts_with("exit 4"), "{shown}");
    assert!(server.heard().contains("POST /mcp"), "{}", server.heard());
    world.run("call local/go");
    assert_eq!(ran(&world), "[world]/bin/tool  in [project] with nothing, no token\n");
    assert!(!server.heard().contains(TOKEN), "{}", server.heard());
    // It is there for whom it is for.
    world.run("test own");
    assert!(server.heard().contains(&format!("Bearer {TOKEN}")), "{}", server.heard());
}
