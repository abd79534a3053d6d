//! Goose: `extensions` in YAML, with `cmd`, `uri`, `envs` and timeouts in seconds.
//!
//! Source: its code. Built-in, platform, frontend, inline and bundled extensions are not servers;
//! `env_keys` names variables that Goose stores in the keyring.

use crate::document::{Key, Map, Node};
use crate::problem::Problem;

use super::file_reader::FileReader;
use super::program::{Dialect, Program, project, user_on};

const NON_SERVER_TYPES: [&str; 4] = ["builtin", "platform", "frontend", "inline_python"];

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect::STANDARD.in_seconds(),
    read_extra_fields: |map, entry| {
        let names = map.get("env_keys").and_then(Node::as_list).unwrap_or_default();
        for node in names {
            let Some(name) = node.as_str() else { continue };
            entry.policy().pass_env.push(name.to_owned());
            if entry.env.nonempty_variable(name).is_none() {
                let message =
                    format!("Goose keeps \"{name}\" in its keyring, which Wharf does not read");
                let problem = Problem::warning("unsupported", message).on_line(node.line);
                entry.problem(
                    problem.of_field("env_keys").hint(format!("set {name} in the environment")),
                );
            }
        }
    },
    files: &[
        project(".goose/config.yaml").read_by(read),
        user_on(
            "{xdg}/goose/config.yaml",
            "{xdg}/goose/config.yaml",
            "{appdata}/Block/goose/config/config.yaml",
        )
        .read_by(read),
    ],
    ..Program::new("goose", "Goose")
};

fn read(root: &Node, reader: &mut FileReader<'_>) {
    let Some(extensions) = root.get("extensions") else { return };
    let Some(map) = extensions.as_map() else {
        reader.read_servers(extensions, "extensions");
        return;
    };
    let is_server = |(_, node): &(&Key, &Node)| {
        let kind = node.get("type").and_then(Node::as_str).unwrap_or_default();
        let bundled = node.get("bundled").and_then(Node::as_bool) == Some(true);
        !NON_SERVER_TYPES.contains(&kind) && !bundled
    };
    for (key, node) in Map::iter(map).filter(is_server) {
        reader.read_server(key, node);
    }
}
