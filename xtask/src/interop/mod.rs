//! `cargo xtask interop`: tests our client with third-party servers.
//!
//! The `.json` files in this folder describe how each server is started and what is expected of it:
//! its era, its tools, one call, one resource. `install` installs the servers, `catalog` replaces
//! the placeholders in the files by paths, and `wharf-interop` of the testkit runs the tests. `oidc`
//! signs in at a third-party authorization server, `keychain` uses a real Secret Service.

mod catalog;
mod install;
mod keychain;
mod oidc;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::catalog::{GIT, NODE, PYTHON, ServerGroup};
use crate::TaskOutcome;
use crate::cargo::Cargo;
use crate::program::Program;
use crate::tools::{self, Tools};

/// The time limit for all servers together; most of the twenty answer within a second.
const LIMIT: Duration = Duration::from_secs(600);

/// Tests all servers, or those whose name starts with one of `only`.
pub(crate) fn run(cargo: &Cargo, only: &[&str]) -> TaskOutcome {
    let node = tools::missing_node();
    let mut outcome = TaskOutcome::Passed;
    for part in PARTS {
        if let TaskOutcome::Failed = part.run(cargo, only) {
            outcome = TaskOutcome::Failed;
        }
    }
    if !only.is_empty() && only.iter().all(|name| PARTS.iter().any(|part| part.name == *name)) {
        return outcome;
    }
    let python = tools::missing_python();
    let git = python.clone().or_else(install::missing_git);
    let mut groups = Vec::new();
    for (group, missing) in [(NODE, node), (PYTHON, python), (GIT, git)] {
        match missing {
            None => groups.push(group),
            Some(why) => {
                let servers = format!("the servers {}", group.names().join(", "));
                if let TaskOutcome::Failed =
                    tools::report_skipped(&servers, &why, cargo.missing_tools)
                {
                    outcome = TaskOutcome::Failed;
                }
            }
        }
    }
    if groups.is_empty() {
        return outcome;
    }
    match check(cargo, &groups, only) {
        Ok(()) => outcome,
        Err(why) => {
            eprintln!("error: {why}");
            TaskOutcome::Failed
        }
    }
}

/// A test that is not about a server of a group.
struct Part {
    name: &'static str,
    /// Why it cannot run on this machine.
    missing: fn() -> Option<String>,
    check: fn(&Cargo) -> Result<(), String>,
}

const PARTS: [Part; 2] = [
    Part { name: oidc::NAME, missing: tools::missing_node, check: oidc::check },
    Part { name: keychain::NAME, missing: keychain::missing, check: keychain::check },
];

impl Part {
    /// Runs it, unless only other tests are wanted.
    fn run(&self, cargo: &Cargo, only: &[&str]) -> TaskOutcome {
        if !only.is_empty() && !only.contains(&self.name) {
            return TaskOutcome::Passed;
        }
        if let Some(why) = (self.missing)() {
            return tools::report_skipped(self.name, &why, cargo.missing_tools);
        }
        match (self.check)(cargo) {
            Ok(()) => TaskOutcome::Passed,
            Err(why) => {
                eprintln!("error: {}: {why}", self.name);
                TaskOutcome::Failed
            }
        }
    }
}

fn check(cargo: &Cargo, groups: &[ServerGroup], only: &[&str]) -> Result<(), String> {
    if let Some(name) = only.iter().find(|name| !is_known(groups, name)) {
        return Err(format!("no server that can run on this machine has the name `{name}`"));
    }
    let tools = Tools::open(cargo)?;
    let paths = install::servers(&tools, groups)?;
    let file = tools.folder().join("interop.json");
    write(&file, &catalog::render(groups, &paths))?;
    let driver = cargo.build("wharf-testkit", "wharf-interop")?;
    let arguments = only.iter().map(PathBuf::from);
    Program::new(driver, LIMIT).args([file]).args(arguments).folder(cargo.root()).show()
}

fn is_known(groups: &[ServerGroup], start: &str) -> bool {
    groups.iter().any(|group| group.names().iter().any(|name| name.starts_with(start)))
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    File::create(file)
        .and_then(|mut created| created.write_all(text.as_bytes()))
        .map_err(|error| format!("could not write {}: {error}", file.display()))
}
