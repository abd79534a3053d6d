//! MCPHost: `~/.mcp.json`, with headers as a list of lines, and built-in servers.
//!
//! Source: its code. Placeholders are `${env://VAR}` and `${env://VAR:-default}`; a `url` without a
//! `type` is SSE; servers of type `builtin` run inside MCPHost, so they are skipped.

use crate::document::{Key, Map, Node, Value};
use crate::expand::Syntax;
use crate::server::TransportKind;

use super::file_reader::FileReader;
use super::program::{Dialect, Program, user};

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect { url: TransportKind::Sse, ..Dialect::STANDARD }.with(Syntax::ENV_COLON),
    files: &[user("~/.mcp.json").read_by(read)],
    ..Program::new("mcphost", "MCPHost")
};

fn read(root: &Node, reader: &mut FileReader<'_>) {
    let Some(servers) = root.get("mcpServers") else { return };
    let Some(map) = servers.as_map() else {
        reader.read_servers(servers, "mcpServers");
        return;
    };
    let is_builtin = |node: &Node| node.get("type").and_then(Node::as_str) == Some("builtin");
    for (key, node) in map.iter().filter(|(_, node)| !is_builtin(node)) {
        reader.read_server(key, &with_headers_by_name(node));
    }
}

/// Turns `"headers": ["Name: value"]` into the usual object.
fn with_headers_by_name(node: &Node) -> Node {
    let mut node = node.clone();
    if let Value::Map(map) = &mut node.value {
        for (_, value) in map.0.iter_mut().filter(|(key, _)| key.text == "headers") {
            if let Some(by_name) = by_name(value) {
                *value = by_name;
            }
        }
    }
    node
}

fn by_name(lines: &Node) -> Option<Node> {
    let split = |line: &Node| {
        let (name, text) = line.as_str()?.split_once(':')?;
        let key = Key { text: name.trim().to_owned(), line: line.line };
        Some((key, Node::new(line.line, Value::String(text.trim().to_owned()))))
    };
    let headers: Option<Vec<_>> = lines.as_list()?.iter().map(split).collect();
    Some(Node::new(lines.line, Value::Map(Map(headers?))))
}
