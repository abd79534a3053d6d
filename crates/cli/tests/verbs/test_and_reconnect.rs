//! `wharf test` and `wharf reconnect`: connect to one server.

use std::io::{Read, Write};
use std::net::TcpListener;

use insta::assert_snapshot;

use crate::test_servers::world_with_box;
use crate::world::{World, without_durations};

fn world_with_problems() -> World {
    World::new()
        .script("broken", "echo 'no licence' >&2; echo 'bye' >&2; exit 3\n")
        .server_with_startup("slow", "read line; read line; read line; read line")
        .own_servers(&[
            ("broken", r#""command": "broken", "timeout": 5000"#),
            ("slow", r#""command": "slow", "timeout": 300"#),
            ("gone", r#""command": "nowhere""#),
            ("refused", r#""url": "http://127.0.0.1:1/mcp""#),
            ("off", r#""command": "box", "enabled": false"#),
            ("half", r#""type": "stdio""#),
        ])
}

#[test]
fn a_working_server_is_described() {
    let world = world_with_box();
    assert_snapshot!(without_durations(&world.run("test box")), @r#"
    exit 0
    --- stdout
    Connected to "box"
      server         script 1.2
      transport      stdio
      protocol       2025-11-25 (legacy)
      tools          5
      connecting     [time] ms
      listing        [time] ms
    "#);
    assert_snapshot!(without_durations(&world.run("test box --json")), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "box",
      "transport": "stdio",
      "server": {
        "name": "script",
        "version": "1.2"
      },
      "protocolVersion": "2025-11-25",
      "era": "legacy",
      "tools": 5,
      "connectMs": [time],
      "listMs": [time]
    }
    "#);
    assert_snapshot!(world.run("reconnect box"), @r#"
    exit 0
    --- stdout
    Connected to "box": script 1.2, 5 tools
    "#);
    assert_snapshot!(world.run("reconnect box --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "box",
      "message": "Connected to \"box\": script 1.2, 5 tools"
    }
    "#);
}

#[test]
fn an_omitted_value_is_reported() {
    let world = World::new()
        .tool_server("box")
        .own_servers(&[("box", r#""command": "box", "env": { "TOKEN": "!exit 1" }"#)]);
    assert_snapshot!(without_durations(&world.run("test box")), @r#"
    exit 0
    --- stdout
    Connected to "box"
      server         script 1.2
      transport      stdio
      protocol       2025-11-25 (legacy)
      tools          5
      connecting     [time] ms
      listing        [time] ms
    --- stderr
    warning: ~/.wharf/mcp.json:1: "box": env "TOKEN" left out: command exited 1
      hint: run the command by hand to see its output
    "#);
}

#[test]
fn a_failing_server_has_a_reason_and_a_hint() {
    let world = world_with_problems();
    assert_snapshot!(world.run("test broken"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "broken": the server's process ended (exit status: 3)
      hint: `wharf logs broken` shows all of its output
      the server's last error output:
        no licence
        bye
    "#);
    assert_snapshot!(world.run("test slow"), @r#"
    exit 5
    --- stderr
    error: Failed to connect to "slow": the server did not answer within 300ms
      hint: raise `timeout` in its entry if it needs longer to start (`wharf get slow`)
    "#);
    assert_snapshot!(world.run("test gone"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "gone": nowhere not found
      hint: install nowhere, or give its full path in "command"
    "#);
    // The error number depends on the system.
    let refused =
        world.run("test refused").replace(" (os error 111)", "").replace(" (os error 61)", "");
    assert_snapshot!(refused, @r#"
    exit 3
    --- stderr
    error: Failed to connect to "refused": could not connect to http://127.0.0.1:1: Connection refused
      hint: check that the server is running, and the port in its address (`wharf get refused`)
    "#);
    assert_snapshot!(world.run("test off"), @r#"
    exit 1
    --- stderr
    error: Server "off" is disabled. Run wharf enable off first.
    "#);
    assert_snapshot!(world.run("test half"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "half": stdio server requires "command"
      hint: add "command" (the program to start), or "url" for a remote server
    "#);
    assert_snapshot!(world.run("test nobody"), @r#"
    exit 1
    --- stderr
    error: Server "nobody" not found
    "#);
}

#[test]
fn json_has_the_reason_of_a_failure() {
    let world = world_with_problems();
    assert_snapshot!(world.run("test broken --json"), @r#"
    exit 3
    --- stdout
    {
      "ok": false,
      "name": "broken",
      "transport": "stdio",
      "error": "the server's process ended (exit status: 3)",
      "tip": "`wharf logs broken` shows all of its output",
      "stderr": "no licence\nbye\n"
    }
    --- stderr
    error: Failed to connect to "broken": the server's process ended (exit status: 3)
      hint: `wharf logs broken` shows all of its output
      the server's last error output:
        no licence
        bye
    "#);
    assert_snapshot!(world.run("test off --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "off",
      "transport": "stdio",
      "error": "Server \"off\" is disabled. Run wharf enable off first."
    }
    --- stderr
    error: Server "off" is disabled. Run wharf enable off first.
    "#);
    assert_snapshot!(world.run("reconnect off --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "off",
      "message": "Server \"off\" is disabled. Run wharf enable off first.",
      "error": {
        "code": "disabled",
        "message": "Server \"off\" is disabled. Run wharf enable off first.",
        "server": "off"
      }
    }
    --- stderr
    error: Server "off" is disabled. Run wharf enable off first.
    "#);
    assert_snapshot!(world.run("reconnect gone --json"), @r#"
    exit 3
    --- stdout
    {
      "ok": false,
      "name": "gone",
      "message": "Failed to connect to \"gone\": nowhere not found",
      "hint": "install nowhere, or give its full path in \"command\"",
      "error": {
        "code": "not-connected",
        "message": "Failed to connect to \"gone\": nowhere not found",
        "hint": "install nowhere, or give its full path in \"command\"",
        "server": "gone"
      }
    }
    --- stderr
    error: Failed to connect to "gone": nowhere not found
      hint: install nowhere, or give its full path in "command"
    "#);
}

#[test]
fn a_server_that_answers_401_exits_with_4() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(r#""url": "http://{}/mcp""#, listener.local_addr().unwrap());
    // The thread ends with the process, because the number of requests is not known.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            drop(stream.read(&mut [0; 4096]));
            let answer =
                "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    let world = World::new().own_servers(&[("locked", &url)]);
    assert_snapshot!(world.run("test locked"), @r#"
    exit 4
    --- stderr
    error: Failed to connect to "locked": the server answered 401 Unauthorized
      hint: `wharf login locked`, or store a token with `wharf add locked --token -`, or check its headers (`wharf get locked`)
    "#);
    assert_snapshot!(world.run("call locked/x"), @r#"
    exit 4
    --- stderr
    error: Failed to connect to "locked": the server answered 401 Unauthorized
      hint: `wharf login locked`, or store a token with `wharf add locked --token -`, or check its headers (`wharf get locked`)
    "#);
    assert!(world.run("tools --server locked").starts_with("exit 4"));
    assert!(world.run("tools").starts_with("exit 0"));
}
