//! `disabledServers` and `enabledServers` of the person's own file: a server of any program can be
//! switched here without touching that program's file.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::discover::{self, Found};
use crate::document::Node;
use crate::env::Env;
use crate::problem::Problem;
use crate::source::{Level, Source};

/// The names that the person's own file switches on and off.
#[derive(Default)]
pub(crate) struct Switches {
    /// Off, whatever the source.
    pub(crate) disabled: BTreeSet<String>,
    /// On over another program's off switch.
    pub(crate) enabled: BTreeSet<String>,
}

impl Switches {
    /// Reads them from what was found. A project's file has no say in this.
    pub(crate) fn of(env: &Env, found: &Found, problems: &mut Vec<Problem>) -> Self {
        let mut switches = Self::default();
        // A variable or a setting may have left our own file unread.
        let mut scan = discover::Scan::new(env, Vec::new());
        let mut document = |path: &Path| match found.documents.get(path) {
            Some(known) => known.clone(),
            None => scan.document(path),
        };
        if let Some(path) = env.wharf_home().map(|home| home.join("mcp.json")) {
            // What is wrong with the file itself has been said when its servers were read.
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
                            format!("\"{key}\" counts only in your own file"),
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

fn names_in(
    node: Option<&Node>,
    key: &str,
    path: &Path,
    problems: &mut Vec<Problem>,
) -> BTreeSet<String> {
    let Some(node) = node else { return BTreeSet::new() };
    let names: Option<BTreeSet<String>> = node
        .as_list()
        .and_then(|list| list.iter().map(|item| item.as_str().map(str::to_owned)).collect());
    names.unwrap_or_else(|| {
        problems.push(
            Problem::error("wrong-type", format!("\"{key}\" must be a list of names"))
                .in_file(path)
                .on_line(node.line)
                .hint(format!("write \"{key}\": [\"name\"]")),
        );
        BTreeSet::new()
    })
}
