//! Rules about dependencies, read from the `Cargo.toml` files.
//!
//! The reader understands only dependency tables; cargo checks the rest.

use crate::rule::{Rule, Violation};
use crate::tree::Tree;

/// The packages of the workspace, and which of them each may use, from low to high.
const MAY_USE: [(&str, &[&str]); 9] = [
    ("wharf-config", &[]),
    ("wharf-protocol", &[]),
    ("wharf", &["wharf-config", "wharf-protocol"]),
    ("wharf-agent", &["wharf-config", "wharf-protocol", "wharf"]),
    ("wharf-gateway", &["wharf-config", "wharf-protocol", "wharf"]),
    // The command line does not speak the protocol.
    ("wharf-cli", &["wharf-config", "wharf", "wharf-agent", "wharf-gateway"]),
    (TESTKIT, &["wharf-config", "wharf-protocol", "wharf"]),
    ("wharf-benches", &["wharf-protocol", "wharf"]),
    ("xtask", &[]),
];

const TESTKIT: &str = "wharf-testkit";

/// Packages for async code, networks or processes; `tokio` includes `tokio-util`.
const NOT_PLAIN: [&str; 14] = [
    "async",
    "command-group",
    "curl",
    "duct",
    "futures",
    "hyper",
    "isahc",
    "mio",
    "process-wrap",
    "reqwest",
    "smol",
    "socket2",
    "tokio",
    "ureq",
];

pub(crate) const DIRECTION: Rule = Rule {
    says: "dependencies point one way: cli → gateway, agent → runtime → protocol, config; \
           testkit is for tests",
    fix: "move the code into a crate that both may use; a new crate needs a line in `MAY_USE`",
    find: wrong_direction,
};

pub(crate) const CONFIG_IS_PLAIN: Rule = Rule {
    says: "`wharf-config` has no dependency for async code, networks or processes",
    fix: "move the code that needs it into the runtime",
    find: |tree| {
        let is_plain = |name: &str| {
            !NOT_PLAIN.iter().any(|&other| {
                name.strip_prefix(other)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            })
        };
        manifests(tree)
            .iter()
            .filter(|manifest| manifest.package == "wharf-config")
            .flat_map(|manifest| manifest.dependencies.iter().map(move |used| (manifest, used)))
            .filter(|(_, used)| used.kind != DependencyKind::Dev && !is_plain(&used.package))
            .map(|(manifest, used)| manifest.violation(used, "is not allowed in `wharf-config`"))
            .collect()
    },
};

/// Packages that no other program depends on.
const NOT_EMBEDDED: [&str; 4] = ["crates/benches/", "crates/cli/", "crates/testkit/", "fuzz/"];

/// Features that change how all JSON of a program is read or written.
const GLOBAL_FEATURES: [&str; 3] = ["arbitrary_precision", "preserve_order", "unbounded_depth"];

pub(crate) const NO_GLOBAL_FEATURE: Rule = Rule {
    says: "no library turns on a feature of serde_json that changes all JSON of a program",
    fix: "keep the order with `JsonValue` or `Json`, or with a struct that is serialized",
    find: |tree| {
        let is_embedded = |path: &str| {
            path.ends_with("Cargo.toml")
                && !NOT_EMBEDDED.iter().any(|other| path.starts_with(other))
        };
        let manifests = tree.files.iter().filter(|file| is_embedded(&file.path));
        let lines = manifests.flat_map(|file| {
            let lines = file.text.lines().enumerate();
            // The tests of a library are not part of the programs that embed it.
            let lines = lines.take_while(|(_, line)| line.trim() != "[dev-dependencies]");
            lines.map(move |(index, line)| (&file.path, index + 1, line))
        });
        let forced = lines.filter_map(|(path, line, text)| {
            let settings = text.split('#').next().unwrap_or_default();
            let feature = GLOBAL_FEATURES.into_iter().find(|feature| settings.contains(feature))?;
            let what = format!("`{feature}` would apply to the embedding program, too");
            Some(Violation { path: path.clone(), line, what })
        });
        forced.collect()
    },
};

fn wrong_direction(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for manifest in manifests(tree) {
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == manifest.package) else {
            let what = format!("the package `{}` is not listed in `MAY_USE`", manifest.package);
            found.push(Violation { path: manifest.path, line: 1, what });
            continue;
        };
        for used in &manifest.dependencies {
            let is_ours = MAY_USE.iter().any(|(name, _)| *name == used.package);
            let is_for_tests = used.package == TESTKIT && used.kind == DependencyKind::Dev;
            if is_ours && !is_for_tests && !allowed.contains(&used.package.as_str()) {
                let what = format!("may not be used by `{}`", manifest.package);
                found.push(manifest.violation(used, &what));
            }
        }
    }
    found
}

