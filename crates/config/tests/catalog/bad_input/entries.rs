//! Well-formed files with values of the wrong type, incomplete entries or unusual names.

use insta::assert_snapshot;

use super::{cursor, world};
use crate::world::CANARY;

#[test]
fn a_server_map_that_is_not_a_map_is_a_problem() {
    let all: String = [
        format!("{{\n  \"mcpServers\": [\"{CANARY}\"] }}"),
        format!("{{\n  \"mcpServers\": \"{CANARY}\" }}"),
        "{\n  \"mcpServers\": null }".to_owned(),
        "{\n  \"mcpServers\": 5 }".to_owned(),
    ]
    .map(cursor)
    .concat();
    assert_snapshot!(all, @r#"
    error not-an-object ~/.cursor/mcp.json:2: "mcpServers" must be an object of servers by name, not a list (write "mcpServers": { "name": { … } })
    error not-an-object ~/.cursor/mcp.json:2: "mcpServers" must be an object of servers by name, not a string (write "mcpServers": { "name": { … } })
    error not-an-object ~/.cursor/mcp.json:2: "mcpServers" must be an object of servers by name, not null (write "mcpServers": { "name": { … } })
    error not-an-object ~/.cursor/mcp.json:2: "mcpServers" must be an object of servers by name, not a number (write "mcpServers": { "name": { … } })
    "#);
}

#[test]
fn a_file_that_is_not_an_object_is_a_problem() {
    let all: String =
        [format!("[\"{CANARY}\"]"), format!("\"{CANARY}\""), "5".to_owned()].map(cursor).concat();
    assert_snapshot!(all, @"
    error not-an-object ~/.cursor/mcp.json:1: the file must hold an object, not a list (put everything into { … })
    error not-an-object ~/.cursor/mcp.json:1: the file must hold an object, not a string (put everything into { … })
    error not-an-object ~/.cursor/mcp.json:1: the file must hold an object, not a number (put everything into { … })
    ");
}

#[test]
fn an_entry_that_is_not_an_object_is_invalid_and_keeps_its_name() {
    let world = world()
        .with(
            "~/.cursor/mcp.json",
            format!(
                r#"{{ "mcpServers": {{
  "a": null,
  "b": 5,
  "c": "{CANARY}",
  "d": ["{CANARY}"],
  "fine": {{ "command": "x" }}
}} }}"#
            ),
        )
        .with("~/.lmstudio/mcp.json", r#"{ "mcpServers": { "a": { "command": "below" } } }"#);
    assert_snapshot!(world.show(), @r#"
    a: invalid unknown, cursor user ~/.cursor/mcp.json:2
      error not-an-object ~/.cursor/mcp.json:2: the entry must be an object, not null (write { "command": … } or { "url": … }, or remove the entry)
    a: shadowed stdio, lmstudio user ~/.lmstudio/mcp.json:1, by cursor user ~/.cursor/mcp.json
    b: invalid unknown, cursor user ~/.cursor/mcp.json:3
      error not-an-object ~/.cursor/mcp.json:3: the entry must be an object, not a number (write { "command": … } or { "url": … }, or remove the entry)
    c: invalid unknown, cursor user ~/.cursor/mcp.json:4
      error not-an-object ~/.cursor/mcp.json:4: the entry must be an object, not a string (write { "command": … } or { "url": … }, or remove the entry)
    d: invalid unknown, cursor user ~/.cursor/mcp.json:5
      error not-an-object ~/.cursor/mcp.json:5: the entry must be an object, not a list (write { "command": … } or { "url": … }, or remove the entry)
    fine: enabled stdio, cursor user ~/.cursor/mcp.json:6
    good: enabled stdio, windsurf user ~/.codeium/windsurf/mcp_config.json:1
    "#);
}

#[test]
fn arguments_in_one_string_are_read_as_words() {
    let text = format!(
        r#"{{ "mcpServers": {{ "a": {{
  "command": "x",
  "args": "--root '/a b' --token {CANARY}"
}} }} }}"#
    );
    let world = world().with("~/.cursor/mcp.json", text);
    assert_snapshot!(world.show(), @r#"
    a: enabled stdio, cursor user ~/.cursor/mcp.json:1
      warning wrong-type ~/.cursor/mcp.json:3: "args" must be a list, not a string; read as words (write "args": ["…", "…"])
    good: enabled stdio, windsurf user ~/.codeium/windsurf/mcp_config.json:1
    "#);
    let catalog = world.load();
    let args = &catalog.winner("a").expect("the server").definition.fields.args;
    let args: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    assert_eq!(args, ["--root", "/a b", "--token", CANARY]);
}

