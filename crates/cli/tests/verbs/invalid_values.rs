//! Invalid values in entries, settings and variables: each causes a warning with its line.

use insta::assert_snapshot;

use crate::recording_server::RecordingServer;
use crate::world::World;

#[test]
fn invalid_values_are_reported_with_their_lines() {
    let world = World::new()
        .home(
            ".wharf/mcp.json",
            r#"{ "mcpServers": {
  "local": {
    "command": "x",
    "timeout": "soon",
    "connectTimeout": -1,
    "env": null,
    "lazy": "no"
  },
  "null": { "command": "y", "env": {
    "A": null
  } },
  "remote": { "url": "https://a.example/mcp",
    "auth": { "type": "basic" },
    "oauth": {
      "grant": "password",
      "callbackPort": 99999,
      "clientId": 7
    }
  },
  "words": { "url": "https://b.example/mcp", "auth": "bearer",
    "oauth": "yes" }
} }"#,
        )
        .home(".wharf/config.toml", "[call]\nmax_ms = 0\n")
        .variable("WHARF_STARTUP_TIMEOUT_MS", "abc");
    assert_snapshot!(world.run("list"), @r#"
    exit 0
    --- stdout
    NAME    STATE    TRANSPORT  WHAT                   SOURCE        FILE
    local   enabled  stdio      x                      Wharf · user  ~/.wharf/mcp.json
    null    enabled  stdio      y                      Wharf · user  ~/.wharf/mcp.json
    remote  enabled  http       https://a.example/mcp  Wharf · user  ~/.wharf/mcp.json
    words   enabled  http       https://b.example/mcp  Wharf · user  ~/.wharf/mcp.json
    --- stderr
    warning: WHARF_STARTUP_TIMEOUT_MS must be a whole number; ignored
      hint: write milliseconds, such as 250
    warning: ~/.wharf/config.toml:2: "call.max_ms" must be a whole number greater than zero; ignored
      hint: correct the value, or remove it
    warning: ~/.wharf/mcp.json:4: "local": "timeout" is not a valid timeout; ignored
      hint: write milliseconds, such as 30000
    warning: ~/.wharf/mcp.json:5: "local": "connectTimeout" is not a valid timeout; ignored
      hint: write milliseconds, such as 30000
    warning: ~/.wharf/mcp.json:6: "local": "env" is null; ignored
      hint: give it a value, or remove it
    warning: ~/.wharf/mcp.json:7: "local": "lazy" must be true or false, not a string; ignored
      hint: write true or false without quotes
    warning: ~/.wharf/mcp.json:10: "null": "env.A" is null; ignored
      hint: give it a value, or remove it
    warning: ~/.wharf/mcp.json:13: "remote": "auth.type" must be "oauth" or "bearer"; ignored
      hint: write "auth": { "type": "bearer", "credentialId": "…" }
    warning: ~/.wharf/mcp.json:15: "remote": "oauth.grant" must be one of authorization_code, client_credentials, device_code; ignored
      hint: correct it, or remove it
    warning: ~/.wharf/mcp.json:16: "remote": "oauth.callbackPort" must be a port, 1 to 65535; ignored
      hint: write a number such as 8080
    warning: ~/.wharf/mcp.json:17: "remote": "oauth.clientId" must be a string, not a number; ignored
      hint: write one string in quotes
    warning: ~/.wharf/mcp.json:20: "words": "auth.type" must be "oauth" or "bearer"; ignored
      hint: write "auth": { "type": "bearer", "credentialId": "…" }
    warning: ~/.wharf/mcp.json:21: "words": "oauth" must be an object, not a string; ignored
      hint: write "oauth": { … }
    4 servers: 4 enabled.
    "#);
}

#[test]
fn an_empty_wharf_mcp_servers_means_no_servers() {
    let world = World::new().programs(&["npx"]).variable("WHARF_MCP_SERVERS", "{}");
    assert_snapshot!(world.run("list --all"), @"
    exit 0
    --- stdout
    NAME  STATE  TRANSPORT  TOOLS  WHAT  SOURCE  FILE
    --- stderr
    0 servers.
    ");
    assert_snapshot!(world.run("tools"), @"
    exit 0
    --- stdout
    NAME  SERVER  DESCRIPTION
    --- stderr
    0 tools from 0 servers.
    ");
    let world = World::new().variable("WHARF_MCP_SERVERS", r#"{ "mcpServers": {} }"#);
    assert!(world.run("list").contains("0 servers"));
    assert_eq!(world.started_programs(), "");
}

#[test]
fn a_header_from_an_unset_variable_is_not_sent() {
    let server = RecordingServer::with_status("401 Unauthorized");
    let address = server.address();
    let world = World::new().home(
        ".codex/config.toml",
        &format!(
            "[mcp_servers.docs]\nurl = \"http://{address}/mcp\"\nbearer_token_env_var = \"DOCS_TOKEN\"\nenv_http_headers = {{ X-Team = \"DOCS_TEAM\", X-Other = \"DOCS_OTHER\" }}\n"
        ),
    );
    let world = world.variable("DOCS_OTHER", "other").variable("DOCS_TEAM", "");
    assert_snapshot!(world.run("explain docs").replace(&address.to_string(), "ADDRESS"), @r#"
    exit 0
    --- stdout
    "docs" is used, from your Codex file ~/.codex/config.toml (line 1).
    It is defined nowhere else.

    Expanded placeholders:
      headers.X-Other: DOCS_OTHER, from the environment

    Problems:
      "headers.Authorization" is left out: variable "DOCS_TOKEN" is not set
        hint: set DOCS_TOKEN
      "headers.X-Team" is left out: variable "DOCS_TEAM" is not set
        hint: set DOCS_TEAM
    "#);
    world.run("test docs");
    let received = server.received().to_ascii_lowercase();
    assert!(received.contains("x-other: other"), "{received}");
    assert!(!received.contains("authorization:") && !received.contains("x-team"), "{received}");
    assert!(!received.contains("docs_token"), "{received}");
}
