//! Rules about dependencies between the modules of one crate.
//!
//! A module is a file or folder directly below `src`. The layers of a crate are listed here from
//! top to bottom, as in the diagrams of `ARCHITECTURE.md`; a module may use only modules of lower
//! layers. A name that `lib.rs` re-exports belongs to the module that it comes from.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::{crate_paths, imports};
use crate::rule::{Rule, Violation};
use crate::tree::{SourceFile, Tree};

/// The layers of each crate that is checked, by the folder of its sources. Modules of one layer do
/// not use each other.
const CRATES: [(&str, &[&[&str]]); 2] = [
    (
        "crates/protocol/src/",
        &[
            &["fuzz"],
            &["connect", "serve"],
            &["peer"],
            &["transport"],
            &["session"],
            &["view", "http_client"],
            &["era"],
            &["envelope"],
            &["json", "redact"],
            &["scan", "third_party"],
        ],
    ),
    (
        "crates/runtime/src/",
        &[
            &["load", "serialized_errors", "violations"],
            &["builder", "view"],
            &["resources_and_prompts", "signing_in", "tool_review"],
            &["scoped_requests"],
            &["execute", "tool_servers", "startup"],
            &["runtime", "cached_tools"],
            &["connections"],
            &["spans"],
            &["otel"],
            &["earlier_runs"],
            &["options"],
            &["scope"],
            &["approval", "elicitation", "model_formats", "store", "thinking"],
            &["event"],
            &["call_record"],
            &["call"],
            &["trust_decider", "http", "logs", "client_features", "status", "tools", "trace"],
            &["resolve"],
            &["auth"],
            &["advice", "arguments", "trust_gate", "log_entry", "stderr"],
            &["call_context", "credentials", "own_transport", "third_party"],
        ],
    ),
];

pub(crate) const DIRECTION: Rule = Rule {
    says: "a module uses only modules of lower layers of its crate",
    fix: "move what both need into a lower module; a new module needs a layer in `CRATES`",
    find: |tree| CRATES.iter().flat_map(|(folder, layers)| check(tree, folder, layers)).collect(),
};

fn check(tree: &Tree, folder: &str, layers: &[&[&str]]) -> Vec<Violation> {
    let exports = exports(tree, folder);
    let layer_of = |module: &str| layers.iter().position(|layer| layer.contains(&module));
    let mut found = Vec::new();
    let mut without_layer = BTreeSet::new();
    for (file, module) in tree.rust().filter_map(|file| Some((file, module_of(file, folder)?))) {
        let Some(layer) = layer_of(module) else {
            if without_layer.insert(module) {
                let what = format!("the module `{module}` is in no layer of `CRATES`");
                found.push(Violation { path: file.path.clone(), line: 1, what });
            }
            continue;
        };
        for (line, used) in crate_paths(&file.product_code()) {
            let used = exports.get(&used).unwrap_or(&used);
            let is_wrong = used != module && layer_of(used).is_some_and(|other| other <= layer);
            if is_wrong {
                let what = format!("`{module}` may not use `{used}`");
                found.push(Violation { path: file.path.clone(), line, what });
            }
        }
    }
    found
}

/// Returns the module of a file; `None` for `lib.rs` and for files outside of the folder.
fn module_of<'a>(file: &'a SourceFile, folder: &str) -> Option<&'a str> {
    let inside = file.path.strip_prefix(folder)?;
    let module = inside.split('/').next()?.trim_end_matches(".rs");
    (module != "lib").then_some(module)
}

/// Returns the names that `lib.rs` re-exports, each with its module.
fn exports(tree: &Tree, folder: &str) -> BTreeMap<String, String> {
    let root = format!("{folder}lib.rs");
    let root = tree.files.iter().find(|file| file.path == root);
    let names = root.map(|file| imports(&file.product_code())).unwrap_or_default();
    names
        .into_iter()
        .filter_map(|(_, path)| {
            let (module, rest) = path.split_once("::")?;
            Some((rest.rsplit("::").next()?.to_owned(), module.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_uses_a_higher_one_is_found() {
        DIRECTION.check(
            &[
                (
                    "crates/protocol/src/lib.rs",
                    "pub use json::{Json, Members};\npub use peer::Peer;\n",
                ),
                (
                    "crates/protocol/src/transport/a.rs",
                    "use crate::session::Core;\nuse crate::{Json, peer::Wire};\n\
                     fn a(peer: crate::Peer) {}\n// crate::peer\nuse crate::transport::b;\n",
                ),
                ("crates/protocol/src/json.rs", "use crate::scan;\nuse crate::redact::Redactor;\n"),
                ("crates/protocol/src/peer/tests.rs", "use crate::connect;\n"),
            ],
            &[
                "crates/protocol/src/transport/a.rs:2: `transport` may not use `peer`",
                "crates/protocol/src/transport/a.rs:3: `transport` may not use `peer`",
                "crates/protocol/src/json.rs:2: `json` may not use `redact`",
            ],
        );
    }

    #[test]
    fn a_module_without_a_layer_is_found() {
        DIRECTION.check(
            &[("crates/protocol/src/extra/mod.rs", "//! x"), ("crates/cli/src/extra.rs", "//! x")],
            &["crates/protocol/src/extra/mod.rs:1: the module `extra` is in no layer of `CRATES`"],
        );
    }
}
