//! Plugins of Claude Code: servers in `.mcp.json` or in the manifest of a plugin.
//!
//! Source: its documentation and other integrators. Installed plugins are cached in
//! `marketplace/plugin/version`; a folder with `.claude-plugin/` is itself a plugin.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;

use crate::discover::Scan;
use crate::document::Node;
use crate::server::Definition;

use super::claude;
use super::file_reader::FileReader;
use super::plugin;
use super::program::{Dialect, Program, project, user};
use super::program_files;

/// The limit for files in one manifest.
const MAX_MANIFEST_PARTS: usize = 64;

const MANIFEST: &str = ".claude-plugin/plugin.json";

pub(super) const PROGRAM: Program = Program {
    priority: 75,
    dialect: Dialect::STANDARD,
    finish,
    files: &[
        project(MANIFEST).read_by(read_manifest),
        user("${CLAUDE_CONFIG_DIR:-~/.claude}/plugins/cache/**/.mcp.json").read_by(read_servers),
        user("${CLAUDE_CONFIG_DIR:-~/.claude}/plugins/cache/**/.claude-plugin/plugin.json")
            .read_by(read_manifest),
    ],
    ..Program::new("claude-plugins", "Claude Code plugins")
};

fn read_servers(root: &Node, reader: &mut FileReader<'_>) {
    let path = reader.source.path.clone();
    let Some(folder) = path.parent() else { return };
    let name = plugin::read_manifest_name(&folder.join(MANIFEST), reader);
    plugin::apply_to_reader(reader, folder, &name.unwrap_or_else(|| plugin_name_of_folder(folder)));
    reader.read_servers_or_root(root);
}

fn read_manifest(root: &Node, reader: &mut FileReader<'_>) {
    let path = reader.source.path.clone();
    let Some(folder) = path.parent().and_then(Path::parent) else { return };
    let name = root.get("name").and_then(Node::as_str).filter(|name| !name.is_empty());
    let name = name.map_or_else(|| plugin_name_of_folder(folder), str::to_owned);
    plugin::apply_to_reader(reader, folder, &name);
    let Some(servers) = root.get("mcpServers") else { return };
    // The value is a map of servers, the name of a file with servers, or a list of these.
    let mut files = BTreeSet::new();
    for part in
        servers.as_list().unwrap_or(std::slice::from_ref(servers)).iter().take(MAX_MANIFEST_PARTS)
    {
        match part.as_str() {
            // The usual file is already in `PROGRAM`; no file is read twice.
            Some("./.mcp.json" | ".mcp.json") => {}
            Some(file) if !files.insert(file) => {}
            Some(file) => plugin::read_servers_file(file, folder, part.line, reader),
            None => reader.read_servers(part, "mcpServers"),
        }
    }
}

/// Returns the name of a plugin without a name in its manifest: the folder above its version.
fn plugin_name_of_folder(folder: &Path) -> String {
    let is_version = plugin::parse_version(folder).is_some();
    plugin::folder_name(if is_version { folder.parent().unwrap_or(folder) } else { folder })
}

fn finish(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    claude::replace_by_managed_file(scan, definitions);
    let off = claude::switched_off_plugins(scan);
    for definition in definitions.iter_mut() {
        let plugin = definition.name.as_str().split(':').next().unwrap_or_default().to_owned();
        if off.iter().any(|id| id.split('@').next() == Some(plugin.as_str())) {
            program_files::switch_off(definition, "its plugin is switched off in Claude Code");
        }
    }
    // The cache keeps old versions: the newest one takes precedence.
    definitions.sort_by_key(|own| {
        let version = own.plugin.as_deref().and_then(|folder| plugin::parse_version(folder));
        (own.rank.precedence, Reverse(version), own.rank.clone())
    });
    for (place, definition) in definitions.iter_mut().enumerate() {
        definition.rank.file = 0;
        definition.rank.found = place;
    }
}
