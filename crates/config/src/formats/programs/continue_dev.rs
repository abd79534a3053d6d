//! Continue: a list of named servers in YAML, in one file or many.
//!
//! Source: its code. `mcpServers` is in `config.yaml` and in each file of `mcpServers/`, which may
//! also be JSON in Claude's format; the older `config.json` has it under `experimental`. Secrets
//! are written `${{ secrets.NAME }}`.

use crate::document::{Key, Node};
use crate::expand::Syntax;

use super::file_reader::FileReader;
use super::program::{Dialect, Program, TimeUnit, TimeoutKind, project, user};

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect::STANDARD.with(Syntax::SECRETS),
    read_extra_fields: |map, entry| {
        if let Some(limit) = map.get("connectionTimeout") {
            entry.read_timeout(
                "connectionTimeout",
                limit,
                TimeoutKind::Connect,
                TimeUnit::Milliseconds,
            );
        }
    },
    files: &[
        project(".continue/mcpServers/*.yaml").read_by(read),
        project(".continue/mcpServers/*.yml").read_by(read),
        project(".continue/mcpServers/*.json").read_by(read),
        user("~/.continue/config.yaml").read_by(read),
        user("~/.continue/mcpServers/*.yaml").read_by(read),
        user("~/.continue/mcpServers/*.yml").read_by(read),
        user("~/.continue/mcpServers/*.json").read_by(read),
        user("~/.continue/config.json").read_by(read),
    ],
    ..Program::new("continue", "Continue")
};

fn read(root: &Node, reader: &mut FileReader<'_>) {
    if let Some(servers) = root.get("mcpServers") {
        match servers.as_list() {
            Some(_) => reader.read_server_list(servers, "mcpServers"),
            None => reader.read_servers(servers, "mcpServers"),
        }
    }
    let older = root.pointer(&["experimental", "modelContextProtocolServers"]);
    for (index, entry) in older.and_then(Node::as_list).unwrap_or_default().iter().enumerate() {
        if let Some(transport) = entry.get("transport") {
            let command = transport.get("command").and_then(Node::as_str).unwrap_or("server");
            let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
            reader
                .read_server(&Key { text: format!("{name}-{index}"), line: entry.line }, transport);
        }
    }
}
