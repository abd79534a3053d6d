//! Folders that bring servers along: plugins and extensions.
//!
//! Their servers are called `plugin:server`, `${CLAUDE_PLUGIN_ROOT}` and the like stand for the
//! folder, and a manifest may not point outside of it.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::document;
use crate::expand::Syntax;

use super::reading::Reading;

/// Goes on reading as that plugin.
pub(super) fn enter(reading: &mut Reading<'_>, folder: &Path, name: &str) {
    reading.plugin = Some(Arc::new(folder.to_owned()));
    reading.name_prefix = format!("{name}:");
    reading.dialect = reading.dialect.with(Syntax::PLUGIN);
}

/// Reads a file of servers that a manifest names.
pub(super) fn servers_in(file: &str, folder: &Path, line: u32, reading: &mut Reading<'_>) {
    let Some(path) = inside(folder, file) else {
        let message =
            "\"mcpServers\" names a file outside of the plugin's folder; not read".to_owned();
        reading.error("outside-plugin", line, (message, "move the file into the plugin's folder"));
        return;
    };
    match reading.further_file(&path) {
        Ok(Some(text)) => match document::parse(&text, crate::discover::notation_of(&path)) {
            Ok(parsed) => reading.servers_or_whole(&parsed.root),
            Err(error) => reading.error(
                "syntax",
                line,
                (
                    format!(
                        "the file that \"mcpServers\" names is not valid: {error} (its line {})",
                        error.line
                    ),
                    "correct that file, or update the plugin",
                ),
            ),
        },
        Ok(None) => reading.error(
            "not-found",
            line,
            (
                "the file that \"mcpServers\" names does not exist".to_owned(),
                "correct \"mcpServers\", or update the plugin",
            ),
        ),
        Err(problem) => reading.problems.push(*problem),
    }
}

/// Returns the name that a manifest gives.
pub(super) fn name_in(manifest: &Path, reading: &mut Reading<'_>) -> Option<String> {
    let text = match reading.further_file(manifest) {
        Ok(text) => text?,
        Err(problem) => {
            reading.problems.push(*problem);
            return None;
        }
    };
    let root = document::parse(&text, document::Notation::Json).ok()?.root;
    root.get("name")?.as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Returns the last part of a path.
pub(super) fn folder_name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads a folder name such as `1.10.2` as a version.
pub(super) fn version(folder: &Path) -> Option<Vec<u64>> {
    let name = folder_name(folder);
    let name = name.strip_prefix('v').unwrap_or(&name);
    let numbers = name.split(['-', '+']).next().unwrap_or_default();
    numbers.split('.').map(|part| part.parse().ok()).collect()
}

/// Joins a relative path that stays inside a folder, also when links are followed.
fn inside(folder: &Path, relative: &str) -> Option<PathBuf> {
    let relative = Path::new(relative);
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let path = folder.join(relative);
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    let real_folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    (relative.components().all(plain) && real.starts_with(real_folder)).then_some(path)
}
