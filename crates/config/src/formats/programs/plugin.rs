//! Plugins and extensions: folders with a manifest that define servers.
//!
//! Their servers are named `plugin:server`. `${CLAUDE_PLUGIN_ROOT}` and similar placeholders are
//! replaced by the folder. A manifest may not refer to files outside of it.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::document;
use crate::expand::Syntax;
use crate::real_path;

use super::file_reader::FileReader;

/// Sets the plugin, its name prefix and its placeholders on a reader.
pub(super) fn apply_to_reader(reader: &mut FileReader<'_>, folder: &Path, name: &str) {
    reader.plugin = Some(Arc::new(folder.to_owned()));
    reader.name_prefix = format!("{name}:");
    reader.dialect = reader.dialect.with(Syntax::PLUGIN);
}

/// Reads a file of servers to which a manifest refers.
pub(super) fn read_servers_file(file: &str, folder: &Path, line: u32, reader: &mut FileReader<'_>) {
    let Some(path) = join_inside(folder, file) else {
        let message =
            "\"mcpServers\" names a file outside of the plugin's folder; not read".to_owned();
        reader.error("outside-plugin", line, (message, "move the file into the plugin's folder"));
        return;
    };
    match reader.read_further_file(&path) {
        Ok(Some(text)) => match document::parse(&text, crate::discover::notation_of(&path)) {
            Ok(parsed) => reader.read_servers_or_root(&parsed.root),
            Err(error) => reader.error(
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
        Ok(None) => reader.error(
            "not-found",
            line,
            (
                "the file that \"mcpServers\" names does not exist".to_owned(),
                "correct \"mcpServers\", or update the plugin",
            ),
        ),
        Err(problem) => reader.problems.push(*problem),
    }
}

/// Reads the name of a plugin from its manifest.
pub(super) fn read_manifest_name(manifest: &Path, reader: &mut FileReader<'_>) -> Option<String> {
    let text = match reader.read_further_file(manifest) {
        Ok(text) => text?,
        Err(problem) => {
            reader.problems.push(*problem);
            return None;
        }
    };
    let root = document::parse(&text, document::Notation::Json).ok()?.root;
    root.get("name")?.as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Returns the name of a folder.
pub(super) fn folder_name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Parses a folder name such as `1.10.2` as a version.
pub(super) fn parse_version(folder: &Path) -> Option<Vec<u64>> {
    let name = folder_name(folder);
    let name = name.strip_prefix('v').unwrap_or(&name);
    let numbers = name.split(['-', '+']).next().unwrap_or_default();
    numbers.split('.').map(|part| part.parse().ok()).collect()
}

/// Joins a relative path; `None` if it leaves the folder, also through symbolic links.
fn join_inside(folder: &Path, relative: &str) -> Option<PathBuf> {
    let relative = Path::new(relative);
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    // Checked before the path is looked at: it may lead to the network.
    if !relative.components().all(plain) {
        return None;
    }
    let path = folder.join(relative);
    let real = real_path(&path).unwrap_or_else(|_| path.clone());
    let real_folder = real_path(folder).unwrap_or_else(|_| folder.to_owned());
    real.starts_with(real_folder).then_some(path)
}