#[derive(Debug, PartialEq)]
struct Manifest {
    path: String,
    package: String,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, PartialEq)]
struct Dependency {
    /// The original name of the package, also if the dependency is renamed.
    package: String,
    kind: DependencyKind,
    line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum DependencyKind {
    Normal,
    Dev,
    Build,
    /// An entry of `[workspace.dependencies]`, which is not a dependency by itself.
    Workspace,
}

impl Manifest {
    fn violation(&self, used: &Dependency, what: &str) -> Violation {
        let what = format!("`{}` {what}", used.package);
        Violation { path: self.path.clone(), line: used.line, what }
    }
}

/// Reads the manifests of all packages and resolves renames in the table of the workspace.
fn manifests(tree: &Tree) -> Vec<Manifest> {
    let named = |path: &str| tree.files.iter().find(|file| file.path == path);
    let renamed: Vec<(String, Dependency)> =
        named("Cargo.toml").map(|root| dependencies(&root.text)).unwrap_or_default();
    let original = |alias: String, used: Dependency| {
        let rename = renamed.iter().find(|(name, _)| *name == alias);
        match rename {
            Some((_, original)) if used.package == alias => {
                Dependency { package: original.package.clone(), ..used }
            }
            _ => used,
        }
    };
    let is_member = |path: &str| {
        let folder = path.strip_suffix("/Cargo.toml").unwrap_or_default();
        folder == "xtask" || folder.strip_prefix("crates/").is_some_and(|rest| !rest.contains('/'))
    };
    let read = |path: &str, text: &str| Manifest {
        path: path.to_owned(),
        package: package_name(text),
        dependencies: dependencies(text)
            .into_iter()
            .filter(|(_, used)| used.kind != DependencyKind::Workspace)
            .map(|(alias, used)| original(alias, used))
            .collect(),
    };
    let members = tree.files.iter().filter(|file| is_member(&file.path));
    members.map(|file| read(&file.path, &file.text)).collect()
}

fn package_name(text: &str) -> String {
    let table = text.split("[package]").nth(1).unwrap_or_default();
    let name = table.lines().find_map(|line| line.trim().strip_prefix("name"));
    name.and_then(quoted).unwrap_or_default().to_owned()
}

/// Reads all dependency tables; each dependency has the name that is used in the table.
fn dependencies(text: &str) -> Vec<(String, Dependency)> {
    let mut found: Vec<(String, Dependency)> = Vec::new();
    let mut table = ManifestTable::Other;
    for (line, content) in text.lines().enumerate().map(|(index, line)| (index + 1, line.trim())) {
        if let Some(header) = content.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            table = ManifestTable::of(header);
            if let ManifestTable::One(kind, name) = &table {
                let used = Dependency { package: name.clone(), kind: *kind, line };
                found.push((name.clone(), used));
            }
            continue;
        }
        let Some((key, value)) = content.split_once('=') else { continue };
        let key = key.trim().split('.').next().unwrap_or_default().trim_matches('"');
        match &table {
            ManifestTable::Many(kind) if key.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
                let rename = value.split_once("package = ").and_then(|(_, rest)| quoted(rest));
                let package = rename.unwrap_or(key).to_owned();
                found.push((key.to_owned(), Dependency { package, kind: *kind, line }));
            }
            ManifestTable::One(..) if key == "package" => {
                if let (Some((_, used)), Some(name)) = (found.last_mut(), quoted(value)) {
                    name.clone_into(&mut used.package);
                }
            }
            _ => {}
        }
    }
    found
}

/// The table that a line belongs to.
enum ManifestTable {
    /// `[dependencies]` and similar tables.
    Many(DependencyKind),
    /// `[dependencies.name]` and similar tables.
    One(DependencyKind, String),
    Other,
}

impl ManifestTable {
    fn of(header: &str) -> Self {
        let kind = |path: &str| match path.rsplit('.').next() {
            Some("dependencies") if path == "workspace.dependencies" => {
                Some(DependencyKind::Workspace)
            }
            Some("dependencies") => Some(DependencyKind::Normal),
            Some("dev-dependencies") => Some(DependencyKind::Dev),
            Some("build-dependencies") => Some(DependencyKind::Build),
            _ => None,
        };
        if let Some(kind) = kind(header) {
            return Self::Many(kind);
        }
        match header.rsplit_once('.').map(|(path, name)| (kind(path), name)) {
            Some((Some(kind), name)) => Self::One(kind, name.trim_matches('"').to_owned()),
            _ => Self::Other,
        }
    }
}