#[test]
fn headers_and_variables_in_lists_are_read_line_by_line() {
    let text = format!(
        r#"{{ "mcpServers": {{
  "a": {{ "url": "https://a.example", "headers": ["Authorization: Bearer {CANARY}=", "X-B={CANARY}"] }},
  "b": {{ "command": "x", "env": ["T={CANARY}=", "U=https://a.example"] }},
  "c": {{ "command": "x", "env": ["{CANARY}"] }}
}} }}"#
    );
    let world = world().with("~/.cursor/mcp.json", text);
    assert_snapshot!(world.show(), @r#"
    a: enabled http, cursor user ~/.cursor/mcp.json:2
      warning wrong-type ~/.cursor/mcp.json:2: "headers" must be an object, not a list; read line by line (write "headers": { "NAME": "value" })
    b: enabled stdio, cursor user ~/.cursor/mcp.json:3
      warning wrong-type ~/.cursor/mcp.json:3: "env" must be an object, not a list; read line by line (write "env": { "NAME": "value" })
    c: invalid stdio, cursor user ~/.cursor/mcp.json:4
      error wrong-type ~/.cursor/mcp.json:4: "env" must be an object of strings, not a list (write "env": { "NAME": "value" })
    good: enabled stdio, windsurf user ~/.codeium/windsurf/mcp_config.json:1
    "#);
    let catalog = world.load();
    let fields = |name| &catalog.winner(name).expect("the server").definition.fields;
    let pairs = fields("a").headers.iter().chain(&fields("b").env);
    let pairs: Vec<String> =
        pairs.map(|(name, value)| format!("{name} {}", value.text.replace(CANARY, "…"))).collect();
    assert_eq!(pairs, ["Authorization Bearer …=", "X-B …", "T …=", "U https://a.example"]);
}

#[test]
fn numbers_and_booleans_are_read_as_strings() {
    let text = r#"{ "mcpServers": { "a": {
  "command": "x",
  "args": ["--port", 8080],
  "env": {
    "PORT": 8080,
    "DEBUG": true,
    "NOTHING": null
  }
} } }"#;
    let world = world().with("~/.cursor/mcp.json", text);
    assert_snapshot!(world.show(), @r#"
    a: enabled stdio, cursor user ~/.cursor/mcp.json:1
      warning wrong-type ~/.cursor/mcp.json:3: "args[1]" must be a string, not a number; read as text (put the value in quotes)
      warning wrong-type ~/.cursor/mcp.json:5: "env.PORT" must be a string, not a number; read as text (put the value in quotes)
      warning wrong-type ~/.cursor/mcp.json:6: "env.DEBUG" must be a string, not true or false; read as text (put the value in quotes)
      warning wrong-type ~/.cursor/mcp.json:7: "env.NOTHING" is null; ignored (give it a value, or remove it)
    good: enabled stdio, windsurf user ~/.codeium/windsurf/mcp_config.json:1
    "#);
    let catalog = world.load();
    let env = &catalog.winner("a").expect("the server").definition.fields.env;
    let env: Vec<_> = env.iter().map(|(name, value)| format!("{name}={}", value.text)).collect();
    assert_eq!(env, ["PORT=8080", "DEBUG=true"]);
}

