//! The confirmation prompts of `wharf export` and `wharf import` on a real terminal.

use std::process::Stdio;
use std::time::Duration;

use expectrl::process::unix::WaitStatus;
use expectrl::session::OsSession;
use expectrl::{Eof, Expect, Session};
use insta::assert_snapshot;

use crate::world::World;

const CURSOR: &str = "{ // mine\n  \"mcpServers\": { \"theirs\": { \"command\": \"npx\" } }\n}\n";
const OWN: &str = r#"{ "mcpServers": { "fs": { "command": "npx", "env": { "A": "s3cret" } } } }"#;

fn world() -> World {
    World::new().home(".cursor/mcp.json", CURSOR).home(".wharf/mcp.json", OWN)
}

fn start(world: &World, line: &str) -> OsSession {
    let words: Vec<&str> = line.split(' ').collect();
    let mut command = world.command(&words);
    command.env("NO_COLOR", "1").stdin(Stdio::inherit());
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    session
}

/// Waits for the end; returns the output until then and the exit code.
fn end(world: &World, mut session: OsSession) -> String {
    let seen = session.expect(Eof).unwrap();
    let output = String::from_utf8_lossy(seen.as_bytes()).replace('\r', "");
    let status = session.get_process().wait().unwrap();
    let WaitStatus::Exited(_, code) = status else { panic!("{status:?}") };
    format!("{}exit {code}", world.filter(&output))
}

/// Answers the prompt and returns all output.
fn answer(world: &World, line: &str, reply: &str) -> String {
    let mut session = start(world, line);
    let seen = session.expect("? [y/N] ").unwrap();
    let output = String::from_utf8_lossy(seen.before()).replace('\r', "");
    session.send_line(reply).unwrap();
    format!("{}? [y/N] {}", world.filter(&output), end(world, session))
}

