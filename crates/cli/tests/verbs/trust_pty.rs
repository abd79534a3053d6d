//! The prompt of `wharf trust` on a real terminal, and keys that are typed before a prompt.

#![expect(clippy::disallowed_methods, reason = "a test starts the binary through a shell")]

use std::process::{Command, Stdio};
use std::time::Duration;

use expectrl::{Eof, Expect, Session};
use insta::assert_snapshot;

use crate::world::World;

#[test]
fn the_pty_trust_prompt_is_shown_for_each_server() {
    let world = World::new().project(
        ".mcp.json",
        r#"{ "mcpServers": { "a": { "command": "npx", "args": ["x"] }, "b": { "command": "uvx" } } }"#,
    );
    let mut command = world.command(&["trust"]);
    command.env("NO_COLOR", "1").stdin(Stdio::inherit());
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    let seen = session.expect("Trust \"a\"? [y/N] ").unwrap();
    let output = String::from_utf8_lossy(seen.before()).replace('\r', "");
    assert!(output.contains("command        npx x\n"), "{output}");
    session.send_line("n").unwrap();
    session.expect("Trust \"b\"? [y/N] ").unwrap();
    session.send_line("y").unwrap();
    session.expect("Trusted \"b\".").unwrap();
    session.expect(Eof).unwrap();
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME  STATE      TRANSPORT  WHAT   SOURCE              FILE
    a     untrusted  stdio      npx x  mcp.json · project  .mcp.json
    b     enabled    stdio      uvx    mcp.json · project  .mcp.json
    ");
}

/// Types before the program shows its prompt, closes the input, and returns the output.
pub(crate) fn type_before_prompt(
    world: &World,
    words: &[&str],
    typed: &str,
    prompt: &str,
) -> String {
    let program = world.command(words);
    // The terminal gets the keys before the program starts.
    let mut command = Command::new("/bin/sh");
    let script = "command -p stty echo; IFS= read -r first; echo got; until [ -e \"$GATE\" ]; do /bin/sleep 0.05; done
        exec \"$0\" \"$@\"";
    command.args(["-c", script]);
    command.arg(program.get_program()).args(program.get_args());
    command.current_dir(program.get_current_dir().unwrap()).env_clear().env("NO_COLOR", "1");
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let gate = world.path("gate");
    command.env("GATE", &gate);
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    session.send_line("go").unwrap();
    session.expect("got").unwrap();
    session.send_line(typed).unwrap();
    // The line discipline echoes what it has queued, so the keys have arrived.
    session.expect(typed).unwrap();
    std::fs::File::create(&gate).unwrap();
    session.expect(prompt).unwrap();
    world.filter(&String::from_utf8_lossy(&close_input(session)).replace('\r', ""))
}

/// Closes the input of a program that shows a prompt, and returns its output. A prompt without echo
/// switches the terminal mode after it is printed, which drops a key that arrives before; therefore
/// the key is sent repeatedly.
fn close_input(mut session: expectrl::session::OsSession) -> Vec<u8> {
    session.set_expect_timeout(Some(Duration::from_secs(1)));
    for _ in 0..20 {
        // The program may have ended since the last try.
        let _gone = session.send(expectrl::ControlCode::EndOfTransmission);
        if let Ok(seen) = session.expect(Eof) {
            return seen.as_bytes().to_vec();
        }
    }
    panic!("the program did not end with its input");
}

#[test]
fn keys_typed_before_a_pty_prompt_do_not_answer_it() {
    let entry = r#"{ "mcpServers": { "a": { "command": "npx" } } }"#;
    let project = || World::new().programs(&["npx"]).project(".mcp.json", entry);
    let world = project();
    let output = type_before_prompt(&world, &["trust"], "y", "Trust \"a\"? [y/N] ");
    assert!(output.contains("Nothing was trusted."), "{output}");
    let world = project();
    let output = type_before_prompt(&world, &["tools"], "y", "Trust \"a\"? [y/N] ");
    assert_eq!(world.started_programs(), "", "{output}");
    let world = project();
    world.run("trust a");
    let output = type_before_prompt(&world, &["untrust"], "y", "Stop trusting \"a\"? [y/N] ");
    assert!(output.contains("None of these were trusted."), "{output}");
    let world = World::new().home(".cursor/mcp.json", entry);
    let output = type_before_prompt(&world, &["import", "cursor"], "y", "? [y/N] ");
    assert!(output.contains("Nothing was changed."), "{output}");
    let world = World::new();
    let words = ["add", "a", "--url", "https://a.example/mcp", "--token", "-"];
    let output = type_before_prompt(&world, &words, "t0ken", "Token for \"a\": ");
    assert!(output.contains("no token was typed"), "{output}");
    assert!(!world.path("home/.wharf/credentials.json").exists());
}

#[test]
fn keys_typed_before_the_pty_prompt_of_an_import_do_not_store_a_token() {
    let entry = r#"{ "mcpServers": { "api": { "url": "https://a.example/mcp",
        "headers": { "Authorization": "Bearer t0ken-4711" } } } }"#;
    let world = World::new().home(".cursor/mcp.json", entry);
    let question =
        "Keep the token of \"api\" in Wharf's credential store instead of the file? [y/N] ";
    let output = type_before_prompt(&world, &["import", "cursor"], "y", question);
    assert!(output.contains("Nothing was changed."), "{output}");
    assert!(!world.path("home/.wharf/credentials.json").exists(), "{output}");
    assert!(!world.path("home/.wharf/mcp.json").exists(), "{output}");
}

#[test]
fn on_a_pty_the_table_fits_and_has_colours() {
    let world = World::new().programs(&["npx"]);
    let command = |no_color: bool| {
        let mut command = world.command(&["list"]);
        command.env("COLUMNS", "60");
        if no_color {
            command.env("NO_COLOR", "1");
        }
        command
    };
    let run = |command| {
        let mut session = Session::spawn(command).unwrap();
        session.set_expect_timeout(Some(Duration::from_secs(20)));
        let seen = session.expect(Eof).unwrap();
        String::from_utf8_lossy(seen.as_bytes()).replace('\r', "")
    };
    assert!(run(command(false)).contains("\u{1b}[32menabled"));
    assert_snapshot!(run(command(true)), @"
    NAME      STATE    TRANSPORT  WHAT            SOURCE
    context7  enabled  stdio      npx -y @upsta…  Wharf defaults
    github    enabled  stdio      npx -y @model…  Wharf defaults
    thinking  enabled  stdio      wharf mcp thi…  Wharf defaults

    3 servers: 3 enabled.
    Nothing is configured yet, so these are Wharf's defaults.
      Add a server: wharf add NAME -- COMMAND…
    ");
}
