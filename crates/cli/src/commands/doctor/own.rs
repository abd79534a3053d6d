//! Looks at Wharf's own files: its folder, the settings, the record of trust, the credentials.

use std::fs::Metadata;
use std::path::Path;

use wharf_config::{Catalog, CredentialError, Credentials, Env, Problem};

use super::check::Check;
use super::files::{is_open_to_others, of_problem};
use crate::commands::invocation::is_settings;

/// Checks Wharf's own files.
pub(super) fn check(catalog: &Catalog, env: &Env) -> Vec<Check> {
    let Some(home) = env.wharf_home() else {
        return vec![
            Check::wrong("home", "there is no home folder, so nothing can be remembered")
                .hint("set HOME, or WHARF_HOME to a folder of yours"),
        ];
    };
    let mut checks = vec![folder(&home, env)];
    checks.extend(settings(&home, catalog, env));
    checks.extend(trust(&home, catalog, env));
    checks.push(credentials(&home, env));
    checks
}

fn folder(home: &Path, env: &Env) -> Check {
    let shown = env.short(home);
    match home.metadata() {
        Err(_) => Check::fine("home", format!("{shown} is made when it is needed")),
        Ok(about) if !about.is_dir() => Check::wrong("home", format!("{shown} is not a folder"))
            .hint("move it away; Wharf keeps its files there"),
        Ok(_) if is_open_to_others(home) => {
            Check::wrong("home", format!("others can look into {shown}"))
                .hint(format!("chmod 700 {shown}"))
        }
        // Whether writing works is known only after it was tried, and looking changes nothing.
        Ok(about) if !may_owner_write(&about) => {
            Check::wrong("home", format!("{shown} does not let its owner write"))
                .hint(format!("chmod 700 {shown}"))
        }
        Ok(_) => Check::fine("home", format!("{shown} is yours alone")),
    }
}

#[cfg(unix)]
fn may_owner_write(about: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;

    about.permissions().mode() & 0o200 != 0
}

/// Where there are no such modes, a folder says nothing about it.
#[cfg(not(unix))]
fn may_owner_write(_about: &Metadata) -> bool {
    true
}

fn settings(home: &Path, catalog: &Catalog, env: &Env) -> Vec<Check> {
    let is_settings = |problem: &&Problem| {
        problem.path.as_deref().is_some_and(|path| is_settings(path, catalog, env))
    };
    let wrong: Vec<Check> = catalog
        .problems
        .iter()
        .filter(is_settings)
        .map(|problem| of_problem(problem, env))
        .collect();
    if !wrong.is_empty() {
        return wrong;
    }
    let path = home.join("config.toml");
    let message = if path.exists() {
        format!("{} is understood", env.short(&path))
    } else {
        "none of your own, so the defaults count".to_owned()
    };
    vec![Check::fine("settings", message)]
}

fn trust(home: &Path, catalog: &Catalog, env: &Env) -> Vec<Check> {
    let path = home.join("trust.json");
    let problems = catalog.problems.iter();
    let wrong: Vec<Check> = problems
        .filter(|problem| problem.path.as_deref() == Some(path.as_path()))
        .map(|problem| of_problem(problem, env))
        .collect();
    if !wrong.is_empty() {
        return wrong;
    }
    let message = if path.exists() {
        format!("{} is understood", env.short(&path))
    } else {
        "nothing of a project is trusted yet".to_owned()
    };
    vec![Check::fine("trust", message)]
}

fn credentials(home: &Path, env: &Env) -> Check {
    let path = home.join("credentials.json");
    let shown = env.short(&path);
    match Credentials::load(env) {
        Err(CredentialError::Store(error)) => {
            Check::wrong("credentials", error.to_string()).hint(error.hint())
        }
        Err(error) => Check::wrong("credentials", error.to_string())
            .hint(format!("correct {shown}, or delete it and sign in again")),
        Ok(_) if !path.exists() => Check::fine("credentials", "none are stored"),
        Ok(_) if is_open_to_others(&path) => {
            Check::wrong("credentials", format!("others can read {shown}"))
                .hint(format!("chmod 600 {shown}"))
        }
        Ok(_) => Check::fine("credentials", format!("{shown} is yours alone")),
    }
}
