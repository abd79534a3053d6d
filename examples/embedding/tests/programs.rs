//! Runs the programs of `docs/embedding.md`, each in its own home, and checks what they print.
//!
//! The program `clock_server` is the server of all of them.

mod programs {
    pub(crate) mod model_api;
}

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use programs::model_api::ModelApi;

/// Makes a home with a user's server `clock`, and with `uvx`, which is that server, too.
fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let server = env!("CARGO_BIN_EXE_clock_server");
    let servers = json!({ "mcpServers": { "clock": { "command": server } } });
    wharf::config::store::write(&home.path().join(".wharf/mcp.json"), &servers.to_string())
        .unwrap();
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let uvx = bin.join("uvx").with_extension(std::env::consts::EXE_EXTENSION);
    std::fs::copy(server, uvx).unwrap();
    home
}

/// Runs a program with this input, and returns what it prints.
fn run(program: &str, home: &Path, input: &str) -> String {
    run_with(program, home, input, &[])
}

/// Runs a program with these variables, too.
fn run_with(program: &str, home: &Path, input: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(variables.iter().copied())
        .current_dir(home)
        .env("PATH", home.join("bin"));
    for (name, value) in [("HOME", home), ("USERPROFILE", home), ("APPDATA", home)] {
        command.env(name, value);
    }
    for name in ["SystemRoot", "TEMP", "TMP"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    let piped = [Stdio::piped(), Stdio::piped(), Stdio::piped()];
    let [stdin, stdout, stderr] = piped;
    let mut child = command.stdin(stdin).stdout(stdout).stderr(stderr).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{:?}\n{stderr}", output.status);
    let stdout = String::from_utf8(output.stdout).unwrap();
    let seconds = |line: &str| line.ends_with(" seconds since 1970");
    let lines = stdout.lines().map(|line| if seconds(line) { "the time" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn load_and_call() {
    insta::assert_snapshot!(run(env!("CARGO_BIN_EXE_load_and_call"), home().path(), ""), @r#"
    mcp_clock_now
    mcp_clock_set
    the time
    "#);
}

#[test]
fn servers_from_code() {
    insta::assert_snapshot!(run(env!("CARGO_BIN_EXE_servers_from_code"), home().path(), ""), @r#"
    clock: connected
    tracker: disconnected
    the clock is set
    "#);
}

#[test]
fn approvals() {
    insta::assert_snapshot!(run(env!("CARGO_BIN_EXE_approvals"), home().path(), "a\n"), @r#"
    clock/now: done
    run clock/set with {}? [y]es, [a]lways, anything else for no: clock/set: done
    clock/set: done
    "#);
    insta::assert_snapshot!(run(env!("CARGO_BIN_EXE_approvals"), home().path(), "n\ny\n"), @r#"
    clock/now: done
    run clock/set with {}? [y]es, [a]lways, anything else for no: clock/set: MCP error: the call was not approved: the person said no (server "clock", tool "set", phase send)
    Trying again will not help.
    run clock/set with {}? [y]es, [a]lways, anything else for no: clock/set: done
    "#);
}

#[test]
fn events() {
    insta::assert_snapshot!(run(env!("CARGO_BIN_EXE_events"), home().path(), ""), @r#"
    1 servers
    clock is connecting
    clock is connected
    clock has 2 tools
    "#);
}

#[test]
fn subagents() {
    insta::assert_snapshot!(run(env!("CARGO_BIN_EXE_subagents"), home().path(), ""), @r#"
    the reader has 1 tools, the writer 2
    clock/now: done
    clock/set: MCP error: there is no tool "clock/set" (server "clock", tool "set", phase send)
    Correct the call before trying again.
    hint: did you mean "mcp_clock_now"?
    the writer wants to run set
    clock/set: MCP error: the call was not approved: only the main agent may change something (server "clock", tool "set", phase send)
    Trying again will not help.
    "#);
}

#[test]
fn native_tools() {
    insta::assert_snapshot!(run(env!("CARGO_BIN_EXE_native_tools"), home().path(), ""), @r#"
    mcp_clock_now of clock
    mcp_clock_set of clock
    mcp_math_add of math
    42
    MCP error: the arguments do not match the schema of the tool: "b" must be an integer, not a string (server "math", tool "add", phase send)
    Correct the call before trying again.
    "#);
}

#[test]
fn openai() {
    let call = json!({
        "id": "call-1",
        "type": "function",
        "function": { "name": "mcp_clock_now", "arguments": "{}" },
    });
    let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    let answer = json!({ "role": "assistant", "content": "It is late." });
    let response = |message| json!({ "choices": [{ "message": message }] });
    let api = ModelApi::start(vec![response(message), response(answer)]);
    let variables =
        [("OPENAI_BASE_URL", api.url.as_str()), ("OPENAI_API_KEY", "any"), ("MODEL", "small")];
    let home = home();
    let printed = run_with(env!("CARGO_BIN_EXE_openai"), home.path(), "", &variables);
    assert_eq!(printed, "It is late.");
    let [first, second] = &api.into_requests()[..] else { panic!("not two requests") };
    assert_eq!(first["tools"][0]["function"]["name"], "mcp_clock_now");
    let result = &second["messages"][2];
    assert_eq!((&result["role"], &result["tool_call_id"]), (&json!("tool"), &json!("call-1")));
    assert!(result["content"].as_str().unwrap().ends_with("seconds since 1970"), "{result}");
}
