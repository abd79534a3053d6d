//! Agent Plugins 1.0: folders with a `plugin.json` and an `mcp.json`.
//!
//! Source: the specification (agent-plugins.org) and programs that read it. The specification lets
//! each program choose the folder of plugins; the shared one is `.agents/plugins`.

use crate::document::Node;

use super::file_reader::FileReader;
use super::plugin;
use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    priority: 75,
    files: &[
        project(".agents/plugins/*/mcp.json").read_by(read).also_read_by(READERS),
        user("~/.agents/plugins/*/mcp.json").read_by(read).also_read_by(READERS),
    ],
    ..Program::new("agent-plugins", "Agent Plugins")
};

const READERS: &[&str] = &["VS Code", "Copilot CLI", "oh-my-pi", "Pi"];

fn read(root: &Node, reader: &mut FileReader<'_>) {
    let path = reader.source.path.clone();
    let Some(folder) = path.parent() else { return };
    let name = plugin::read_manifest_name(&folder.join("plugin.json"), reader);
    if name.is_none() {
        let message = "no \"plugin.json\" with a name beside this file; the folder's name is used";
        let problem = crate::Problem::warning("no-manifest", message).in_file(&path);
        reader.problems.push(problem.hint("add a \"plugin.json\" with a \"name\""));
    }
    plugin::apply_to_reader(reader, folder, &name.unwrap_or_else(|| plugin::folder_name(folder)));
    reader.read_servers_under(root, &["mcpServers"]);
}
