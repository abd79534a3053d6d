//! Signs in at a certified provider that nobody here wrote: npm's `oidc-provider`.
//!
//! `oidc/main.mjs` starts the provider and an MCP server, and runs the built `wharf` against them:
//! registration, code with PKCE, rotation, revocation, device code, client credentials, and proofs of
//! possession.

use std::path::Path;
use std::time::Duration;

use super::write;
use crate::cargo::Cargo;
use crate::program::Program;
use crate::tools::{self, PackageSet, Tools};

/// The name under which these tests are selected.
pub(super) const NAME: &str = "oidc-provider";

const PACKAGES: PackageSet =
    PackageSet { folder: "npm-oidc", packages: &["jose@6.2.17", "oidc-provider@9.13.3"] };

/// The scripts, as they are written beside each other.
const SCRIPTS: [(&str, &str); 4] = [
    ("main.mjs", include_str!("oidc/main.mjs")),
    ("person.mjs", include_str!("oidc/person.mjs")),
    ("provider.mjs", include_str!("oidc/provider.mjs")),
    ("resource.mjs", include_str!("oidc/resource.mjs")),
];

/// Each case takes a second or two.
const LIMIT: Duration = Duration::from_secs(180);

/// Runs the cases; needs npm.
pub(super) fn check(cargo: &Cargo) -> Result<(), String> {
    let tools = Tools::open(cargo)?;
    let node = tools::node(&tools)?;
    let modules = tools::install_npm(&tools, &PACKAGES)?;
    let wharf = cargo.build("wharf-cli", "wharf")?;
    let folder = tools.empty_folder("oidc")?;
    for (name, text) in SCRIPTS {
        write(&folder.join(name), text)?;
    }
    println!("Signing in at oidc-provider:");
    let script = folder.join("main.mjs");
    let arguments: [&Path; 4] = [&script, &wharf, &modules, &folder.join("home")];
    Program::new(node, LIMIT).args(arguments).folder(&folder).show()
}
