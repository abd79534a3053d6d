//! GitHub Copilot in the JetBrains IDEs: `servers`, like VS Code. Source: other integrators.

use super::program::{Dialect, Program, user_on};
use crate::expand::Syntax;

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect::STANDARD.with(Syntax::ENV_COLON.union(Syntax::INPUT)),
    files: &[
        user_on(
            "{xdg}/github-copilot/intellij/mcp.json",
            "{xdg}/github-copilot/intellij/mcp.json",
            "{localappdata}/github-copilot/intellij/mcp.json",
        )
        .servers(&["servers"]),
        user_on(
            "~/.config/github-copilot/intellij/mcp.json",
            "~/.config/github-copilot/intellij/mcp.json",
            "",
        )
        .servers(&["servers"]),
    ],
    ..Program::new("copilot-jetbrains", "Copilot for JetBrains")
};
