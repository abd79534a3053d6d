//! `wharf status`: which servers are ready to start.

use insta::assert_snapshot;

use crate::list::every_state;
use crate::world::World;

#[test]
fn missing_programs_are_reported() {
    assert_snapshot!(every_state().run("status"), @"
    exit 0
    --- stdout
    NAME    TRANSPORT  STATUS          CREDENTIAL
    fs      stdio      ready           none
    needs   stdio      ready           none
    remote  http       url configured  none
    --- stderr
    3 of 3 ready.
    Not checked: 1 untrusted, 1 invalid, 1 disabled (`wharf list`).
    ");
    let world = World::new().variable("TOOL", "nowhere").home(
        ".wharf/mcp.json",
        r#"{ "mcpServers": { "gone": { "command": "${TOOL}" }, "near": { "command": "./gone" },
             "web": { "url": "http://localhost:1", "auth": { "type": "bearer", "credentialId": "c1" } } } }"#,
    ).home(".wharf/credentials.json", r#"{ "version": 1, "credentials": { "c1":
             { "type": "bearer", "resource": "http://localhost:1", "token": "s3cret" } } }"#);
    assert_snapshot!(world.run("status"), @"
    exit 0
    --- stdout
    NAME  TRANSPORT  STATUS             CREDENTIAL
    gone  stdio      ${TOOL} not found  none
    near  stdio      ./gone not found   none
    web   http       url configured     stored
    --- stderr
    1 of 3 ready.
    ");
    assert_snapshot!(world.run("status --json"), @r#"
    exit 0
    --- stdout
    {
      "ready": 1,
      "total": 3,
      "servers": [
        {
          "name": "gone",
          "transport": "stdio",
          "status": "${TOOL} not found",
          "credential": "none"
        },
        {
          "name": "near",
          "transport": "stdio",
          "status": "./gone not found",
          "credential": "none"
        },
        {
          "name": "web",
          "transport": "http",
          "status": "url configured",
          "credential": "stored"
        }
      ]
    }
    "#);
}

#[test]
fn the_built_in_server_is_always_ready() {
    assert_snapshot!(World::new().run("status --json"), @r#"
    exit 0
    --- stdout
    {
      "ready": 1,
      "total": 3,
      "servers": [
        {
          "name": "context7",
          "transport": "stdio",
          "status": "npx not found",
          "credential": "none"
        },
        {
          "name": "github",
          "transport": "stdio",
          "status": "npx not found",
          "credential": "none"
        },
        {
          "name": "thinking",
          "transport": "stdio",
          "status": "ready",
          "credential": "none"
        }
      ]
    }
    "#);
}

#[test]
fn a_relative_program_is_looked_up_in_the_folder_it_would_run_in() {
    let world = World::new()
        .own_servers(&[
            ("near", r#""command": "./run.sh""#),
            ("lost", r#""command": "sh", "cwd": "~/none""#),
        ])
        .programs(&["sh"])
        .project("run.sh", "#!/bin/sh\n")
        .home("run.sh", "");
    let executable = |path: &str| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(world.path(path), mode).unwrap();
    };
    executable("project/run.sh");
    // The folder is not trusted, so the server would run in the home folder.
    assert_snapshot!(world.run("status"), @"
    exit 0
    --- stdout
    NAME  TRANSPORT  STATUS                  CREDENTIAL
    lost  stdio      no such folder: ~/none  none
    near  stdio      ./run.sh not found      none
    --- stderr
    0 of 2 ready.
    ");
    assert!(world.run("doctor --offline").contains("near: `./run.sh` not found"));
    executable("home/run.sh");
    assert!(world.run("status").contains("1 of 2 ready"));
    assert!(world.run("explain near").contains("runs from"));
}
