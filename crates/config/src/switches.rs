//! `disabledServers` and `enabledServers` of Wharf's user file: they switch servers of any program
//! off and on without a change of that program's file.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::discover::{self, Discovery};
use crate::document::Node;
use crate::env::Env;
use crate::problem::Problem;
use crate::source::{Level, Source};

/// The names in both lists.
#[derive(Default)]
pub(crate) struct Switches {
    /// Switched off, in every source.
    pub(crate) disabled: BTreeSet<String>,
    /// Switched on, although another program switched them off.
    pub(crate) enabled: BTreeSet<String>,
}

impl Switches {
    /// Reads the lists of the user file. The lists of a project's file are ignored with a warning.
    pub(crate) fn of(env: &Env, found: &Discovery, problems: &mut Vec<Problem>) -> Self {
        let mut switches = Self::default();
        // A variable or a setting may have excluded the user file from discovery.
        let mut scan = discover::Scan::new(env, Vec::new());
        let mut document = |path: &Path| match found.documents.get(path) {
            Some(known) => known.clone(),
            None => scan.document(path),
        };
        if let Some(path) = env.wharf_home().map(|home| home.join("mcp.json")) {
            // Problems of the file itself were reported when its servers were read.
            if let Some(root) = document(&path) {
                let mut names = |key| names_in(root.get(key), key, &path, problems);
                switches.disabled = names("disabledServers");
                switches.enabled = names("enabledServers");
            }
        }
        let ours = |file: &&Arc<Source>| file.provider == "wharf" && file.level == Level::Project;
        for file in found.files.iter().filter(ours) {
            let Some(root) = document(&file.path) else { continue };
            for key in ["disabledServers", "enabledServers"] {
                if let Some(node) = root.get(key) {
                    let instead = if key == "disabledServers" { "false" } else { "true" };
                    problems.push(
                        Problem::warning(
                            "not-for-projects",
                            format!("\"{key}\" is ignored in a project's file"),
                        )
                        .in_file(&file.path)
                        .on_line(node.line)
                        .hint(format!("use \"enabled\": {instead} in the entry")),
                    );
                }
            }
        }
        switches
    }
}

/// Reads a list of names. Items that are not names are reported, and the others still apply: one
/// mistake must not switch a disabled server on.
fn names_in(
    node: Option<&Node>,
    key: &str,
    path: &Path,
    problems: &mut Vec<Problem>,
) -> BTreeSet<String> {
    let Some(node) = node else { return BTreeSet::new() };
    let at = |problem: Problem, node: &Node| {
        let hint = format!("write \"{key}\": [\"name\"]");
        problem.in_file(path).on_line(node.line).of_field(key).hint(hint)
    };
    let Some(list) = node.as_list() else {
        let name = node.as_str().map(str::to_owned);
        let message = format!("\"{key}\" must be a list of names, not {}", node.kind());
        problems.push(match &name {
            Some(_) => at(Problem::warning("wrong-type", message + "; read as one name"), node),
            None => at(Problem::error("wrong-type", message), node),
        });
        return name.into_iter().collect();
    };
    for wrong in list.iter().filter(|item| item.as_str().is_none()) {
        let message = format!("\"{key}\" has {} among its names; ignored", wrong.kind());
        problems.push(at(Problem::warning("wrong-type", message), wrong));
    }
    list.iter().filter_map(Node::as_str).map(str::to_owned).collect()
}
