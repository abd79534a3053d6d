//! The exported spans of a run: their attributes, their parents, and that they contain no secret.

use std::fs;

use insta::assert_snapshot;

use crate::collector::{Collector, CollectorBehavior, Span};
use crate::server_script::{Era, ServerScript};
use crate::world::World;

/// A server that records every line it receives; each tool ends a call in a different way.
const SERVER: ServerScript<'static> = ServerScript {
    before: r#"echo "s3cret-of-stderr $API_TOKEN" >&2"#,
    each: "note seen",
    capabilities: r#"{"tools":{},"prompts":{}}"#,
    list: r#"result '{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}},{"name":"refuse","inputSchema":{"type":"object"}},{"name":"die","inputSchema":{"type":"object"}}]}'"#,
    cases: r#"
    *'"name":"echo"'*) result '{"content":[{"type":"text","text":"s3cret-of-result"}]}';;
    *'"name":"fail"'*) result '{"content":[{"type":"text","text":"s3cret-of-result"}],"isError":true}';;
    *'"name":"refuse"'*) refuse -32602 s3cret-of-error;;
    *'"name":"die"'*) exit 7;;
    *'"method":"prompts/list"'*) result '{"prompts":[{"name":"review"}]}';;
"#,
};

/// The `TRACEPARENT` of the parent process.
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

fn world(collector: &Collector) -> World {
    let entry = r#"{ "mcpServers": { "box": { "command": "box", "args": ["--token", "s3cret-of-flag"], "env": { "API_TOKEN": "s3cret-of-env" } } } }"#;
    World::new()
        .script("box", &SERVER.for_era(Era::Legacy))
        .home(".wharf/mcp.json", entry)
        .variable("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint())
}

/// Runs a command line and renders the exported spans, sorted by name.
fn exported_spans(line: &str) -> String {
    let collector = Collector::start(0, CollectorBehavior::Answers);
    let output = world(&collector).output(line);
    let mut rendered: Vec<String> = collector.spans().iter().map(Span::render).collect();
    rendered.sort();
    assert!(!rendered.is_empty(), "{output:?}");
    rendered.join("\n")
}

#[track_caller]
fn find<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no span {name}"))
}

