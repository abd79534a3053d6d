//! opencode: `mcp` with `local` and `remote` entries, the command as a list.
//!
//! Source: its code. Version 1 has the servers under `mcp`, version 2 under `mcp.servers`; one or
//! two timeouts in milliseconds; placeholders `{env:X}` and `{file:path}`; the root `tools` map
//! disables tools by `<server>_<tool>` globs. Sources disagree about Windows: both paths are read.

use std::collections::HashMap;

use crate::discover::Scan;
use crate::document::{Key, Map, Node};
use crate::expand::Syntax;
use crate::server::Definition;

use super::export::ExportStyle;
use super::file_reader::FileReader;
use super::program::{Dialect, Program, TimeUnit, notice_on, project, user, user_on, variable};
use super::program_files;

/// The limit for underscores in a glob; no real name has more.
const MAX_UNDERSCORES: usize = 32;

/// How opencode and its forks read an entry.
pub(super) const DIALECT: Dialect = Dialect::STANDARD.with(Syntax::CURLY);

pub(super) const PROGRAM: Program = Program {
    priority: 55,
    dialect: DIALECT,
    finish: apply_tool_switches,
    files: &[
        variable("OPENCODE_CONFIG_CONTENT").read_by(read),
        user("${OPENCODE_CONFIG}").read_by(read),
        project("opencode.jsonc").read_by(read),
        project("opencode.json").read_by(read),
        project(".opencode/opencode.jsonc").read_by(read),
        project(".opencode/opencode.json").read_by(read),
        user("${OPENCODE_CONFIG_DIR}/opencode.jsonc").read_by(read),
        user("${OPENCODE_CONFIG_DIR}/opencode.json").read_by(read),
        user("{xdg}/opencode/opencode.jsonc").read_by(read),
        user("{xdg}/opencode/opencode.json").read_by(read),
        user("{xdg}/opencode/config.json").read_by(read),
        user_on("", "", "{localappdata}/opencode/opencode.jsonc").read_by(read),
        user_on("", "", "{localappdata}/opencode/opencode.json").read_by(read),
        user_on("", "", "{localappdata}/opencode/config.json").read_by(read),
        user_on(
            "/etc/opencode/opencode.jsonc",
            "/Library/Application Support/opencode/opencode.jsonc",
            "{programdata}/opencode/opencode.jsonc",
        )
        .read_by(read),
        user_on(
            "/etc/opencode/opencode.json",
            "/Library/Application Support/opencode/opencode.json",
            "{programdata}/opencode/opencode.json",
        )
        .read_by(read),
        notice_on(
            ["", "/Library/Managed Preferences/ai.opencode.managed.plist", ""],
            "opencode is managed by this device; its managed servers are not read",
        ),
    ],
    export: Some(&ExportStyle {
        type_words: Some(["local", "remote", "remote"]),
        env: "environment",
        command_is_list: true,
        limits: ([Some("timeout"), None, None], TimeUnit::Milliseconds),
        keys: &["mcp"],
        variable: |name, default| default.is_none().then(|| format!("{{env:{name}}}")),
        ..ExportStyle::STANDARD
    }),
    ..Program::new("opencode", "opencode")
};

/// Reads either version of the file.
pub(super) fn read(root: &Node, reader: &mut FileReader<'_>) {
    let Some(servers) = root.get("mcp") else { return };
    match servers.get("servers").filter(|node| is_map_of_servers(node)) {
        Some(second_version) => reader.read_servers(second_version, "mcp.servers"),
        None => reader.read_servers(servers, "mcp"),
    }
}

/// Excludes the tools that the `tools` map of any file disables.
pub(super) fn apply_tool_switches(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    let files = program_files::read_for_definitions(scan, definitions);
    let mut by_name: HashMap<String, Vec<&mut Definition>> = HashMap::new();
    for definition in definitions {
        by_name.entry(definition.name.as_str().to_owned()).or_default().push(definition);
    }
    for file in files {
        let switches = file.root.get("tools").and_then(Node::as_map);
        let off = |(_, on): &(&Key, &Node)| on.as_bool() == Some(false);
        for (glob, _) in switches.into_iter().flat_map(Map::iter).filter(off) {
            for (name, tool) in server_and_tool_splits(&glob.text) {
                let named = by_name.get_mut(name).into_iter().flatten();
                for definition in named.filter(|own| file.counts_for(own)) {
                    definition.fields.policy.exclude_tools.push(tool.to_owned());
                }
            }
        }
    }
}

/// Returns every split of `server_tool` at an underscore, because names may contain underscores;
/// `server*` means all tools.
fn server_and_tool_splits(glob: &str) -> impl Iterator<Item = (&str, &str)> {
    let whole = glob.strip_suffix('*').map(|name| (name, "*"));
    let split = glob.match_indices('_').take(MAX_UNDERSCORES);
    let split = split.map(|(at, _)| (&glob[..at], &glob[at + 1..]));
    whole.into_iter().chain(split.filter(|(_, tool)| !tool.is_empty()))
}

/// Tells a map of servers from an entry: a server may be named "servers".
fn is_map_of_servers(node: &Node) -> bool {
    let is_entry = node.get("type").is_some_and(|kind| kind.as_str().is_some())
        || node.get("command").is_some_and(|command| command.as_map().is_none())
        || node.get("url").is_some_and(|url| url.as_map().is_none());
    node.as_map().is_some() && !is_entry
}
