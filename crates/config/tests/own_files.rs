//! The files that are read with and without the feature `discovery`.

#![expect(clippy::unwrap_used, reason = "a file that cannot be created ends the test")]

use wharf_config::{Catalog, Env, LoadOptions, Platform, load};

/// Makes a home folder with a server in Wharf's own file and one in Cursor's, and loads it.
fn loaded(folder: &std::path::Path, set: impl FnOnce(Env) -> Env) -> Catalog {
    for (file, name) in [(".wharf/mcp.json", "own"), (".cursor/mcp.json", "other")] {
        let path = folder.join("home").join(file);
        let text = format!(r#"{{ "mcpServers": {{ "{name}": {{ "command": "{name}" }} }} }}"#);
        wharf_config::store::write(&path, &text).unwrap();
    }
    std::fs::create_dir(folder.join("work")).unwrap();
    let env = Env::new(Platform::HOST, folder.join("work")).with_home(folder.join("home"));
    load(&set(env), LoadOptions::default()).unwrap()
}

fn names(catalog: &Catalog) -> Vec<&str> {
    catalog.winners().iter().map(|server| server.definition.name.as_str()).collect()
}

#[test]
fn files_of_other_programs_need_the_feature_discovery() {
    let folder = tempfile::tempdir().unwrap();
    let expected: &[&str] = if cfg!(feature = "discovery") { &["other", "own"] } else { &["own"] };
    assert_eq!(names(&loaded(folder.path(), |env| env)), expected);
}

#[test]
fn the_variable_replaces_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let servers = r#"{ "given": { "url": "https://example.com" } }"#;
    let set = |env: Env| env.with_variable("WHARF_MCP_SERVERS", servers);
    assert_eq!(names(&loaded(folder.path(), set)), ["given"]);
}

#[test]
fn the_settings_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "[discovery]\ndisabled = [\"cursor\", \"wharf\"]\n";
    let path = folder.path().join("home/.wharf/config.toml");
    wharf_config::store::write(&path, settings).unwrap();
    let catalog = loaded(folder.path(), |env| env);
    assert!(catalog.servers.is_empty() && catalog.problems.is_empty(), "{:?}", catalog.problems);
}
