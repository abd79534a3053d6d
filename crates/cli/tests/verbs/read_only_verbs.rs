//! Verbs that only read start no program and open no connection.

use std::net::TcpListener;

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn read_only_verbs_start_and_contact_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let servers = format!(
        r#"{{ "mcpServers": {{
  "local": {{ "command": "npx", "args": ["x"], "env": {{ "A": "!helper", "B": "!npx b" }} }},
  "remote": {{ "url": "http://{address}/mcp", "headers": {{ "X": "!helper" }}, "headersHelper": "helper" }},
  "sse": {{ "type": "sse", "url": "http://{address}/sse" }} }} }}"#
    );
    let world = World::new()
        .programs(&["npx", "helper", "uvx", "sh"])
        .home(".wharf/mcp.json", &servers)
        .home(".cursor/mcp.json", &servers.replace("npx", "uvx").replace("\"local", "\"other"))
        .project(
            ".wharf/mcp.json",
            &servers.replace("\"local", "\"theirs").replace("\"sse\":", "\"s\":"),
        );
    let mut exit_codes = Vec::new();
    for verb in [
        "list",
        "list --all",
        "get local --reveal",
        "get remote",
        "status",
        "doctor --offline",
        "explain local",
        "explain theirs",
        "doctor theirs --offline",
        "logs local",
        "cache show",
        "cache clear",
        "trust --all",
        "untrust theirs",
        "config get",
        "completions bash",
    ] {
        let run = |flags| world.output(&format!("{verb}{flags}")).status.code().unwrap();
        exit_codes
            .push(format!("{verb}: {:?}", ["", " --json", " --trust-project", " -v"].map(run)));
    }
    assert_snapshot!(exit_codes.join("\n"), @"
    list: [0, 0, 0, 0]
    list --all: [0, 0, 0, 0]
    get local --reveal: [0, 0, 0, 0]
    get remote: [0, 0, 0, 0]
    status: [0, 0, 0, 0]
    doctor --offline: [1, 1, 1, 1]
    explain local: [0, 0, 0, 0]
    explain theirs: [0, 0, 0, 0]
    doctor theirs --offline: [6, 6, 0, 6]
    logs local: [0, 0, 0, 0]
    cache show: [0, 0, 0, 0]
    cache clear: [0, 0, 0, 0]
    trust --all: [0, 0, 0, 0]
    untrust theirs: [0, 0, 0, 0]
    config get: [0, 0, 0, 0]
    completions bash: [0, 0, 0, 0]
    ");
    assert_eq!(world.started_programs(), "");
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}
