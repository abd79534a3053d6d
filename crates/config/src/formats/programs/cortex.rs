//! Snowflake Cortex: `mcpServers`. Source: other integrators.

use super::program::{Program, user};

pub(super) const PROGRAM: Program = Program {
    files: &[user("~/.snowflake/cortex/mcp.json")],
    ..Program::new("cortex", "Snowflake Cortex")
};
