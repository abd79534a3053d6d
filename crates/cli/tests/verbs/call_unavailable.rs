//! Calls of tools that cannot be called: the messages and the exit codes.

use insta::assert_snapshot;

use crate::server_variants::{ServerScript, ServerVariant, install};
use crate::world::World;

#[test]
fn calling_an_unused_entry_says_why_it_is_unused() {
    let world = World::new()
        .tool_server("box")
        .own_servers(&[
            ("box", r#""command": "box""#),
            ("copy", r#""command": "box""#),
            ("off", r#""command": "box", "args": ["off"], "enabled": false"#),
            ("bad", r#""type": "http""#),
        ])
        .project(".mcp.json", r#"{ "mcpServers": { "theirs": { "command": "box" } } }"#);
    assert_snapshot!(world.run("call copy/echo text=a"), @r#"
    exit 1
    --- stderr
    error: Server "copy" is not used: it is the same server as "box"
      hint: use "box"
    "#);
    assert_snapshot!(world.run("call off/echo text=a"), @r#"
    exit 1
    --- stderr
    error: Server "off" is disabled. Run wharf enable off first.
    "#);
    assert_snapshot!(world.run("call mcp_off_echo text=a"), @r#"
    exit 1
    --- stderr
    error: Server "off" is disabled. Run wharf enable off first.
    "#);
    assert_snapshot!(world.run("call bad/echo"), @r#"
    exit 3
    --- stderr
    error: Server "bad" has an invalid definition: http server requires "url"
      hint: add "url" with the server's address (~/.wharf/mcp.json:4)
    "#);
    assert_snapshot!(world.run("call theirs/echo text=a"), @r#"
    exit 6
    --- stderr
    error: Server "theirs" came with this project and is not trusted
      hint: `wharf trust theirs`
    "#);
    assert_snapshot!(world.run("call nowhere/echo"), @r#"
    exit 1
    --- stderr
    error: Tool "nowhere/echo" not found
      hint: not searched, because not connected: "bad", "off" and "theirs"
    "#);
}

#[test]
fn calling_an_excluded_tool_says_why() {
    let world = World::new().tool_server("box").own_servers(&[
        ("box", r#""command": "box", "excludeTools": ["fa*"]"#),
        ("few", r#""command": "box", "args": ["few"], "includeTools": ["echo"]"#),
        ("no", r#""command": "box", "args": ["no"], "approval": "deny""#),
    ]);
    let first = world.run("call box/fail");
    assert_snapshot!(first, @r#"
    exit 1
    --- stderr
    error: tool "fail" of "box" is excluded
      hint: "excludeTools" in the entry of "box" leaves it out
    "#);
    assert_eq!(world.run("call box/fail"), first);
    assert_snapshot!(world.run("call mcp_few_picture"), @r#"
    exit 1
    --- stderr
    error: tool "picture" of "few" is excluded
      hint: "includeTools" in the entry of "few" does not name it
    "#);
    assert_snapshot!(world.run("tools few/picture"), @r#"
    exit 1
    --- stderr
    error: tool "picture" of "few" is excluded
      hint: "includeTools" in the entry of "few" does not name it
    "#);
    assert_snapshot!(world.run("call no/echo text=a"), @r#"
    exit 1
    --- stderr
    MCP error: the settings deny this tool (server "no", tool "echo", phase send)
    Trying again will not help.
    hint: to allow it, write "ask" instead of "deny" in "approval" or "toolApproval" of "no"
    "#);
}

#[test]
fn the_reason_is_the_same_for_every_transport_and_era() {
    let list = r#"result '{"tools":[{"name":"go","inputSchema":{"type":"object"}},{"name":"rm","inputSchema":{"type":"object"}},{"name":"odd","inputSchema":{"type":"string"}}]}'"#;
    let outputs = ServerVariant::ALL.map(|variant| {
        let server_script = ServerScript { list, ..ServerScript::PLAIN };
        let (world, entry, _web) = install(World::new(), variant, "box", server_script);
        let off = entry.replace("/mcp\"", "/off\"") + r#", "args": ["off"], "enabled": false"#;
        let deny = r#""excludeTools": ["rm"], "toolApproval": { "go": "deny" }"#;
        let world = world.own_servers(&[
            ("box", &format!("{entry}, {deny}")),
            ("copy", &entry),
            ("off", &off),
        ]);
        let lines = ["call copy/go", "call off/go", "call box/rm", "call box/odd", "call box/go"];
        lines.map(|line| world.run(line)).join("\n")
    });
    for (output, variant) in outputs.iter().zip(ServerVariant::ALL) {
        assert_eq!(*output, outputs[0], "{variant:?}");
    }
    assert_snapshot!(outputs[0], @r#"
    exit 1
    --- stderr
    error: Server "copy" is not used: it is the same server as "box"
      hint: use "box"

    exit 1
    --- stderr
    error: Server "off" is disabled. Run wharf enable off first.

    exit 1
    --- stderr
    error: tool "rm" of "box" is excluded
      hint: "excludeTools" in the entry of "box" leaves it out

    exit 1
    --- stderr
    error: tool "odd" of "box" was omitted: its inputSchema does not allow an object
      hint: report it to the author of the server

    exit 1
    --- stderr
    MCP error: the settings deny this tool (server "box", tool "go", phase send)
    Trying again will not help.
    hint: to allow it, write "ask" instead of "deny" in "approval" or "toolApproval" of "box"
    "#);
}

#[test]
fn a_tool_with_an_unusable_schema_is_not_reported_as_missing() {
    let list = r#"result '{"tools":[{"name":"odd","inputSchema":{"type":"string"}}]}'"#;
    let world = World::new()
        .server_with_list_command("box", list)
        .own_servers(&[("box", r#""command": "box""#)]);
    assert_snapshot!(world.run("call box/odd"), @r#"
    exit 1
    --- stderr
    error: tool "odd" of "box" was omitted: its inputSchema does not allow an object
      hint: report it to the author of the server
    "#);
}
