//! Completion in a real Bash: the completion script is loaded and Tab is pressed.

#![expect(clippy::disallowed_methods, reason = "a test starts a shell")]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use expectrl::session::OsSession;
use expectrl::{Expect, Regex, Session};

use crate::test_servers::legacy_server_script;
use crate::world::World;

const TOOLS: &str = r#"{"name":"read","inputSchema":{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"mode":{"enum":["text","bytes"]}}}},{"name":"$(touch evil)","inputSchema":{"type":"object"}}"#;

const BASH: &str = "/bin/bash";

/// Starts an interactive Bash and loads the script; returns `None` if there is no Bash.
fn shell(world: &World) -> Option<OsSession> {
    if !Path::new(BASH).exists() {
        return None;
    }
    let wharf = world.command(&[]);
    let folder = Path::new(wharf.get_program()).parent().unwrap().display().to_string();
    let mut command = Command::new(BASH);
    command.args(["--norc", "--noprofile", "-i"]).env_clear();
    command.current_dir(wharf.get_current_dir().unwrap());
    command.envs(wharf.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let path = format!("{folder}:{}:/usr/bin:/bin", world.path("bin").display());
    command.env("PATH", path).env("TERM", "dumb").env("INPUTRC", "/dev/null").env("PS1", "> ");
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    // Ctrl-T prints the current line and clears it.
    let show = r#"bind -x '"\C-t": printf "\n[%s]\n" "$READLINE_LINE"; READLINE_LINE="#;
    session.send_line(format!("{show}'")).unwrap();
    session.send_line("eval \"$(wharf completions bash)\"; echo load''ed").unwrap();
    session.expect("loaded\r\n").unwrap();
    Some(session)
}

/// Types the beginning of a line and Tab, and returns the completed line.
fn completed(session: &mut OsSession, typed: &str) -> String {
    session.send(format!("{typed}\t\u{14}")).unwrap();
    let seen = session.expect(Regex("\\[[^\r]*\\]\r\n")).unwrap();
    let line = String::from_utf8_lossy(seen.get(0).unwrap()).into_owned();
    line.trim_end().trim_start_matches('[').trim_end_matches(']').to_owned()
}

#[test]
fn bash_completes_verbs_servers_tools_and_arguments() {
    let server = legacy_server_script("", r#"{"tools":{}}"#, TOOLS, "");
    let world = World::new()
        .script("files", &server)
        .own_servers(&[("disk", r#""command": "files""#)])
        .project("my $(file)", "")
        .project("notes.txt", "");
    assert!(world.run("tools").starts_with("exit 0"));
    let Some(mut session) = shell(&world) else { return };
    for (typed, expected) in [
        ("wharf expl", "wharf explain "),
        ("wharf test d", "wharf test disk "),
        ("wharf call d", "wharf call disk/read "),
        ("wharf call mcp_disk_r", "wharf call mcp_disk_read "),
        ("wharf call disk/read p", "wharf call disk/read path="),
        ("wharf call disk/read mode=b", "wharf call disk/read mode=bytes "),
        ("wharf call disk/read path=@not", "wharf call disk/read path=@notes.txt "),
        ("wharf call disk/read path=@my", r"wharf call disk/read path=@my\ \$\(file\) "),
        ("wharf call disk/read path='a b' m", "wharf call disk/read path='a b' mode="),
        ("wharf --json tools --ser", "wharf --json tools --server "),
        ("wharf call '$", "wharf call '$"),
    ] {
        assert_eq!(completed(&mut session, typed), expected);
    }
    assert!(!world.path("project/evil").exists());
}
