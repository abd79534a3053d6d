//! The folders that count as the project: from the working folder up to the repository's root.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::env::Env;
use crate::real_path::real_path;

/// Returns the project's folders, nearest first. Outside a repository this is only the working
/// folder; the home folder and the folders above it are never a project.
pub(crate) fn project_folders(env: &Env) -> Vec<Arc<PathBuf>> {
    let root = repository_root(&env.cwd);
    let last = root.as_deref().unwrap_or(&env.cwd);
    // The working folder is a real path; the home folder may be a symbolic link.
    let real_home = env.home.as_ref().and_then(|home| real_path(home).ok());
    let homes = [env.home.as_deref(), real_home.as_deref()];
    let is_home = |folder: &Path| homes.iter().flatten().any(|home| home.starts_with(folder));
    let upward = env.cwd.ancestors().take_while(|folder| folder.starts_with(last));
    upward.filter(|folder| !is_home(folder)).map(|folder| Arc::new(folder.to_owned())).collect()
}

/// Finds the root of the repository that contains a folder.
pub(crate) fn repository_root(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}