#[test]
fn a_call_exports_spans_of_the_run_the_connection_and_the_request() {
    assert_snapshot!(exported_spans("call box/echo text=s3cret-of-argument"), @"
    connect (internal)
      attempt: 1
      era: Legacy
      mcp.protocol.version: 2025-11-25
      network.transport: pipe
      server: box
      transport: stdio
      * server started
    connection (internal)
      attempt: 1
      ended: stopped
      era: Legacy
      mcp.protocol.version: 2025-11-25
      network.transport: pipe
      server: box
      transport: stdio
      * server stopped
    execute_tool echo (internal)
      gen_ai.operation.name: execute_tool
      gen_ai.tool.name: echo
      server: box
      tool: echo
      * call answered
    tools/call echo (client)
      attempt: 1
      era: Legacy
      gen_ai.tool.name: echo
      mcp.method.name: tools/call
      mcp.protocol.version: 2025-11-25
      network.transport: pipe
    wharf call (internal)
      process.executable.name: wharf
      process.exit.code: 0
      process.pid: [pid]
      verb: call
      * the status of a server changed
      * the status of a server changed
      * the status of a server changed
    ");
}

#[test]
fn a_failed_call_has_an_error_type() {
    let failed = |tool: &str| {
        let spans = exported_spans(&format!("call box/{tool}"));
        let lines = spans.lines().skip_while(|line| !line.starts_with("execute_tool"));
        let lines = lines.filter(|line| {
            !line.starts_with(' ') || line.contains("error.type") || line.contains("status_code")
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(failed("fail"), @"
    execute_tool fail (internal error)
      error.type: tool_error
    tools/call fail (client error)
      error.type: tool_error
    wharf call (internal error)
      error.type: 1
    ");
    assert_snapshot!(failed("refuse"), @"
    execute_tool refuse (internal error)
      error.type: bad_arguments
    tools/call refuse (client error)
      error.type: -32602
      rpc.response.status_code: -32602
    wharf call (internal error)
      error.type: 2
    ");
    assert_snapshot!(failed("die"), @"
    execute_tool die (internal error)
      error.type: lost
    tools/call die (client error)
      error.type: lost
    wharf call (internal error)
      error.type: 3
    ");
}

#[test]
fn requests_other_than_calls_have_spans() {
    let spans = exported_spans("prompts");
    assert!(spans.contains("\nprompts/list (client)\n"), "{spans}");
}

#[test]
fn all_spans_are_one_trace_and_the_server_gets_its_context() {
    let collector = Collector::start(0, CollectorBehavior::Answers);
    let world = world(&collector).variable("TRACEPARENT", PARENT);
    assert!(world.output("call box/echo").status.success());
    let spans = collector.spans();
    assert!(spans.iter().all(|span| span.trace == "0af7651916cd43dd8448eb211c80319c"));
    let [run, connection, connect, call, attempt] =
        ["wharf call", "connection", "connect", "execute_tool echo", "tools/call echo"]
            .map(|name| find(&spans, name));
    assert_eq!(run.parent, "00f067aa0ba902b7");
    assert_eq!([&connection.parent, &call.parent], [&run.id, &run.id]);
    assert_eq!([&connect.parent, &attempt.parent], [&connection.id, &call.id]);
    // A call can use a connection that an earlier span opened, so it links to it.
    assert_eq!(attempt.links, std::slice::from_ref(&connection.id));
    let seen = fs::read_to_string(world.path("bin/box.seen")).unwrap();
    let received = format!(r#""traceparent":"00-{}-{}-01""#, attempt.trace, attempt.id);
    assert_eq!(seen.matches(&received).count(), 1, "{seen}");
    assert_eq!(seen.matches("traceparent").count(), 1, "{seen}");
}

#[test]
fn without_a_valid_traceparent_the_run_is_the_root_span() {
    let collector = Collector::start(0, CollectorBehavior::Answers);
    let world = world(&collector).variable("TRACEPARENT", "hello");
    assert!(world.output("list").status.success());
    let spans = collector.spans();
    assert_eq!(find(&spans, "wharf list").parent, "");
}

#[test]
fn an_unsampled_traceparent_disables_the_export() {
    let collector = Collector::start(0, CollectorBehavior::Answers);
    let unsampled = PARENT.strip_suffix('1').unwrap().to_owned() + "0";
    let world = world(&collector).variable("TRACEPARENT", &unsampled);
    assert!(world.output("call box/echo").status.success());
    assert_eq!(collector.spans().len(), 0);
}

#[test]
fn the_resource_has_the_service_name_and_version() {
    let resource = |name: &str, value: &str| {
        let collector = Collector::start(0, CollectorBehavior::Answers);
        let world = world(&collector).variable(name, value);
        assert!(world.output("list").status.success());
        let resource = collector.resource();
        [resource["service.name"].clone(), resource["service.version"].clone()]
    };
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(resource("OTEL_SERVICE_NAME", ""), ["wharf", version]);
    assert_eq!(resource("OTEL_SERVICE_NAME", "mine"), ["mine", version]);
    let both = "service.name=theirs,service.version=7";
    assert_eq!(resource("OTEL_RESOURCE_ATTRIBUTES", both), ["theirs", "7"]);
}

#[test]
fn exported_spans_contain_no_secret() {
    let collector = Collector::start(0, CollectorBehavior::Answers);
    let entries = r#"{ "mcpServers": {
        "box": { "command": "box", "args": ["--token", "s3cret-of-flag"], "env": { "API_TOKEN": "s3cret-of-env", "OUT": "!echo s3cret-of-output" } },
        "gone": { "command": "s3cret-of-command", "cwd": "/s3cret-of-cwd" },
        "far": { "url": "http://me:s3cret-of-user@127.0.0.1:1/s3cret-of-path?key=s3cret-of-query", "headers": { "Authorization": "Bearer s3cret-of-header" } }
    } }"#;
    let world = world(&collector)
        .home(".wharf/mcp.json", entries)
        .variable("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=s3cret-of-collector");
    for line in [
        "call box/echo text=s3cret-of-argument",
        "call box/fail text=s3cret-of-argument",
        "call box/refuse text=s3cret-of-argument",
        "call box/s3cret-of-tool",
        "test far",
        "test gone",
        "tools --fresh",
        "get box --reveal",
    ] {
        world.output(line);
    }
    let received = collector.requests();
    assert!(received.len() >= 8 && collector.spans().len() >= 20, "{}", collector.spans().len());
    for request in &received {
        assert!(request.head.contains("x-api-key: s3cret-of-collector"), "{}", request.head);
        assert!(request.head.starts_with("post /v1/traces http/1.1\r\n"), "{}", request.head);
        let body = String::from_utf8_lossy(&request.body);
        assert!(!body.contains("s3cret"), "{body}");
    }
}
