//! No verb starts or contacts a project server before it is trusted.

use std::net::TcpListener;

use insta::assert_snapshot;

use crate::world::{World, without_durations};

const THEIRS: &str = r#"{ "mcpServers": { "theirs": { "command": "npx", "args": ["x"] } } }"#;

#[test]
fn an_untrusted_server_is_skipped_with_a_notice() {
    let world = World::new()
        .programs(&["npx"])
        .tool_server("box")
        .own_servers(&[("box", r#""command": "box""#)])
        .project(".mcp.json", THEIRS);
    assert_snapshot!(world.run("resources"), @r#"
    exit 0
    --- stdout
    URI  SERVER  KIND  NAME
    --- stderr
    skipped "theirs": it is new in this project and not trusted (`wharf trust theirs`)
    0 resources.
    "#);
    assert_snapshot!(world.run("prompts --json"), @r#"
    exit 0
    --- stdout
    {
      "prompts": [],
      "errors": [
        {
          "path": "mcp:theirs",
          "error": "came with this project and is not trusted"
        }
      ]
    }
    --- stderr
    skipped "theirs": it is new in this project and not trusted (`wharf trust theirs`)
    "#);
    assert!(world.run("tools").contains("skipped \"theirs\""));
    assert_eq!(world.started_programs(), "");
}

#[test]
fn code_of_an_untrusted_folder_does_not_run_through_an_entry_of_the_user() {
    let entry = r#"{ "mcpServers": {
        "mine": { "command": "/bin/sh", "args": ["${workspaceFolder}/run.sh"] },
        "here": { "command": "./run.sh", "cwd": "${workspaceFolder}" },
        "root": { "command": "/bin/sh", "args": ["${workspaceFolder}"] } } }"#;
    let world = World::new()
        .home(".cursor/mcp.json", entry)
        .project("run.sh", "echo ran >> \"$HOME/ran\"\n")
        .project(".git/HEAD", "");
    for verb in ["tools", "doctor", "list", "test mine", "test here", "call mine/x"] {
        let output = world.run(verb);
        assert!(output.contains("which is not trusted"), "{verb}: {output}");
        assert!(output.contains("trust this folder"), "{verb}: {output}");
    }
    assert!(!world.path("home/ran").exists(), "code of the folder ran");
    assert!(!world.run("explain root").contains("not trusted"), "the folder itself is data");
    world.run("trust --folder");
    world.run("tools");
    assert!(world.path("home/ran").exists(), "the folder is trusted");
}

#[test]
fn a_verb_that_names_an_untrusted_server_exits_with_6() {
    let world = World::new().programs(&["npx"]).project(".mcp.json", THEIRS);
    assert_snapshot!(world.run("test theirs --json"), @r#"
    exit 6
    --- stdout
    {
      "ok": false,
      "name": "theirs",
      "transport": "stdio",
      "error": "Server \"theirs\" came with this project and is not trusted",
      "tip": "`wharf trust theirs`"
    }
    --- stderr
    error: Server "theirs" came with this project and is not trusted
      hint: `wharf trust theirs`
    "#);
    assert_snapshot!(without_durations(&world.run("call theirs/x --json")), @r#"
    exit 6
    --- stdout
    {
      "ok": false,
      "isError": true,
      "text": "MCP error: Server \"theirs\" came with this project and is not trusted (server \"theirs\", tool \"x\", phase connect)\nTrying again will not help.",
      "content": [],
      "details": {
        "serverName": "theirs",
        "mcpToolName": "x",
        "provider": "mcp-json",
        "providerName": "mcp.json",
        "durationMs": [time]
      },
      "error": {
        "code": "untrusted",
        "kind": "TERMINAL",
        "phase": "connect",
        "message": "Server \"theirs\" came with this project and is not trusted",
        "retryable": false,
        "outcomeKnown": true,
        "hint": "`wharf trust theirs`"
      }
    }
    --- stderr
    error: Server "theirs" came with this project and is not trusted
      hint: `wharf trust theirs`
    "#);
    assert_snapshot!(world.run("test theirs"), @r#"
    exit 6
    --- stderr
    error: Server "theirs" came with this project and is not trusted
      hint: `wharf trust theirs`
    "#);
    for line in [
        "reconnect theirs",
        "tools --server theirs",
        "tools theirs/x",
        "call theirs/x",
        "call mcp_theirs_x",
        "resources --server theirs",
        "prompts --server theirs",
        "read --server theirs a:b",
        "prompt --server theirs a",
        "doctor theirs",
    ] {
        let rendered = world.run(line);
        assert!(rendered.starts_with("exit 6\n--- stderr\n"), "{line}: {rendered}");
        assert!(rendered.contains("hint: `wharf trust theirs`"), "{line}: {rendered}");
    }
    assert_eq!(world.started_programs(), "");
}

#[test]
fn no_verb_starts_or_contacts_an_untrusted_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let servers = format!(
        r#"{{ "mcpServers": {{
  "local": {{ "command": "npx", "args": ["x"], "env": {{ "A": "!helper", "B": "!npx b" }} }},
  "remote": {{ "url": "http://{address}/mcp", "headers": {{ "X": "!helper" }} }},
  "sse": {{ "type": "sse", "url": "http://{address}/sse" }} }} }}"#
    );
    let world = World::new()
        .programs(&["npx", "helper", "sh"])
        .project(".wharf/mcp.json", &servers)
        .project(".mcp.json", &servers.replace("local", "other"));
    let mut exit_codes = Vec::new();
    for verb in [
        "tools",
        "tools --fresh",
        "tools local/x",
        "call local/x",
        "call anything",
        "test local",
        "test remote",
        "reconnect remote",
        "resources",
        "prompts",
        "read a:b",
        "prompt a",
        "doctor",
        "doctor remote",
        "logs local",
    ] {
        let run = |flags| world.output(&format!("{verb}{flags}")).status.code().unwrap();
        exit_codes.push(format!("{verb}: {:?}", ["", " --json", " -v"].map(run)));
    }
    assert_snapshot!(exit_codes.join("\n"), @"
    tools: [0, 0, 0]
    tools --fresh: [0, 0, 0]
    tools local/x: [6, 6, 6]
    call local/x: [6, 6, 6]
    call anything: [1, 1, 1]
    test local: [6, 6, 6]
    test remote: [6, 6, 6]
    reconnect remote: [6, 6, 6]
    resources: [0, 0, 0]
    prompts: [0, 0, 0]
    read a:b: [1, 1, 1]
    prompt a: [1, 1, 1]
    doctor: [0, 0, 0]
    doctor remote: [6, 6, 6]
    logs local: [0, 0, 0]
    ");
    assert_eq!(world.started_programs(), "");
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn trust_can_be_given_for_one_run() {
    let world = World::new()
        .tool_server("box")
        .project(".mcp.json", r#"{ "mcpServers": { "box": { "command": "box" } } }"#);
    assert!(world.run("call box/echo text=a").starts_with("exit 6"));
    assert!(world.run("call box/echo text=a --trust-project").starts_with("exit 0"));
    assert!(world.run("call box/echo text=a").starts_with("exit 6"));
    assert!(world.run("trust box -q").starts_with("exit 0"));
    assert!(world.run("call box/echo text=a").starts_with("exit 0"));
}
