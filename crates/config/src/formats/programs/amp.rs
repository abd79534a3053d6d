//! Amp: one key with a dot in its name, `amp.mcpServers`, in its settings.
//!
//! Source: another integrator and its documentation.

use super::program::{Program, project, user_on};

const KEY: &[&str] = &["amp.mcpServers"];

pub(super) const PROGRAM: Program = Program {
    files: &[
        project(".amp/settings.json").servers(KEY),
        user_on(
            "{xdg}/amp/settings.json",
            "{xdg}/amp/settings.json",
            "{appdata}/amp/settings.json",
        )
        .servers(KEY),
        user_on("~/.config/amp/settings.json", "~/.config/amp/settings.json", "").servers(KEY),
    ],
    ..Program::new("amp", "Amp")
};
