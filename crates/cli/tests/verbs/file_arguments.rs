//! Arguments of `call` and `prompt` whose values are read from files: `name=@path`.

use std::fs;
use std::io::Write;

use insta::assert_snapshot;

use crate::test_servers::legacy_server_script;
use crate::world::World;

const TOOLS: &str = r#"{"name":"put","inputSchema":{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},"options":{"type":"object"}}}}"#;

/// A server that records the arguments of calls and prompts.
fn notes() -> World {
    let call = r#"*'"method":"tools/call"'*) printf '%s\n' "$line" | sed 's/.*"arguments"://; s/,"_meta":.*/}}/; s/}}$//' >> "$0.seen"; result '{"content":[{"type":"text","text":"ok"}]}';;
    *'"method":"prompts/list"'*) result '{"prompts":[{"name":"review","arguments":[{"name":"code"}]}]}';;
    *'"method":"prompts/get"'*) printf '%s\n' "$line" | sed 's/.*"arguments"://; s/,"_meta":.*/}}/; s/}}$//' >> "$0.seen"; result '{"messages":[]}';;"#;
    let script =
        legacy_server_script("PATH=/usr/bin:/bin", r#"{"tools":{},"prompts":{}}"#, TOOLS, call);
    World::new().script("notes", &script).own_servers(&[("notes", r#""command": "notes""#)])
}

#[test]
fn a_value_can_come_from_a_file() {
    let world = notes()
        .project("a.txt", "first \"line\"\nsecond = 2\n")
        .project("n.txt", "7\n")
        .project("list.json", "[\"a\", \"b\"]\n")
        .project("o.json", "{ \"deep\": { \"x\": 1.50 } }")
        .home("h.txt", "at home");
    let line = "call notes/put text=@a.txt count=@n.txt tags=@list.json options=@o.json";
    assert_snapshot!(world.run(line), @"
    exit 0
    --- stdout
    ok
    ");
    assert!(world.run("call notes/put options:=@o.json text=@~/h.txt").starts_with("exit 0"));
    assert!(world.run("call notes/put text=@@a.txt").starts_with("exit 0"));
    let piped = world.run_with_input(&["call", "notes/put", "text=@-"], "from a pipe");
    assert!(piped.starts_with("exit 0"), "{piped}");
    assert!(world.run("call notes/put --args @o.json").starts_with("exit 0"));
    assert_snapshot!(world.read("bin/notes.seen"), @r#"
    {"text":"first \"line\"\nsecond = 2\n","count":7,"tags":["a", "b"],"options":{ "deep": { "x": 1.50 } }}
    {"options":{ "deep": { "x": 1.50 } },"text":"at home"}
    {"text":"@a.txt"}
    {"text":"from a pipe"}
    { "deep": { "x": 1.50 } }
    "#);
}

#[test]
fn file_arguments_are_relative_to_the_working_folder() {
    let world = notes().project("a.txt", "here");
    fs::create_dir_all(world.path("elsewhere")).unwrap();
    let output = world.run("call notes/put text=@a.txt --project ../elsewhere");
    assert!(output.starts_with("exit 0"), "{output}");
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_nothing_is_sent() {
    let world = notes().project("n.txt", "seven and a secret");
    let mut bytes = fs::File::create(world.path("project/bytes")).unwrap();
    bytes.write_all(&[0xff, 0xfe]).unwrap();
    let long = fs::File::create(world.path("project/long.txt")).unwrap();
    long.set_len(16 * 1024 * 1024 + 1).unwrap();
    for line in
        ["text=@nobody", "text=@.", "text=@bytes", "text=@long.txt", "text=@", "count=@n.txt"]
    {
        let output = world.run(&format!("call notes/put {line}"));
        assert!(output.starts_with("exit 2") && !output.contains("secret"), "{output}");
    }
    assert_snapshot!(world.run("call notes/put text=@nobody"), @r#"
    exit 2
    --- stderr
    error: could not read nobody for "text": no such file
      hint: for a text that begins with @ write text=@@nobody
    "#);
    assert_snapshot!(world.run("call notes/put text=@bytes"), @r#"
    exit 2
    --- stderr
    error: could not read bytes for "text": it is not UTF-8 text
      hint: for a text that begins with @ write text=@@bytes
    "#);
    assert_snapshot!(world.run("call notes/put text=@long.txt"), @r#"
    exit 2
    --- stderr
    error: could not read long.txt for "text": it is longer than 16 MiB
      hint: for a text that begins with @ write text=@@long.txt
    "#);
    assert_snapshot!(world.run("call notes/put options:=@nobody"), @r#"
    exit 2
    --- stderr
    error: could not read nobody for "options": no such file
      hint: for a text that begins with @ write options:=@@nobody
    "#);
    assert_snapshot!(world.run("call notes/put --args @nobody"), @r#"
    exit 2
    --- stderr
    error: could not read nobody: no such file
      hint: such as --args '{"path": "README.md"}'
    "#);
    assert_snapshot!(world.run("call notes/put count=@n.txt"), @r#"
    exit 2
    --- stderr
    error: the arguments do not match the schema of the tool: "count" must be an integer
      usage: wharf call notes/put [text=<string>] [count=<integer>] [tags=<list of strings>] [options=<object>]
    "#);
    assert!(!world.path("bin/notes.seen").exists());
}

#[test]
fn prompt_arguments_can_come_from_files() {
    let world = notes().project("main.rs", "fn main() {}");
    assert!(world.run("prompt review --server notes code=@main.rs").starts_with("exit 0"));
    assert_eq!(world.read("bin/notes.seen"), "{\"code\":\"fn main() {}\"}\n");
    assert_snapshot!(world.run("prompt review code=@nobody"), @r#"
    exit 2
    --- stderr
    error: could not read nobody for "code": no such file
      hint: for a text that begins with @ write code=@@nobody
    "#);
}
