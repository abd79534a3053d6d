//! A secret is shown by `get --reveal` and by nothing else.

use crate::world::World;

/// What must never be seen.
const SECRET: &str = "hunter2-4711";

/// Every verb that can be run, with the names of the servers below.
const LINES: [&str; 28] = [
    "list",
    "list --all",
    "get NAME",
    "explain NAME",
    "status",
    "doctor",
    "doctor NAME",
    "trust NAME",
    "trust --all",
    "untrust NAME",
    "trust --folder",
    "untrust --folder",
    "config get",
    "get NAMEx",
    "explain NAMEx",
    "doctor NAMEx",
    "trust NAMEx",
    "untrust NAMEx",
    "list -v",
    "get NAME --nonsense",
    "disable NAME",
    "enable NAME",
    "import cursor --dry-run",
    "export cursor --dry-run",
    "export codex --dry-run",
    "export zed --dry-run",
    "export vscode --dry-run",
    "remove NAME",
];

fn servers(prefix: &str) -> String {
    let entries = [
        ("env", r#"{ "command": "npx", "env": { "API_TOKEN": "SECRET", "plain": "SECRET" } }"#),
        (
            "header",
            r#"{ "url": "http://example.com", "headers": { "Authorization": "Bearer SECRET" } }"#,
        ),
        ("query", r#"{ "url": "https://example.com/mcp?key=SECRET" }"#),
        ("user", r#"{ "url": "https://me:SECRET@example.com/mcp" }"#),
        ("flag", r#"{ "command": "npx", "args": ["--token", "SECRET", "--api-key=SECRET"] }"#),
        (
            "bridge",
            r#"{ "command": "npx", "args": ["mcp-remote", "https://h/?k=SECRET", "--header", "Authorization: Bearer SECRET"] }"#,
        ),
        (
            "expanded",
            r#"{ "command": "${HIDDEN}", "args": ["${HIDDEN}"], "cwd": "${HIDDEN}", "env": { "A": "${HIDDEN}" } }"#,
        ),
        ("address", r#"{ "url": "https://${HIDDEN}.example.com/${HIDDEN}" }"#),
        ("scheme", r#"{ "url": "${HIDDEN}" }"#),
        (
            "client",
            r#"{ "url": "https://h", "oauth": { "clientId": "x", "clientSecret": "SECRET" } }"#,
        ),
        ("both", r#"{ "command": "npx", "url": "https://h?SECRET", "env": { "A": "SECRET" } }"#),
        (
            "odd",
            r#"{ "command": "npx", "env": { "A": ["SECRET"] }, "headers": "SECRET", "timeout": "soon" }"#,
        ),
        ("command", r#"{ "command": "npx", "env": { "A": "HIDDEN", "B": "$HIDDEN" } }"#),
    ];
    let entries: Vec<String> = entries
        .iter()
        .map(|(name, entry)| format!("\"{prefix}{name}\": {}", entry.replace("SECRET", SECRET)))
        .collect();
    format!("{{ \"mcpServers\": {{\n{}\n}} }}", entries.join(",\n"))
}

fn names(prefix: &str) -> Vec<String> {
    [
        "env", "header", "query", "user", "flag", "bridge", "expanded", "address", "scheme",
        "client", "both", "odd", "command",
    ]
    .iter()
    .map(|name| format!("{prefix}{name}"))
    .collect()
}

fn world() -> World {
    World::new()
        .programs(&["npx"])
        .variable("HIDDEN", SECRET)
        .home(".wharf/mcp.json", &servers("own-"))
        .home(".cursor/mcp.json", &servers("cursor-"))
        .project(".wharf/mcp.json", &servers("project-"))
        .home(".wharf/credentials.json", &format!(
            r#"{{ "version": 1, "credentials": {{ "c": {{ "type": "bearer", "resource": "r", "token": "{SECRET}" }} }} }}"#
        ))
}

/// Runs every verb for the servers of one file.
#[track_caller]
fn check(world: &World, prefix: &str, flags: &[&str]) {
    for line in LINES {
        let names = if line.contains("NAME") { names(prefix) } else { vec![String::new()] };
        for name in names {
            let line = line.replace("NAME", &name);
            for flags in flags {
                let output = world.output(&format!("{line} {flags}"));
                for text in [&output.stdout, &output.stderr] {
                    let text = String::from_utf8_lossy(text);
                    assert!(!text.contains(SECRET), "wharf {line} {flags}:\n{text}");
                    assert!(!text.contains("panicked"), "wharf {line} {flags}:\n{text}");
                }
            }
        }
    }
}

#[test]
fn of_your_own_files_no_secret_is_shown() {
    check(&world(), "own-", &["", "--json"]);
    check(&world(), "cursor-", &["", "--json"]);
}

#[test]
fn of_an_untrusted_project_no_secret_is_shown() {
    check(&world(), "project-", &["", "--json"]);
}

#[test]
fn of_a_trusted_project_no_secret_is_shown() {
    check(&world(), "project-", &["--trust-project", "--trust-project --json"]);
}

#[test]
fn only_reveal_shows_one() {
    let shown = world().run("get own-env --reveal");
    assert!(shown.contains(SECRET), "{shown}");
    let shown = world().run("get project-env --reveal");
    assert!(!shown.contains(SECRET), "{shown}");
}
