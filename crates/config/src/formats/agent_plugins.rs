//! Agent Plugins 1.0: folders with a `plugin.json` and, beside it, an `mcp.json`.
//!
//! From the specification (agent-plugins.org) and programs that read it. The specification leaves
//! the folder of all plugins to the program; the shared one is `.agents/plugins`.

use crate::document::Node;

use super::plugin;
use super::program::{Program, project, user};
use super::reading::Reading;

pub(super) const PROGRAM: Program = Program {
    priority: 75,
    files: &[
        project(".agents/plugins/*/mcp.json").read_by(read).also_read_by(READERS),
        user("~/.agents/plugins/*/mcp.json").read_by(read).also_read_by(READERS),
    ],
    ..Program::new("agent-plugins", "Agent Plugins")
};

const READERS: &[&str] = &["VS Code", "Copilot CLI", "oh-my-pi", "Pi"];

fn read(root: &Node, reading: &mut Reading<'_>) {
    let path = reading.source.path.clone();
    let Some(folder) = path.parent() else { return };
    let name = plugin::name_in(&folder.join("plugin.json"), reading);
    if name.is_none() {
        let message = "no \"plugin.json\" with a name beside this file; the folder's name is used";
        let problem = crate::Problem::warning("no-manifest", message).in_file(&path);
        reading.problems.push(problem.hint("add a \"plugin.json\" with a \"name\""));
    }
    plugin::enter(reading, folder, &name.unwrap_or_else(|| plugin::folder_name(folder)));
    reading.servers_under(root, &["mcpServers"]);
}
