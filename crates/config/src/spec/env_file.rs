//! Reads the `envFile` of an entry.
//!
//! The existing crates for this format replace `$VAR` from the process's environment, which this
//! crate must not read. So the parser is our own.

use std::path::PathBuf;

use crate::problem::Problem;
use crate::secret::Secret;
use crate::server::ConfigValue;

use super::SpecBuilder;

impl SpecBuilder<'_> {
    /// Returns the variables of the entry's file; an unreadable file is a warning.
    pub(super) fn env_file(&mut self) -> Vec<(String, ConfigValue)> {
        let Some(written) = &self.definition.fields.env_file else { return Vec::new() };
        let text = self.text(&"envFile", written);
        let path: PathBuf = self.env.path_from(text.expose(), &self.definition.folder);
        let (level, folder) = (self.definition.source.level, &self.definition.folder);
        if let Some(text) = &self.files.read(&path, level, folder).text {
            return parse(text).collect();
        }
        let message = "\"envFile\" cannot be read; its variables are missing";
        let hint = "check the path in \"envFile\"";
        self.add_problem(&"envFile", Problem::warning("unreadable", message).hint(hint));
        Vec::new()
    }
}

/// Returns the names of the variables that a file sets.
pub(crate) fn variables(text: &str) -> impl Iterator<Item = String> {
    parse(text).map(|(name, _)| name)
}

/// Parses `NAME=value` lines with optional `export`, quotes and comments.
fn parse(text: &str) -> impl Iterator<Item = (String, ConfigValue)> {
    text.trim_start_matches('\u{feff}').lines().filter_map(|line| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
        let value = value.trim();
        let quoted = ['"', '\'', '`'].into_iter().find_map(|quote| {
            let inner = value.strip_prefix(quote)?;
            inner.find(quote).map(|end| &inner[..end])
        });
        let value = quoted.unwrap_or_else(|| value.split(" #").next().unwrap_or(value).trim_end());
        Some((name.trim().to_owned(), ConfigValue::Literal(Secret::new(value))))
    })
}
