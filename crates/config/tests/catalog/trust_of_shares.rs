//! Tests on Windows that nobody looks at a network share that a definition of a project names before
//! the project is trusted: looking at it logs in there.
//!
//! A test has no network share. A path of a device (`\\.\C:\…`) takes its place: the file exists, so
//! the result shows whether somebody looked.

#![cfg(windows)]

use wharf_config::trust::TrustSubject;

use crate::world::World;

/// Returns what the trust decision about a server records, as one text.
fn recorded(world: &World) -> (TrustSubject, String) {
    let catalog = world.load();
    let server = catalog.winner("fs").expect("the server");
    let subject = TrustSubject::of(&server.definition, &world.env);
    let record = format!("{:?} {:?} {:?}", subject.program, subject.env_file, subject.files);
    (subject, record)
}

#[test]
fn a_path_on_a_network_share_is_not_looked_at() {
    let world = World::new();
    world.write("tool.exe", "");
    world.write("secrets.env", "SECRET=1\n");
    let near = world.in_json("");
    let far = format!("//./{near}");
    let entry = |place: &str| {
        format!(
            r#"{{ "mcpServers": {{ "fs": {{ "command": "{place}/tool.exe",
                "args": ["{place}/tool.exe", "--file={place}/tool.exe"],
                "envFile": "{place}/secrets.env" }} }} }}"#
        )
    };
    world.write(".cursor/mcp.json", entry(&near));
    let (subject, record) = recorded(&world);
    assert!(subject.program.is_some() && record.contains("SECRET"), "{record}");
    world.write(".cursor/mcp.json", entry(&far));
    let (subject, record) = recorded(&world);
    assert!(subject.program.is_none() && !record.contains("SECRET"), "{record}");
    assert!(subject.links.is_empty() && subject.repository_files.is_empty());
    // The same file is there for whoever looks.
    assert!(std::path::Path::new(&far.replace('/', "\\")).join("secrets.env").is_file());
}
