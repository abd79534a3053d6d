//! No verb prints a secret, except `get --reveal`.

use crate::world::World;

/// The secret that must not be printed.
const SECRET: &str = "hunter2-4711";

/// Command lines that are run for each server; `NAME` is replaced by its name.
const LINES: [&str; 28] = [
    "list",
    "list --all",
    "get NAME",
    "explain NAME",
    "status",
    "doctor --offline",
    "doctor NAME --offline",
    "trust NAME",
    "trust --all",
    "untrust NAME",
    "trust --folder",
    "untrust --folder",
    "config get",
    "get NAMEx",
    "explain NAMEx",
    "doctor NAMEx --offline",
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
        (
            "flag",
            r#"{ "command": "npx", "args": ["-y", "pkg", "--token", "SECRET", "--api-key=SECRET"] }"#,
        ),
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

/// Runs all command lines for the servers of one file.
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
fn no_secret_of_user_files_is_shown() {
    check(&world(), "own-", &["", "--json"]);
    check(&world(), "cursor-", &["", "--json"]);
}

#[test]
fn no_secret_of_an_untrusted_project_is_shown() {
    check(&world(), "project-", &["", "--json"]);
}

#[test]
fn no_secret_of_a_trusted_project_is_shown() {
    check(&world(), "project-", &["--trust-project", "--trust-project --json"]);
}

/// Runs a command with and without `--json`, and checks that the secret is not printed.
#[track_caller]
fn check_words(world: &World, words: &[&str], input: &str) {
    let words: Vec<String> = words.iter().map(|word| word.replace("SECRET", SECRET)).collect();
    // Arguments after `--` belong to the command of the server.
    let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
    for json in [false, true] {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        if json {
            words.insert(at, "--json");
        }
        let rendered = world.run_with_input(&words, &input.replace("SECRET", SECRET));
        assert!(!rendered.contains(SECRET), "wharf {words:?}:\n{rendered}");
        assert!(!rendered.contains("panicked"), "wharf {words:?}:\n{rendered}");
    }
}

const ADDED: [&[&str]; 24] = [
    &["add", "a", "--url", "https://me:SECRET@h.example/mcp?key=SECRET", "--token", "SECRET"],
    &["add", "a", "--url", "https://h.example", "--token", "SECRET", "--force"],
    &["add", "a", "--url", "https://h.example", "--token", "-", "--force"],
    &["add", "a", "--url", "https://h.example", "--token", "SECRET two", "--force"],
    &["add", "a", "--url", "https://h.example", "--token", "SECRET", "--scope", "user"],
    &["add", "a", "--url", "https://h.example", "--token=SECRET", "--transport", "ws"],
    &["add", "a", "--url", "https://h.example", "--tokn=SECRET"],
    &["add", "a", "--url", "https://h.example", "--token", "SECRET", "--", "npx"],
    &["add", "a", "--token", "SECRET"],
    &["add", "a", "--token", "SECRET", "--", "npx", "SECRET"],
    &["add", "a b", "--url", "https://h.example", "--token", "SECRET"],
    &["add", "a", "--url", "SECRET", "--token", "SECRET"],
    &["add", "a", "--url", "ftp://me:SECRET@h.example?SECRET"],
    &["add", "a", "--url", "${HIDDEN}", "--force"],
    &["add", "a", "--url", "https://${HIDDEN}/", "--force"],
    &["add", "b", "--url", "https://h.example", "--header", "Authorization=Bearer SECRET"],
    &["add", "c", "--url", "https://h.example", "--header", "Authorization: Basic SECRET="],
    &["add", "d", "--url", "https://h.example", "--header", "SECRET"],
    &["add", "d", "--url", "https://h.example", "--env", "A=SECRET"],
    &[
        "add",
        "d",
        "--env",
        "API_KEY=SECRET",
        "--env",
        "PLAIN=SECRET",
        "--",
        "npx",
        "--token",
        "SECRET",
    ],
    &["add", "d", "--env", "SECRET", "--", "npx"],
    &["add", "d", "--header", "X=SECRET", "--", "npx"],
    &["add", "d", "--env", "A=SECRET", "--", ""],
    &["add", "e", "--env", "A=HIDDEN", "--env", "B=${HIDDEN}", "--", "${HIDDEN}"],
];

const ADDED_AS_JSON: [&str; 12] = [
    r#"{ "command": "npx", "args": ["--token", "SECRET"], "env": { "A": "SECRET", "A_TOKEN": "SECRET" } }"#,
    r#"{ "url": "https://me:SECRET@h.example?SECRET", "headers": { "Authorization": "Bearer SECRET" } }"#,
    r#"{ "url": "SECRET", "headers": { "X": "SECRET" } }"#,
    r#"{ "url": "${HIDDEN}" }"#,
    r#"{ "command": "npx", "url": "https://SECRET", "env": { "A": "SECRET" } }"#,
    r#"{ "command": "npx", "env": "SECRET", "headers": ["SECRET"], "timeout": "SECRET", "enabled": "SECRET" }"#,
    r#"{ "command": "npx", "env": { "A": "SECRET" "#,
    r#"{ "command": "npx", "env": { "A": SECRET } }"#,
    r#"{ "command": "npx", "env": { "A": "SECRET" } } SECRET"#,
    r#"{ "command": "npx", "env": { "A": "SECRET\q" } }"#,
    r#"["SECRET"]"#,
    r#""SECRET""#,
];

/// A world whose config files are malformed and contain the secret.
fn broken_world() -> World {
    World::new()
        .variable("HIDDEN", SECRET)
        .home(".wharf/mcp.json", &format!("{{ \"mcpServers\": {{ \"a\": {SECRET} }} }}"))
        .home(".wharf/credentials.json", &format!("{{ \"credentials\": \"{SECRET}\" }}"))
        .home(".wharf/trust.json", SECRET)
        .home(".cursor/mcp.json", &format!("{{ \"mcpServers\": [ {SECRET} }}"))
        .home(".codex/config.toml", &format!("a = {SECRET}"))
        .project("servers.json", &format!("{{ \"mcpServers\": {SECRET} }}"))
}

#[test]
fn adding_shows_no_secret() {
    for world in [world(), World::new().variable("HIDDEN", SECRET), broken_world()] {
        for words in ADDED {
            check_words(&world, words, "SECRET\n");
        }
        check_words(&world, ADDED[2], "SECRET SECRET");
        for entry in ADDED_AS_JSON {
            check_words(&world, &["add-json", "j", entry], "");
            check_words(&world, &["add-json", "j", entry, "--force"], "");
            check_words(&world, &["add-json", "k", "-", "--scope", "user"], entry);
        }
        for line in
            ["list --all", "get a", "get j", "explain c", "status", "doctor --offline", "remove a"]
        {
            check_words(&world, &line.split(' ').collect::<Vec<_>>(), "");
        }
    }
}

#[test]
fn copying_shows_no_secret() {
    let theirs = servers("theirs-");
    let settings = format!("{{ // {}\n  \"apiKey\": \"{SECRET}\", {}", "theirs", &theirs[1..]);
    let toml = format!(
        "[mcp_servers.own-flag]\ncommand = \"npx\"\nargs = [\"--token\", \"{SECRET}\"]\n\
         env = {{ A = \"{SECRET}\" }}\n\n[mcp_servers.own-header]\nurl = \"https://h?{SECRET}\"\n\
         bearer_token = \"{SECRET}\"\nhttp_headers = {{ X = \"{SECRET}\" }}\n"
    );
    let full = || {
        world()
            .home(".cursor/mcp.json", &settings)
            .home(".gemini/settings.json", &settings)
            .home(".codex/config.toml", &toml)
            .project("servers.json", &servers("file-"))
    };
    let targets = [
        "claude",
        "codex",
        "gemini",
        "qwen",
        "opencode",
        "cursor",
        "windsurf",
        "copilot",
        "zed",
        "kiro",
        "lmstudio",
        "claude-desktop",
        "vscode",
        "mcp-json",
    ];
    for (world, flag) in [(full(), "-v"), (full(), "--trust-project"), (broken_world(), "-v")] {
        for target in targets {
            check_words(&world, &["export", target, flag], "");
            check_words(&world, &["export", target, "--force", flag], "");
            check_words(
                &world,
                &["export", target, "--scope", "project", flag, "own-env", "x"],
                "",
            );
        }
        for origin in ["cursor", "codex", "gemini", "wharf", "servers.json", "nothing", "."] {
            check_words(&world, &["import", origin, flag, "--dry-run"], "");
            check_words(&world, &["import", origin, flag], "");
            check_words(&world, &["import", origin, "--force", flag, "--scope", "project"], "");
        }
    }
    // The servers were really exported.
    let world = full();
    world.run("export cursor --force");
    assert!(world.read("home/.cursor/mcp.json").contains("own-env"));
}

#[test]
fn only_reveal_shows_a_secret() {
    let rendered = world().run("get own-env --reveal");
    assert!(rendered.contains(SECRET), "{rendered}");
    let rendered = world().run("get project-env --reveal");
    assert!(!rendered.contains(SECRET), "{rendered}");
}
