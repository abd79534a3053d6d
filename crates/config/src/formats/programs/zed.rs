//! Zed: `context_servers` in its settings, timeouts in seconds.
//!
//! Source: its code. The settings are in `~/.config/zed` also on macOS, and in `%APPDATA%` on
//! Windows. Entries of extensions have only `settings`; only Zed knows how to start them.

use crate::document::{Key, Map, Node};

use super::export::ExportStyle;
use super::file_reader::FileReader;
use super::program::{Dialect, Program, project, user_on};

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect::STANDARD.in_seconds(),
    files: &[
        project(".zed/settings.json").read_by(read),
        user_on(
            "{xdg}/zed/settings.json",
            "~/.config/zed/settings.json",
            "{appdata}/Zed/settings.json",
        )
        .read_by(read),
    ],
    export: Some(&ExportStyle { keys: &["context_servers"], ..ExportStyle::STANDARD }),
    ..Program::new("zed", "Zed")
};

fn read(root: &Node, reader: &mut FileReader<'_>) {
    let Some(servers) = root.get("context_servers") else { return };
    let Some(map) = servers.as_map() else {
        reader.read_servers(servers, "context_servers");
        return;
    };
    let is_extension = |(_, node): &(&Key, &Node)| {
        let has = |key| node.get(key).is_some();
        node.get("source").and_then(Node::as_str) == Some("extension")
            || (has("settings") && !has("command") && !has("url"))
    };
    let (extensions, own): (Vec<_>, Vec<_>) = Map::iter(map).partition(is_extension);
    for (key, node) in own {
        reader.read_server(key, node);
    }
    for (key, node) in extensions {
        let name = crate::text::clip(&key.text, 100);
        reader.unsupported(
            node.line,
            format!("\"{name}\" comes from a Zed extension; only Zed can start it"),
        );
    }
}