/// Returns the first text in double quotes.
fn quoted(text: &str) -> Option<&str> {
    text.split('"').nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_against_the_direction_is_found() {
        DIRECTION.check(
            &[
                (
                    "crates/config/Cargo.toml",
                    "[package]\nname = \"wharf-config\"\n[dependencies]\nserde.workspace = true\n\
                     wharf.workspace = true\n",
                ),
                (
                    "crates/cli/Cargo.toml",
                    "[package]\nname = \"wharf-cli\"\n[dependencies]\nwharf-config = \"0.1\"\n\
                     wharf-protocol = { path = \"../protocol\" }\n",
                ),
                (
                    "crates/agent/Cargo.toml",
                    "[package]\nname = \"wharf-agent\"\n[target.'cfg(unix)'.dependencies.wharf-gateway]\n\
                     path = \"../gateway\"\n",
                ),
            ],
            &[
                "crates/config/Cargo.toml:5: `wharf` may not be used by `wharf-config`",
                "crates/cli/Cargo.toml:5: `wharf-protocol` may not be used by `wharf-cli`",
                "crates/agent/Cargo.toml:3: `wharf-gateway` may not be used by `wharf-agent`",
            ],
        );
    }

    #[test]
    fn the_testkit_is_for_tests_only() {
        DIRECTION.check(
            &[(
                "crates/runtime/Cargo.toml",
                "[package]\nname = \"wharf\"\n[dependencies]\nwharf-testkit.workspace = true\n\
                 [dev-dependencies]\nwharf-testkit.workspace = true\nwharf-cli.workspace = true\n",
            )],
            &[
                "crates/runtime/Cargo.toml:4: `wharf-testkit` may not be used by `wharf`",
                "crates/runtime/Cargo.toml:7: `wharf-cli` may not be used by `wharf`",
            ],
        );
    }

    #[test]
    fn a_package_without_a_rule_is_found() {
        DIRECTION.check(
            &[("crates/extra/Cargo.toml", "[package]\nname = \"wharf-extra\"\n")],
            &["crates/extra/Cargo.toml:1: the package `wharf-extra` is not listed in `MAY_USE`"],
        );
    }

    #[test]
    fn renamed_dependencies_are_found() {
        DIRECTION.check(
            &[
                (
                    "Cargo.toml",
                    "[workspace.dependencies]\nharbour = { path = \"x\", package = \"wharf\" }\n",
                ),
                (
                    "crates/config/Cargo.toml",
                    "[package]\nname = \"wharf-config\"\n[dependencies]\nharbour.workspace = true\n\
                     wire = { path = \"../protocol\", package = \"wharf-protocol\" }\n\
                     [dependencies.front]\npackage = \"wharf-cli\"\n",
                ),
            ],
            &[
                "crates/config/Cargo.toml:4: `wharf` may not be used by `wharf-config`",
                "crates/config/Cargo.toml:5: `wharf-protocol` may not be used by `wharf-config`",
                "crates/config/Cargo.toml:6: `wharf-cli` may not be used by `wharf-config`",
            ],
        );
    }

    #[test]
    fn a_feature_that_changes_all_json_is_found() {
        NO_GLOBAL_FEATURE.check(
            &[
                (
                    "Cargo.toml",
                    "[workspace.dependencies]\n# Not preserve_order.\n\
                     serde_json = { version = \"1\", features = [\"preserve_order\"] }\n",
                ),
                (
                    "crates/config/Cargo.toml",
                    "[features]\nexact = [\"serde_json/arbitrary_precision\"]\n",
                ),
                (
                    "crates/cli/Cargo.toml",
                    "[dependencies]\nserde_json = { version = \"1\", features = [\"preserve_order\"] }\n",
                ),
            ],
            &[
                "Cargo.toml:3: `preserve_order` would apply to the embedding program, too",
                "crates/config/Cargo.toml:2: `arbitrary_precision` would apply to the embedding program, too",
            ],
        );
    }

    #[test]
    fn a_dependency_of_config_that_waits_is_found() {
        CONFIG_IS_PLAIN.check(
            &[
                (
                    "crates/config/Cargo.toml",
                    "[package]\nname = \"wharf-config\"\n[dependencies]\ntokio-util.workspace = true\n\
                     asyncify = \"1\"\nreqwest = { version = \"1\", features = [\n  \"json\",\n] }\n\
                     [dev-dependencies]\ntokio.workspace = true\n",
                ),
                (
                    "crates/runtime/Cargo.toml",
                    "[package]\nname = \"wharf\"\n[dependencies]\ntokio.workspace = true\n",
                ),
            ],
            &[
                "crates/config/Cargo.toml:4: `tokio-util` is not allowed in `wharf-config`",
                "crates/config/Cargo.toml:6: `reqwest` is not allowed in `wharf-config`",
            ],
        );
    }
}