#[test]
fn a_field_of_the_wrong_type_makes_its_entry_invalid_and_no_other() {
    let text = format!(
        r#"{{ "mcpServers": {{
  "command": {{ "command": {{ "nobody": "{CANARY}" }} }},
  "url": {{ "url": ["{CANARY}"] }},
  "args": {{ "command": "x", "args": {{ "a": "{CANARY}" }} }},
  "args inside": {{ "command": "x", "args": [["{CANARY}"]] }},
  "env": {{ "command": "x", "env": "{CANARY}" }},
  "env inside": {{ "command": "x", "env": {{ "T": ["{CANARY}"] }} }},
  "headers": {{ "url": "https://a.example", "headers": ["{CANARY}"] }},
  "tools": {{ "command": "x", "includeTools": "{CANARY}" }},
  "fine": {{ "command": "x" }}
}} }}"#
    );
    let world = world().with("~/.wharf/mcp.json", text);
    assert_snapshot!(world.show(), @r#"
    args: invalid stdio, wharf user ~/.wharf/mcp.json:4
      error wrong-type ~/.wharf/mcp.json:4: "args" must be a list, not an object (write "args": ["…", "…"])
    args inside: invalid stdio, wharf user ~/.wharf/mcp.json:5
      error wrong-type ~/.wharf/mcp.json:5: "args[0]" must be a string, not a list (write one string in quotes)
      warning unusual-name ~/.wharf/mcp.json:5: the name has spaces, which some programs and tool names do not allow (use a dash or an underscore instead)
    command: invalid unknown, wharf user ~/.wharf/mcp.json:2
      error invalid ~/.wharf/mcp.json:2: stdio server requires "command" (add "command" (the program to start), or "url" for a remote server)
    env: invalid stdio, wharf user ~/.wharf/mcp.json:6
      error wrong-type ~/.wharf/mcp.json:6: "env" must be an object of strings, not a string (write "env": { "NAME": "value" })
    env inside: invalid stdio, wharf user ~/.wharf/mcp.json:7
      error wrong-type ~/.wharf/mcp.json:7: "env.T" must be a string, not a list (write one string in quotes)
      warning unusual-name ~/.wharf/mcp.json:7: the name has spaces, which some programs and tool names do not allow (use a dash or an underscore instead)
    fine: enabled stdio, wharf user ~/.wharf/mcp.json:10
    good: enabled stdio, windsurf user ~/.codeium/windsurf/mcp_config.json:1
    headers: invalid http, wharf user ~/.wharf/mcp.json:8
      error wrong-type ~/.wharf/mcp.json:8: "headers" must be an object of strings, not a list (write "headers": { "NAME": "value" })
    tools: invalid stdio, wharf user ~/.wharf/mcp.json:9
      error wrong-type ~/.wharf/mcp.json:9: "includeTools" must be a list, not a string (write "includeTools": ["…", "…"])
    url: invalid unknown, wharf user ~/.wharf/mcp.json:3
      error wrong-type ~/.wharf/mcp.json:3: "url" must be a string, not a list (write one string in quotes)
    "#);
}

#[test]
fn a_switch_or_limit_of_the_wrong_type_is_ignored_with_a_warning() {
    let text = format!(
        r#"{{ "mcpServers": {{
  "a": {{ "command": "x", "enabled": "{CANARY}" }},
  "b": {{ "command": "x", "enabled": 0, "timeout": "{CANARY}" }},
  "c": {{ "command": "x", "timeout": -1 }},
  "d": {{ "command": "x", "timeout": 1e300, "connectTimeout": [5] }},
  "e": {{ "command": "x", "timeout": "90s", "callTimeout": "2m" }},
  "f": {{ "command": "x", "approval": "{CANARY}" }}
}} }}"#
    );
    let world = world().with("~/.wharf/mcp.json", text);
    assert_snapshot!(world.show(), @r#"
    a: enabled stdio, wharf user ~/.wharf/mcp.json:2
      warning wrong-type ~/.wharf/mcp.json:2: "enabled" must be true or false, not a string; ignored (write true or false without quotes)
    b: duplicate stdio, wharf user ~/.wharf/mcp.json:3, of a
      warning wrong-type ~/.wharf/mcp.json:3: "enabled" must be true or false, not a number; ignored (write true or false without quotes)
      warning wrong-type ~/.wharf/mcp.json:3: "timeout" is not a valid timeout; ignored (write milliseconds, such as 30000)
    c: duplicate stdio, wharf user ~/.wharf/mcp.json:4, of a
      warning wrong-type ~/.wharf/mcp.json:4: "timeout" is not a valid timeout; ignored (write milliseconds, such as 30000)
    d: duplicate stdio, wharf user ~/.wharf/mcp.json:5, of a
      warning wrong-type ~/.wharf/mcp.json:5: "timeout" is not a valid timeout; ignored (write milliseconds, such as 30000)
      warning wrong-type ~/.wharf/mcp.json:5: "connectTimeout" is not a valid timeout; ignored (write milliseconds, such as 30000)
    e: duplicate stdio, wharf user ~/.wharf/mcp.json:6, of a
    f: duplicate stdio, wharf user ~/.wharf/mcp.json:7, of a
      warning wrong-type ~/.wharf/mcp.json:7: "approval" must be auto, ask, writes, never or deny; ignored (use "ask" to be asked for each call)
    good: enabled stdio, windsurf user ~/.codeium/windsurf/mcp_config.json:1
    "#);
}

