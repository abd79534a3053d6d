//! The bad-input contract: whatever is wrong is a problem with file, line and what to do, never
//! quotes a value, and everything else loads.

mod entries;
mod environment;
mod files;
mod notation;

use crate::world::World;

/// Makes a machine on which one file is good, so that the bad one is not the only one.
fn world() -> World {
    World::new().with(
        "~/.codeium/windsurf/mcp_config.json",
        r#"{ "mcpServers": { "good": { "command": "good-server" } } }"#,
    )
}

/// Shows what is wrong when Cursor's file has this in it.
fn cursor(text: impl AsRef<[u8]>) -> String {
    world().with("~/.cursor/mcp.json", text).show_problems()
}
