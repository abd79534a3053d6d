//! Tests of bad input: every mistake becomes a problem with file, line and hint that quotes no
//! value, and everything else is loaded.

mod entries;
mod environment;
mod files;
mod notation;

use crate::world::World;

/// Makes a machine with one valid file besides the bad one.
fn world() -> World {
    World::new().with(
        "~/.codeium/windsurf/mcp_config.json",
        r#"{ "mcpServers": { "good": { "command": "good-server" } } }"#,
    )
}

/// Renders the problems of this text in Cursor's file.
fn cursor(text: impl AsRef<[u8]>) -> String {
    world().with("~/.cursor/mcp.json", text).show_problems()
}
