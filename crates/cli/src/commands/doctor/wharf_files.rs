//! Checks Wharf's own files: its folder, the settings, `trust.json`, the credentials.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use wharf_config::{Catalog, CredentialError, Credentials, Env, Problem, shell};

use super::check::Check;
use super::config_files::{is_open_to_others, of_problem};
use crate::commands::failure::{SET_HOME, credential_hint};
use crate::commands::invocation::is_settings;

/// Checks Wharf's own files.
pub(super) fn check(catalog: &Catalog, env: &Env) -> Vec<Check> {
    let Some(home) = env.wharf_home() else {
        return vec![
            Check::failed(
                "home",
                format!("{}: settings, trust and tokens cannot be stored", wharf_config::NO_HOME),
            )
            .hint(SET_HOME),
        ];
    };
    let mut checks = vec![folder(&home, env)];
    checks.extend(settings(&home, catalog, env));
    checks.extend(trust(&home, catalog, env));
    checks.push(credentials(&home, env));
    checks
}

fn folder(home: &Path, env: &Env) -> Check {
    let rendered = env.display_path(home);
    match home.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Check::passed("home", format!("{rendered} is created when it is needed"))
        }
        Err(error) => Check::failed("home", format!("could not check {rendered}: {error}"))
            .hint("check the folders above it, or set WHARF_HOME to a folder of yours"),
        Ok(about) if !about.is_dir() => {
            Check::failed("home", format!("{rendered} is not a folder"))
                .hint("move it; Wharf needs a folder there")
        }
        Ok(_) if is_open_to_others(home) => {
            Check::failed("home", format!("other users can read {rendered}"))
                .hint(format!("chmod 700 {}", shell::quote_path(&rendered)))
        }
        // Only the mode is checked, because a test write would change the folder.
        Ok(about) if !may_owner_write(&about) => {
            Check::failed("home", format!("{rendered} is not writable by its owner"))
                .hint(format!("chmod 700 {}", shell::quote_path(&rendered)))
        }
        Ok(_) => Check::passed("home", private(&rendered)),
    }
}

/// Returns the text for a private file, on systems where the mode was checked.
fn private(rendered: &str) -> String {
    if cfg!(unix) { format!("{rendered} is private") } else { format!("{rendered} exists") }
}

#[cfg(unix)]
fn may_owner_write(about: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;

    about.permissions().mode() & 0o200 != 0
}

/// Always true on systems without Unix file modes.
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
        format!("{} is valid", env.display_path(&path))
    } else {
        "there is no settings file, so the defaults apply".to_owned()
    };
    vec![Check::passed("settings", message)]
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
        format!("{} is valid", env.display_path(&path))
    } else {
        "no project servers are trusted yet".to_owned()
    };
    vec![Check::passed("trust", message)]
}

fn credentials(home: &Path, env: &Env) -> Check {
    let path = home.join("credentials.json");
    let rendered = env.display_path(&path);
    match Credentials::load(env) {
        Err(error) => unusable_credentials(&error),
        Ok(_) if !path.exists() => Check::passed("credentials", "none are stored"),
        Ok(_) if is_open_to_others(&path) => {
            Check::failed("credentials", format!("others can read {rendered}"))
                .hint(format!("chmod 600 {}", shell::quote_path(&rendered)))
        }
        Ok(_) => Check::passed("credentials", private(&rendered)),
    }
}

/// Returns the check for credentials that cannot be read.
pub(super) fn unusable_credentials(error: &CredentialError) -> Check {
    Check::failed("credentials", error.to_string()).hint(credential_hint(error))
}