#[test]
fn an_incomplete_or_contradictory_entry_is_invalid() {
    let text = r#"{ "mcpServers": {
  "both": { "command": "x", "url": "https://a.example/mcp" },
  "neither": {},
  "no command": { "type": "stdio" },
  "empty command": { "command": "" },
  "no url": { "type": "http" },
  "no sse url": { "type": "sse" },
  "unknown": { "type": "pigeon", "command": "x" },
  "socket": { "type": "ws", "url": "wss://a.example" },
  "scheme": { "url": "ftp://a.example" },
  "no scheme": { "url": "a.example/mcp" },
  "no host": { "url": "https:///mcp" }
} }"#;
    let world = world().with("~/.wharf/mcp.json", text);
    assert_snapshot!(world.show(), @r#"
    both: invalid unknown, wharf user ~/.wharf/mcp.json:2
      error invalid ~/.wharf/mcp.json:2: both "command" and "url" are set (keep "command" for a local server or "url" for a remote one)
    empty command: invalid unknown, wharf user ~/.wharf/mcp.json:5
      warning unusual-name ~/.wharf/mcp.json:5: the name has spaces, which some programs and tool names do not allow (use a dash or an underscore instead)
      error invalid ~/.wharf/mcp.json:5: stdio server requires "command" (add "command" (the program to start), or "url" for a remote server)
    good: enabled stdio, windsurf user ~/.codeium/windsurf/mcp_config.json:1
    neither: invalid unknown, wharf user ~/.wharf/mcp.json:3
      error invalid ~/.wharf/mcp.json:3: stdio server requires "command" (add "command" (the program to start), or "url" for a remote server)
    no command: invalid unknown, wharf user ~/.wharf/mcp.json:4
      warning unusual-name ~/.wharf/mcp.json:4: the name has spaces, which some programs and tool names do not allow (use a dash or an underscore instead)
      error invalid ~/.wharf/mcp.json:4: stdio server requires "command" (add "command" (the program to start), or "url" for a remote server)
    no host: invalid http, wharf user ~/.wharf/mcp.json:12
      warning unusual-name ~/.wharf/mcp.json:12: the name has spaces, which some programs and tool names do not allow (use a dash or an underscore instead)
      error invalid ~/.wharf/mcp.json:12: "url" has no host (write the host after the two slashes)
    no scheme: invalid http, wharf user ~/.wharf/mcp.json:11
      warning unusual-name ~/.wharf/mcp.json:11: the name has spaces, which some programs and tool names do not allow (use a dash or an underscore instead)
      error invalid ~/.wharf/mcp.json:11: "url" must start with http://, https:// or unix:// (write the whole address, such as https://example.com/mcp)
    no sse url: invalid unknown, wharf user ~/.wharf/mcp.json:7
      warning unusual-name ~/.wharf/mcp.json:7: the name has spaces, which some programs and tool names do not allow (use a dash or an underscore instead)
      error invalid ~/.wharf/mcp.json:7: sse server requires "url" (add "url" with the server's address)
    no url: invalid unknown, wharf user ~/.wharf/mcp.json:6
      warning unusual-name ~/.wharf/mcp.json:6: the name has spaces, which some programs and tool names do not allow (use a dash or an underscore instead)
      error invalid ~/.wharf/mcp.json:6: http server requires "url" (add "url" with the server's address)
    scheme: invalid http, wharf user ~/.wharf/mcp.json:10
      error invalid ~/.wharf/mcp.json:10: "url" must start with http://, https:// or unix:// (write the whole address, such as https://example.com/mcp)
    socket: invalid unknown, wharf user ~/.wharf/mcp.json:9
      error invalid ~/.wharf/mcp.json:9: WebSocket is not supported (ask the server's author for its Streamable HTTP address)
    unknown: invalid unknown, wharf user ~/.wharf/mcp.json:8
      error invalid ~/.wharf/mcp.json:8: unknown server type "pigeon" (use stdio, http or sse)
    "#);
}

#[test]
fn an_unusual_name_is_kept_and_reported() {
    let long = "n".repeat(10_000);
    let text = format!(
        r#"{{ "mcpServers": {{
  "my server": {{ "command": "x", "args": ["1"] }},
  "": {{ "command": "x", "args": ["2"] }},
  "{long}": {{ "command": "x", "args": ["3"] }},
  "plugin:server": {{ "command": "x", "args": ["4"] }},
  "検索": {{ "command": "x", "args": ["5"] }}
}} }}"#
    );
    let world = world().with("~/.cursor/mcp.json", text);
    assert_snapshot!(world.show(), @"
    : invalid stdio, cursor user ~/.cursor/mcp.json:3
      error empty-name ~/.cursor/mcp.json:3: the server has no name (give it a name)
    good: enabled stdio, windsurf user ~/.codeium/windsurf/mcp_config.json:1
    my server: enabled stdio, cursor user ~/.cursor/mcp.json:2
      warning unusual-name ~/.cursor/mcp.json:2: the name has spaces, which some programs and tool names do not allow (use a dash or an underscore instead)
    nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…: enabled stdio, cursor user ~/.cursor/mcp.json:4
      warning unusual-name ~/.cursor/mcp.json:4: the name is very long (use at most 100 characters)
    plugin:server: enabled stdio, cursor user ~/.cursor/mcp.json:5
    検索: enabled stdio, cursor user ~/.cursor/mcp.json:6
    ");
    assert!(world.load().winner(&long).is_some(), "the name is not cut");
}

