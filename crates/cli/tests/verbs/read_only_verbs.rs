//! Verbs that only read start no program and open no connection.

use std::net::TcpListener;

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
        for flags in ["", " --json", " --trust-project", " -v"] {
            let output = world.output(&format!("{verb}{flags}"));
            assert!(matches!(output.status.code(), Some(0 | 1 | 6)), "{verb}{flags}");
        }
    }
    assert_eq!(world.started_programs(), "");
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}
