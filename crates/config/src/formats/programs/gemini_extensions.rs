//! Extensions of Gemini CLI: `gemini-extension.json` with `mcpServers`, one folder per extension.
//!
//! Source: its code and documentation. `${extensionPath}` is that folder. Path rules disable
//! extensions; the last rule that matches the working folder decides.

use std::path::Path;

use crate::discover::{Scan, paths};
use crate::document::Node;
use crate::server::Definition;

use super::file_reader::FileReader;
use super::gemini;
use super::plugin;
use super::program::{PathTemplate, Program, project, user};
use super::program_files;

const ENABLEMENT_FILE: PathTemplate =
    user("~/.gemini/extensions/extension-enablement.json").template;

pub(super) const PROGRAM: Program = Program {
    priority: 75,
    dialect: gemini::DIALECT,
    read_extra_fields: gemini::read_extra_fields,
    finish,
    files: &[
        project(".gemini/extensions/*/gemini-extension.json").read_by(read),
        user("~/.gemini/extensions/*/gemini-extension.json").read_by(read),
    ],
    ..Program::new("gemini-extensions", "Gemini CLI extensions")
};

fn read(root: &Node, reader: &mut FileReader<'_>) {
    let path = reader.source.path.clone();
    let Some(folder) = path.parent() else { return };
    let name = root.get("name").and_then(Node::as_str).map(str::to_owned);
    plugin::apply_to_reader(reader, folder, &name.unwrap_or_else(|| plugin::folder_name(folder)));
    reader.read_servers_under(root, &["mcpServers"]);
}

fn finish(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    gemini::apply_to_extensions(scan, definitions);
    for path in paths(&ENABLEMENT_FILE, scan.env, &scan.env.cwd) {
        let Some(root) = scan.document(&path) else { continue };
        for definition in definitions.iter_mut() {
            let extension = definition.name.as_str().split(':').next().unwrap_or_default();
            let rules = root.pointer(&[extension, "overrides"]).and_then(Node::as_list);
            let rules = rules.unwrap_or_default().iter().filter_map(Node::as_str);
            if rules.filter_map(|rule| evaluate_rule(rule, &scan.env.cwd)).next_back()
                == Some(false)
            {
                program_files::switch_off(
                    definition,
                    "its extension is switched off in Gemini CLI",
                );
            }
        }
    }
}

/// Evaluates a rule such as `!/srv/*`: whether it enables or disables the extension in a folder.
fn evaluate_rule(rule: &str, folder: &Path) -> Option<bool> {
    let (on, pattern) = match rule.strip_prefix('!') {
        Some(pattern) => (false, pattern),
        None => (true, rule),
    };
    let fits = match pattern.strip_suffix('*') {
        Some(start) => folder.starts_with(start) || start.is_empty(),
        None => folder == Path::new(pattern.trim_end_matches('/')),
    };
    fits.then_some(on)
}