#[test]
fn on_a_pty_answering_no_changes_nothing() {
    let world = world();
    assert_snapshot!(answer(&world, "export cursor", "n"), @r#"
    --- ~/.cursor/mcp.json
    +++ ~/.cursor/mcp.json
    @@ -1,3 +1,3 @@
     { // mine
    -  "mcpServers": { "theirs": { "command": "npx" } }
    +  "mcpServers": { "theirs": { "command": "npx" }, "fs": {"command": "npx", "env": {"A": "•••"}} }
     }
    warning: "theirs" is not copied: it is there already
    Write this to ~/.cursor/mcp.json? [y/N] Nothing was changed.
    exit 0
    "#);
    assert_snapshot!(answer(&world, "import cursor", ""), @r#"
    --- ~/.wharf/mcp.json
    +++ ~/.wharf/mcp.json
    @@ -1 +1 @@
    -{ "mcpServers": { "fs": { "command": "npx", "env": { "A": "•••" } } } }
    \ No newline at end of file
    +{ "mcpServers": { "fs": { "command": "npx", "env": { "A": "•••" } }, "theirs": {"command": "npx"} } }
    \ No newline at end of file
    Write this to ~/.wharf/mcp.json? [y/N] Nothing was changed.
    exit 0
    "#);
    assert_eq!(world.read("home/.cursor/mcp.json"), CURSOR);
    assert_eq!(world.read("home/.wharf/mcp.json"), OWN);
    assert!(!world.path("home/.cursor/mcp.json.wharf-backup").exists());
    assert!(!world.path("home/.wharf/mcp.json.wharf-backup").exists());
}

#[test]
fn on_a_pty_answering_yes_writes_the_file() {
    let world = world();
    assert_snapshot!(answer(&world, "export cursor", "y"), @r#"
    --- ~/.cursor/mcp.json
    +++ ~/.cursor/mcp.json
    @@ -1,3 +1,3 @@
     { // mine
    -  "mcpServers": { "theirs": { "command": "npx" } }
    +  "mcpServers": { "theirs": { "command": "npx" }, "fs": {"command": "npx", "env": {"A": "•••"}} }
     }
    warning: "theirs" is not copied: it is there already
    Write this to ~/.cursor/mcp.json? [y/N] Added 1 server to ~/.cursor/mcp.json (backup: ~/.cursor/mcp.json.wharf-backup).
    exit 0
    "#);
    assert_eq!(world.read("home/.cursor/mcp.json.wharf-backup"), CURSOR);
    assert_snapshot!(world.read("home/.cursor/mcp.json"), @r#"
    { // mine
      "mcpServers": { "theirs": { "command": "npx" }, "fs": {"command": "npx", "env": {"A": "s3cret"}} }
    }
    "#);
    assert_snapshot!(answer(&world, "import cursor theirs --scope project", "yes"), @r#"
    --- [project]/.wharf/mcp.json
    +++ [project]/.wharf/mcp.json
    @@ -0,0 +1,7 @@
    +{
    +  "mcpServers": {
    +    "theirs": {
    +      "command": "npx"
    +    }
    +  }
    +}
    Write this to [project]/.wharf/mcp.json? [y/N] Added 1 server to [project]/.wharf/mcp.json.
    exit 0
    "#);
    assert_snapshot!(world.read("project/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "theirs": {
          "command": "npx"
        }
      }
    }
    "#);
}

#[test]
fn on_a_pty_no_confirmation_is_asked_when_not_needed() {
    let world = world();
    assert_snapshot!(end(&world, start(&world, "export cursor nothing")), @r#"
    warning: "nothing" is not copied: no such server
    Nothing was changed.
    exit 1
    "#);
    assert_snapshot!(end(&world, start(&world, "export cursor --dry-run -q")), @r#"
    --- ~/.cursor/mcp.json
    +++ ~/.cursor/mcp.json
    @@ -1,3 +1,3 @@
     { // mine
    -  "mcpServers": { "theirs": { "command": "npx" } }
    +  "mcpServers": { "theirs": { "command": "npx" }, "fs": {"command": "npx", "env": {"A": "•••"}} }
     }
    Would add 1 server to ~/.cursor/mcp.json.
    exit 0
    "#);
    assert_snapshot!(end(&world, start(&world, "export cursor --yes -q")), @r#"
    --- ~/.cursor/mcp.json
    +++ ~/.cursor/mcp.json
    @@ -1,3 +1,3 @@
     { // mine
    -  "mcpServers": { "theirs": { "command": "npx" } }
    +  "mcpServers": { "theirs": { "command": "npx" }, "fs": {"command": "npx", "env": {"A": "•••"}} }
     }
    Added 1 server to ~/.cursor/mcp.json (backup: ~/.cursor/mcp.json.wharf-backup).
    exit 0
    "#);
    assert_snapshot!(end(&world, start(&world, "export cursor --json --force --dry-run")), @r#"
    {
      "ok": true,
      "path": "~/.cursor/mcp.json",
      "added": [],
      "changed": [],
      "unchanged": [
        "fs"
      ],
      "skipped": [
        {
          "name": "theirs",
          "why": "it is there already"
        }
      ],
      "diff": ""
    }
    exit 0
    "#);
}

#[test]
fn on_a_pty_an_import_offers_to_store_a_literal_token() {
    const CURSOR: &str = r#"{ "mcpServers": { "api": { "url": "https://a.example/mcp",
        "headers": { "Authorization": "Bearer t0ken-4711" } } } }"#;
    let answer_both_prompts = |world: &World, first: &str| {
        let mut session = start(world, "import cursor");
        session
            .expect(
                "Keep the token of \"api\" in Wharf's credential store instead of the file? [y/N] ",
            )
            .unwrap();
        session.send_line(first).unwrap();
        session.expect("Write this to ~/.wharf/mcp.json? [y/N] ").unwrap();
        session.send_line("y").unwrap();
        end(world, session)
    };
    let world = World::new().home(".cursor/mcp.json", CURSOR);
    assert!(answer_both_prompts(&world, "y").contains("Added 1 server"));
    assert!(!world.read("home/.wharf/mcp.json").contains("t0ken"));
    assert!(world.read("home/.wharf/credentials.json").contains("t0ken-4711"));
    let world = World::new().home(".cursor/mcp.json", CURSOR);
    assert!(answer_both_prompts(&world, "n").contains("Added 1 server"));
    assert!(world.read("home/.wharf/mcp.json").contains("t0ken-4711"));
    assert!(!world.path("home/.wharf/credentials.json").exists());
}
