//! Checks the config files of all programs.

use std::collections::BTreeSet;
use std::path::Path;

use wharf_config::{Catalog, Env, Level, Problem};

use super::check::Check;
use crate::commands::invocation::is_settings_or_trust;

/// Checks every file that was found. Problems of a single server are reported by its own checks.
pub(super) fn check(catalog: &Catalog, env: &Env) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut seen: BTreeSet<&Path> = BTreeSet::new();
    for file in &catalog.files {
        if !seen.insert(&file.path) || file.level == Level::Builtin {
            continue;
        }
        let name = env.display_path(&file.path);
        let mut problems = problems_of(catalog, &file.path).peekable();
        if problems.peek().is_none() {
            checks.push(Check::passed(name, format!("read for {}", file.provider_name)));
        }
        checks.extend(problems.map(|problem| of_problem(problem, env)));
    }
    // Files that define no servers, such as lists of disabled servers.
    let is_told = |path: &Path| seen.contains(path) || is_settings_or_trust(path, catalog, env);
    let others = catalog
        .problems
        .iter()
        .filter(|problem| problem.path.as_deref().is_none_or(|path| !is_told(path)));
    checks.extend(others.map(|problem| of_problem(problem, env)));
    checks
}

/// Checks one file, for the report on one of its servers.
pub(super) fn check_one(path: &Path, catalog: &Catalog, env: &Env) -> Vec<Check> {
    problems_of(catalog, path).map(|problem| of_problem(problem, env)).collect()
}

fn problems_of<'a>(catalog: &'a Catalog, path: &'a Path) -> impl Iterator<Item = &'a Problem> {
    catalog.problems.iter().filter(move |problem| problem.path.as_deref() == Some(path))
}

/// Converts a problem of a file to a check.
pub(super) fn of_problem(problem: &Problem, env: &Env) -> Check {
    let file =
        problem.path.as_deref().map_or_else(|| "files".to_owned(), |path| env.display_path(path));
    let name = match problem.line {
        Some(line) => format!("{file}:{line}"),
        None => file,
    };
    let check = if problem.is_error() {
        Check::failed(name, problem.message.clone())
    } else {
        Check::note(name, problem.message.clone())
    };
    Check { hint: problem.hint.clone(), ..check }
}

/// Tells whether other users can read or change a file.
#[cfg(unix)]
pub(super) fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    path.metadata().is_ok_and(|about| about.permissions().mode() & 0o077 != 0)
}

/// Always false on systems without Unix file modes.
#[cfg(not(unix))]
pub(super) fn is_open_to_others(_path: &Path) -> bool {
    false
}
