//! Values that cannot be resolved and are omitted: every verb that connects reports them.

use insta::assert_snapshot;
use serde_json::Value;

use crate::recording_server::RecordingServer;
use crate::server_variants::{ServerScript, ServerVariant, install};
use crate::world::World;

const OMITTED_VALUE: &str =
    r#"warning: ~/.wharf/mcp.json:1: "box": env "TOKEN" left out: command exited 1"#;

#[test]
fn every_verb_that_connects_reports_omitted_values() {
    let entry = r#""command": "box", "env": { "TOKEN": "!exit 1" }"#;
    let world = World::new().tool_server("box").own_servers(&[("box", entry)]);
    for line in ["test box", "tools", "tools box/echo", "call box/echo text=a", "reconnect box"] {
        let rendered = world.run(line);
        assert!(rendered.starts_with("exit 0"), "{line} {rendered}");
        assert_eq!(rendered.matches(OMITTED_VALUE).count(), 1, "{line} {rendered}");
    }
    let json = |line: &str| world.run(line).contains(r#"env \"TOKEN\" left out: command exited 1"#);
    for line in ["test box --json", "tools --json", "call box/echo text=a --json"] {
        assert!(json(line), "{line}");
    }
    let world = World::new().note_server("box").own_servers(&[("box", entry)]);
    for line in ["resources", "prompts", "read note://a", "prompt review file=a"] {
        let rendered = world.run(line);
        assert!(rendered.starts_with("exit 0"), "{line} {rendered}");
        assert_eq!(rendered.matches(OMITTED_VALUE).count(), 1, "{line} {rendered}");
    }
}

#[test]
fn omitted_values_are_reported_for_every_transport_and_era() {
    for variant in ServerVariant::ALL {
        let (world, entry, _web) = install(World::new(), variant, "box", ServerScript::PLAIN);
        let (kind, field) = match variant {
            ServerVariant::Stdio(_) => ("env", "env"),
            ServerVariant::Http(_) => ("header", "headers"),
        };
        let entry = format!(r#"{entry}, "{field}": {{ "KEY": "!exit 1" }}"#);
        let world = world.own_servers(&[("box", &entry)]);
        let told = format!("{kind} \"KEY\" left out: command exited 1");
        for line in ["test box", "tools", "call box/go", "reconnect box"] {
            let rendered = world.run(line);
            assert!(rendered.starts_with("exit 0"), "{variant:?} {line} {rendered}");
            assert_eq!(rendered.matches(&told).count(), 1, "{variant:?} {line} {rendered}");
        }
    }
}

#[test]
fn the_json_of_every_verb_that_connects_has_the_problems() {
    let entry = r#""command": "box", "env": { "TOKEN": "!exit 1" }"#;
    let world = World::new().note_server("box").own_servers(&[("box", entry)]);
    let lines = ["resources", "prompts", "read note://a", "prompt review file=a", "reconnect box"];
    let problems = lines.map(|line| {
        let output = world.output(&format!("{line} --json"));
        assert!(output.status.success(), "{line} {}", world.render(&output));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        world.filter(&document["problems"].to_string())
    });
    for (told, line) in problems.iter().zip(lines) {
        assert_eq!(*told, problems[0], "{line}");
    }
    assert_snapshot!(problems[0], @r#"[{"severity":"warning","code":"omitted-value","server":"box","field":"env.TOKEN","path":"~/.wharf/mcp.json","line":1,"message":"env \"TOKEN\" left out: command exited 1","hint":"run the command by hand to see its output"}]"#);
}

#[test]
fn a_connect_failure_names_omitted_values_first() {
    let server = RecordingServer::with_status("401 Unauthorized");
    let entry = format!(
        r#""url": "http://{}/mcp", "headers": {{ "Authorization": "!exit 3" }}"#,
        server.address()
    );
    let world = World::new().own_servers(&[("box", &entry)]);
    let told = r#"Failed to connect to "box": header "Authorization" left out: command exited 3; "#;
    for line in ["test box", "tools", "call box/echo", "reconnect box", "resources", "prompts"] {
        let rendered = world.run(line);
        assert!(rendered.contains(told), "{line} {rendered}");
    }
    let rendered = world.run("doctor");
    assert!(
        rendered.contains(r#"failed to connect: header "Authorization" left out"#),
        "{rendered}"
    );
    let rendered = world.run("call box/echo --json");
    assert!(
        rendered.contains(r#"header \"Authorization\" left out: command exited 3; "#),
        "{rendered}"
    );
}

#[test]
fn a_strict_entry_does_not_connect_with_omitted_values() {
    let entry = r#""command": "box", "env": { "TOKEN": "!exit 1" }, "strict": true"#;
    let world = World::new().tool_server("box").own_servers(&[("box", entry)]);
    assert_snapshot!(world.run("call box/echo text=a"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "box": env "TOKEN" cannot be resolved: command exited 1
      hint: correct "env.TOKEN", or remove "strict" to go on without it
    "#);
}
