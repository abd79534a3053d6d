//! `wharf mcp`: the built-in servers over stdio.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::world::World;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"sequentialthinking","arguments":{"thought":"Count the boats.","nextThoughtNeeded":true,"thoughtNumber":1,"totalThoughts":2}}}
"#;

#[test]
fn a_client_that_begins_with_initialize_is_served() {
    let list = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";
    let input = format!("{HELLO}{list}{CALL}");
    let rendered = World::new().run_with_input(&["mcp", "thinking"], &input);
    assert_snapshot!(rendered.replace(env!("CARGO_PKG_VERSION"), "[version]"), @r#"
    exit 0
    --- stdout
    {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"wharf-thinking","version":"[version]"}}}
    {"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"sequentialthinking","description":"Works through a hard problem one thought at a time. Call it once per thought.\n\nUse it to plan, to design, or to analyse when the way is not clear from the start. Begin with a rough guess of how many thoughts it will take and change the guess whenever you know better. A thought may revise an earlier one, or branch off from it to try another way. State a hypothesis when you have one, check it against the thoughts so far, and set nextThoughtNeeded to false only when you are content with the answer.","inputSchema":{"type":"object","properties":{"thought":{"type":"string","minLength":1,"maxLength":100000,"description":"What you think at this step"},"nextThoughtNeeded":{"type":"boolean","description":"Whether another thought follows"},"thoughtNumber":{"type":"integer","minimum":1,"description":"The number of this thought, from 1"},"totalThoughts":{"type":"integer","minimum":1,"description":"The number of thoughts that you expect now; may change"},"isRevision":{"type":"boolean","description":"Whether this thought corrects an earlier one"},"revisesThought":{"type":"integer","minimum":1,"description":"The number of the thought that is corrected"},"branchFromThought":{"type":"integer","minimum":1,"description":"The number of the thought from which a branch starts"},"branchId":{"type":"string","description":"A short name for the branch"},"needsMoreThoughts":{"type":"boolean","description":"Whether more thoughts are needed than expected"}},"required":["thought","nextThoughtNeeded","thoughtNumber","totalThoughts"]},"title":"Sequential thinking","outputSchema":{"type":"object","properties":{"thoughtNumber":{"type":"integer","minimum":1,"description":"The number of this thought"},"totalThoughts":{"type":"integer","minimum":1,"description":"The number of thoughts expected, at least thoughtNumber"},"nextThoughtNeeded":{"type":"boolean","description":"Whether another thought follows, as in the request"},"branches":{"type":"array","items":{"type":"string"},"description":"The branches so far, oldest first"},"thoughtHistoryLength":{"type":"integer","minimum":1,"description":"The number of thoughts in this session so far"}},"required":["thoughtNumber","totalThoughts","nextThoughtNeeded","branches","thoughtHistoryLength"]},"annotations":{"readOnlyHint":true,"openWorldHint":false}}]}}
    {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"thoughtNumber\":1,\"totalThoughts\":2,\"nextThoughtNeeded\":true,\"branches\":[],\"thoughtHistoryLength\":1}"}],"structuredContent":{"thoughtNumber":1,"totalThoughts":2,"nextThoughtNeeded":true,"branches":[],"thoughtHistoryLength":1}}}
    "#);
}

#[test]
fn a_client_that_begins_with_discover_is_served() {
    let request = |id: u8, method: &str, params: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        ) + "\n"
    };
    let arguments = r#""name":"sequentialthinking","arguments":{"thought":"Count the boats."},"#;
    let input = request(1, "server/discover", "") + &request(2, "tools/call", arguments);
    let rendered = World::new().run_with_input(&["mcp", "thinking"], &input);
    assert_snapshot!(rendered.replace(env!("CARGO_PKG_VERSION"), "[version]"), @r#"
    exit 0
    --- stdout
    {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"wharf-thinking","version":"[version]"}},"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"tools":{}}}}
    {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"wharf-thinking","version":"[version]"}},"content":[{"type":"text","text":"nextThoughtNeeded is missing; it must be true or false\nthoughtNumber is missing; it must be a whole number from 1\ntotalThoughts is missing; it must be a whole number from 1"}],"isError":true}}
    "#);
}

#[test]
fn a_request_is_answered_while_stdin_is_open() {
    let world = World::new();
    let mut command = world.command(&["mcp", "thinking"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    input.write_all(HELLO.as_bytes()).unwrap();
    assert!(output.next().unwrap().unwrap().contains(r#""id":1"#));
    input.write_all(CALL.as_bytes()).unwrap();
    assert!(output.next().unwrap().unwrap().contains(r#""id":3"#));
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_closed_stdout_ends_the_server_without_an_error() {
    let world = World::new();
    let mut command = world.command(&["mcp", "thinking"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    // Stdin stays open: the server ends because its stdout is closed.
    let mut input = child.stdin.take().unwrap();
    let began = Instant::now();
    let status = loop {
        // A process that another test starts has a copy of our end of the pipe until it calls exec,
        // so a response can still be written in that moment.
        let _may_have_ended = input.write_all(HELLO.as_bytes());
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "the server does not notice the closed stdout"
        );
        std::thread::sleep(Duration::from_millis(10));
    };
    drop(input);
    let complaints = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!((status.code(), complaints.as_str()), (Some(0), ""));
}

#[test]
fn a_server_name_is_required() {
    assert_snapshot!(World::new().run("mcp -h"), @"
    exit 0
    --- stdout
    Run one of the MCP servers that are built into Wharf

    Usage: wharf mcp [OPTIONS] <SERVER>

    Built-in servers:
      thinking  Help a model think step by step, with a tool called sequentialthinking

    Options:
      -h, --help  Print help (see more with '--help')

    Common options:
          --json           Print one JSON document, with secrets redacted
          --project <DIR>  Use this folder instead of the working folder
          --no-project     Ignore the files of projects
          --trust-project  Trust everything in this project, for this run only
      -q, --quiet          Suppress warnings and notices
      -v, --verbose...     Print more, such as which files were read; can be repeated
          --color <WHEN>   When to use colours [default: auto] [possible values: auto, always, never]

    Examples:
      wharf mcp thinking
      wharf add thinking -- wharf mcp thinking      use it in this project
    ");
    assert_snapshot!(World::new().run("mcp memory"), @"
    exit 2
    --- stderr
    error: unrecognized subcommand 'memory'

    Usage: wharf mcp [OPTIONS] <SERVER>

    For more information, try '--help'.
    ");
}
