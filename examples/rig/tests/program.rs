//! Runs the program in a home of its own, without a model.

use std::process::Command;

#[test]
fn the_tools_are_listed_as_rig_sees_them() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".wharf");
    std::fs::create_dir(&folder).unwrap();
    let server = env!("CARGO_BIN_EXE_clock_server");
    let servers = serde_json::json!({ "mcpServers": { "clock": { "command": server } } });
    std::fs::write(folder.join("mcp.json"), servers.to_string()).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_wharf-with-rig"));
    program.env_clear().env("HOME", home.path()).current_dir(home.path());
    let output = program.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = stdout.lines().filter(|line| line.starts_with("mcp_")).collect();
    assert_eq!(names, ["mcp_clock_now", "mcp_clock_set"]);
}
