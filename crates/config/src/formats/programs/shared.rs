//! Files that several programs share: `~/.config/mcp` and `.agents`.
//!
//! Source: programs that read them. In some of these files the map of servers has no key around it.

use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    priority: 10,
    files: &[
        project("mcp_config.json").any_key_or_root(),
        project(".agents/.mcp.json").any_key_or_root().also_read_by(&["Warp"]),
        user("{xdg}/mcp/mcp.json").any_key_or_root(),
        user("~/.config/mcp/mcp.json").any_key_or_root(),
        user("~/.agents/mcp.json").any_key_or_root(),
        user("~/.agents/mcp/mcp.json").any_key_or_root(),
        user("~/.agents/.mcp.json").any_key_or_root().also_read_by(&["Warp"]),
    ],
    ..Program::new("shared", "shared files")
};