#[test]
fn terminal_escapes_in_names_and_values_never_reach_a_message() {
    let text = format!(
        r#"{{ "mcpServers": {{
  "red\u001b[31m\n{{": {{ "command": "x" }},
  "turned\u202e": {{ "type": "\u001b[2J{long}", "command": "x" }},
  "keys": {{ "command": "x", "env": {{ "A\u001b[31m": 5 }}, "time\u001bout": 5 }},
  "keys": {{ "command": "x", "env": {{ "A\u001b[31m": 5, "A\u001b[31m": 5, "B": "${{V\u001b}}" }} }},
  "value": {{ "command": "\u001b]0;owned\u0007", "args": ["\u001b[31m"], "args\u001b": 5 }}
}} }}"#,
        long = "y".repeat(10_000)
    );
    let world = world().with("~/.wharf/mcp.json", text);
    let rendered = world.show_problems();
    let messages = rendered.replace('\n', " ");
    assert!(!messages.contains(char::is_control), "{messages:?}");
    assert!(!messages.contains('\u{202e}'), "{messages:?}");
    assert!(messages.len() < 5_000, "{messages}");
    assert_snapshot!(rendered, @r#"
    warning wrong-type ~/.wharf/mcp.json:5: "env.A\u{1b}[31m" must be a string, not a number; read as text (put the value in quotes)
    warning unusual-name ~/.wharf/mcp.json:2: the name has control characters (use letters, numbers, dash, underscore and dot)
    warning unusual-name ~/.wharf/mcp.json:3: the name has control characters (use letters, numbers, dash, underscore and dot)
    error invalid ~/.wharf/mcp.json:3: unknown server type "\u{1b}[2Jyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…" (use stdio, http or sse)
    warning unknown-field ~/.wharf/mcp.json:6: unknown field "args\u{1b}" (did you mean "args"?)
    warning duplicate-key ~/.wharf/mcp.json:5: "A\u{1b}[31m" appears twice in one object (first on line 5); the last one is used (remove one of them)
    warning duplicate-key ~/.wharf/mcp.json:5: "keys" appears twice in one object (first on line 4); the last one is used (remove one of them)
    "#);
}

#[test]
fn ten_thousand_servers_in_one_file_all_load() {
    let entries: Vec<String> = (0..10_000)
        .map(|n| format!("\"server-{n}\": {{ \"command\": \"x\", \"args\": [\"{n}\"] }}"))
        .collect();
    let text = format!("{{ \"mcpServers\": {{\n{}\n}} }}", entries.join(",\n"));
    let world = world().with("~/.cursor/mcp.json", text);
    let catalog = world.load();
    let enabled = catalog.servers.iter().filter(|server| server.spec.is_some()).count();
    assert_eq!((enabled, catalog.problems.len()), (10_001, 0));
    assert_eq!(catalog.winner("server-9999").map(|server| server.definition.line), Some(10_001));
}
