//! The progress of a call: printed on a terminal only.

use expectrl::{ControlCode, Eof, Expect};

use crate::connect_pty::on_terminal;
use crate::test_servers::{legacy_server_script, world_with_box};
use crate::world::World;

/// A tool that reports progress and then waits for a file, and one that is silent for a second.
const TOOLS: &str = r#"{"name":"build","inputSchema":{"type":"object"}},{"name":"think","inputSchema":{"type":"object"}}"#;

const CALLS: &str = r#"
    *'"name":"build"'*)
      token=${line#*'"progressToken":'}; token=${token%%[,\}]*}
      send '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'"$token"',"progress":3,"total":10,"message":"compiling\u001b[2J"}}'
      until [ -e "$0.go" ]; do /bin/sleep 0.05; done
      result '{"content":[{"type":"text","text":"built"}]}';;
    *'"name":"think"'*)
      /bin/sleep 1
      result '{"content":[{"type":"text","text":"thought"}]}';;
"#;

fn yard() -> World {
    World::new()
        .script("yard", &legacy_server_script("", r#"{"tools":{}}"#, TOOLS, CALLS))
        .own_servers(&[("yard", r#""command": "yard""#)])
}

#[test]
fn on_a_pty_a_call_shows_progress_and_erases_it() {
    let world = yard();
    let mut session = on_terminal(world.command(&["call", "yard/build"]));
    session.expect(r"yard/build: 30%, compiling\u{1b}[2J").unwrap();
    std::fs::File::create(world.path("bin/yard.go")).unwrap();
    let seen = session.expect(Eof).unwrap();
    assert_eq!(String::from_utf8_lossy(seen.as_bytes()), "\r\u{1b}[Kbuilt\r\n");
}

#[test]
fn on_a_pty_a_call_without_progress_shows_the_elapsed_time() {
    let world = world_with_box();
    let mut session = on_terminal(world.command(&["call", "box/hang"]));
    session.expect("\r\u{1b}[Kbox/hang: waiting").unwrap();
    session.expect("\r\u{1b}[Kbox/hang: waiting, ").unwrap();
    session.send(ControlCode::EndOfText).unwrap();
    session.expect("\r\u{1b}[Kerror: cancelled").unwrap();
    session.expect(Eof).unwrap();
}

#[test]
fn progress_is_not_shown_without_a_terminal_or_with_quiet_or_json() {
    let world = yard();
    std::fs::File::create(world.path("bin/yard.go")).unwrap();
    for words in ["call yard/think", "call yard/build"] {
        let output = world.run(words);
        assert!(output.starts_with("exit 0") && !output.contains("stderr"), "{output}");
    }
    for flag in ["-q", "--json"] {
        let mut session = on_terminal(world.command(&["call", "yard/think", flag]));
        let seen = session.expect(Eof).unwrap();
        let output = String::from_utf8_lossy(seen.as_bytes()).into_owned();
        assert!(output.contains("thought") && !output.contains("waiting"), "{output}");
    }
}
