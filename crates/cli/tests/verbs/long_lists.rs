//! Lists that are longer than the limit: they are truncated, and every verb reports that.

#![expect(clippy::disallowed_methods, reason = "a test starts the binary")]

use std::process::Command;

use insta::assert_snapshot;

use crate::http_server::{HttpRequest, HttpServer, response, write_to};
use crate::world::{World, without_durations};

/// A server whose lists have `entries` entries each, on one page.
fn server_with_lists_of(entries: usize) -> HttpServer {
    let list = move |kind: &str, key: &str| {
        let more = if kind == "tools" { r#","inputSchema":{"type":"object"}"# } else { "" };
        let entry = |number: usize| format!(r#"{{"{key}":"x{number}"{more}}}"#);
        let all: Vec<String> = (0..entries).map(entry).collect();
        format!(r#"{{"{kind}":[{}]}}"#, all.join(","))
    };
    HttpServer::start(move |request: &HttpRequest, client| {
        let result = match request.method() {
            "initialize" => r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{"name":"web","version":"3"}}"#.to_owned(),
            "tools/list" => list("tools", "name"),
            "resources/list" => list("resources", "uri"),
            "resources/templates/list" => list("resourceTemplates", "uriTemplate"),
            "prompts/list" => list("prompts", "name"),
            method if method.starts_with("notifications/") => {
                return write_to(client, &response("202 Accepted", "", ""));
            }
            _ => return write_to(client, &response("405 Method Not Allowed", "", "")),
        };
        write_to(client, &request.result(&result));
    })
}

fn world_with(server: &HttpServer) -> World {
    let entry = format!(r#""url": "{}", "timeout": 120000"#, server.url("/mcp"));
    World::new().own_servers(&[("big", &entry)])
}

/// Returns the stderr part of the output.
fn remarks(said: &str) -> &str {
    said.split_once("--- stderr\n").map_or("", |(_, remarks)| remarks)
}

#[test]
fn every_verb_reports_a_truncated_list() {
    let server = server_with_lists_of(50_001);
    let world = world_with(&server);
    assert_snapshot!(remarks(&world.run("tools")), @r#"
    warning: "big": its list of tools was cut: it has more than 50000 entries
      hint: only the tools before the limit can be used; report this to the author of the server
    warning: "big": names already taken: "x1" is mcp_big_x_znqxkk, since "big/x0" is mcp_big_x; "x2" is mcp_big_x_hguwle, since "big/x0" is mcp_big_x; "x3" is mcp_big_x_kwytpp, since "big/x0" is mcp_big_x; and 49996 more
      hint: set `prefix` to give the server's tools other names
    50000 tools from 1 server.
    "#);
    assert_snapshot!(remarks(&world.run("resources")), @r#"
    warning: "big": its list of resources was cut: it has more than 50000 entries
      hint: only the resources before the limit can be used; report this to the author of the server
    warning: "big": its list of templates was cut: it has more than 50000 entries
      hint: only the templates before the limit can be used; report this to the author of the server
    50000 resources and 50000 templates.
    "#);
    assert_snapshot!(remarks(&world.run("prompts")), @r#"
    warning: "big": its list of prompts was cut: it has more than 50000 entries
      hint: only the prompts before the limit can be used; report this to the author of the server
    50000 prompts.
    "#);
    assert_snapshot!(without_durations(&world.run("test big")), @r#"
    exit 0
    --- stdout
    Connected to "big"
      server         web 3
      transport      http
      protocol       2025-11-25 (legacy)
      tools          50000
      connecting     [time] ms
      listing        [time] ms
    --- stderr
    warning: "big": its list of tools was cut: it has more than 50000 entries
      hint: only the tools before the limit can be used; report this to the author of the server
    "#);
    let told = world.run("doctor big");
    assert!(told.contains("its list of tools was cut: it has more than 50000 entries"), "{told}");
    for (line, expected) in [
        ("tools --json", r#""cut": "it has more than 50000 entries""#),
        ("test big --json", r#""cut": "it has more than 50000 entries""#),
        ("resources --json", r#""list": "resources""#),
        ("resources --json", r#""list": "templates""#),
        ("prompts --json", r#""list": "prompts""#),
        ("doctor big --json", "its list of tools was cut: it has more than 50000 entries"),
    ] {
        let told = world.run(line);
        assert!(told.contains(expected), "{line}: {}", &told[told.len().saturating_sub(2000)..]);
    }
}

#[test]
fn a_list_of_exactly_the_limit_is_not_truncated() {
    let server = server_with_lists_of(50_000);
    let told = world_with(&server).run("test big");
    assert!(told.contains("tools          50000") && !told.contains("cut"), "{told}");
}

#[test]
fn a_page_of_a_million_tools_uses_little_memory() {
    let server = server_with_lists_of(1_000_000);
    let world = world_with(&server);
    let wanted = world.command(&["test", "big"]);
    let mut limited = Command::new("/bin/sh");
    limited.args(["-c", "ulimit -v 700000; exec \"$0\" \"$@\""]);
    limited.arg(wanted.get_program()).args(wanted.get_args());
    limited.current_dir(world.path("project")).env_clear();
    limited.envs(wanted.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let told = world.render(&limited.output().unwrap());
    assert!(told.contains("tools          50000"), "{told}");
}
