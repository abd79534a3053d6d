//! Connecting, and failing to, shows no secret: not in what is printed, not in what is kept.

use std::fs;
use std::path::Path;

use crate::world::World;

/// What must never be seen.
const SECRET: &str = "hunter2-4711";

const SERVERS: [(&str, &str); 10] = [
    ("env", r#""command": "box", "env": { "API_TOKEN": "SECRET", "B": "!echo SECRET" }"#),
    ("flag", r#""command": "box", "args": ["--token", "SECRET", "--api-key=SECRET"]"#),
    (
        "header",
        r#""url": "http://127.0.0.1:1/mcp", "headers": { "Authorization": "Bearer SECRET" }"#,
    ),
    ("helper", r#""url": "http://127.0.0.1:1/mcp", "headers": { "X": "!echo SECRET" }"#),
    ("query", r#""url": "http://127.0.0.1:1/mcp?key=SECRET""#),
    ("user", r#""url": "http://me:SECRET@127.0.0.1:1/mcp""#),
    ("sse", r#""type": "sse", "url": "http://me:SECRET@127.0.0.1:1/sse?key=SECRET""#),
    ("scheme", r#""url": "${HIDDEN}""#),
    ("gone", r#""command": "${HIDDEN}", "args": ["${HIDDEN}"], "cwd": "${HIDDEN}""#),
    ("strict", r#""command": "box", "strict": true, "env": { "A": "!echo SECRET >&2; exit 1" }"#),
];

#[test]
fn no_secret_is_shown_or_kept() {
    let servers: Vec<(&str, String)> =
        SERVERS.iter().map(|(name, entry)| (*name, entry.replace("SECRET", SECRET))).collect();
    let servers: Vec<(&str, &str)> =
        servers.iter().map(|(name, entry)| (*name, entry.as_str())).collect();
    let world = World::new()
        .tool_server("box")
        .variable("HIDDEN", SECRET)
        .variable("WHARF_LOG", "trace")
        .own_servers(&servers);
    for line in ["tools", "tools --json", "tools -vvv", "doctor", "doctor --json", "resources"] {
        check(&world, line);
    }
    for (name, _) in SERVERS {
        for line in [
            format!("test {name} -vvv"),
            format!("test {name} --json"),
            format!("reconnect {name}"),
            format!("tools --server {name} --fresh"),
            format!("call {name}/fail"),
            format!("call {name}/die --json"),
            format!("prompts --server {name}"),
            format!("logs {name}"),
        ] {
            check(&world, &line);
        }
    }
    let home = world.path("home/.wharf");
    let mut kept = 0;
    look_into(&home, &mut kept);
    assert!(kept > 1, "nothing was kept, so nothing was checked");
}

#[track_caller]
fn check(world: &World, line: &str) {
    let output = world.output(line);
    for text in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(text);
        assert!(!text.contains(SECRET), "wharf {line}:\n{text}");
        assert!(!text.contains("panicked"), "wharf {line}:\n{text}");
    }
}

fn look_into(folder: &Path, kept: &mut usize) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look_into(&path, kept);
        } else if !path.ends_with("mcp.json") {
            let bytes = fs::read(&path).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{}", path.display());
            *kept += 1;
        }
    }
}
