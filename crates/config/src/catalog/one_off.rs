//! The catalog of a one-off server: one entry from the command line, which no file defines.
//!
//! The entry is read like an entry of Wharf's own files. `disabledServers` and `enabledServers` do
//! not apply, because the name of a one-off server is only a label.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::discover;
use crate::env::Env;
use crate::formats;
use crate::merge::{self, MergeOptions};
use crate::named_files::NamedFiles;
use crate::settings::Settings;
use crate::switches::Switches;
use crate::trust::{Trust, TrustStore};

use super::{Catalog, DiscoveryError};

/// The provider of one-off servers, in [`Source::provider`](crate::Source::provider).
pub const ONE_OFF: &str = "command-line";

/// Makes a catalog of one server, with the effective settings of the working folder.
///
/// # Errors
/// If the working folder does not exist.
///
/// ```
/// use serde_json::json;
/// use wharf_config::{Env, ONE_OFF, Platform, DefinitionState, load_one_off};
///
/// let folder = std::env::temp_dir();
/// let env = Env::new(Platform::HOST, folder);
/// let catalog = load_one_off(&env, "server", &json!({ "command": "docs-server" }))?;
/// assert_eq!(catalog.servers[0].state, DefinitionState::Enabled);
/// assert_eq!(catalog.servers[0].definition.source.provider, ONE_OFF);
/// # Ok::<(), wharf_config::DiscoveryError>(())
/// ```
pub fn load_one_off(env: &Env, name: &str, entry: &Value) -> Result<Catalog, DiscoveryError> {
    if !env.cwd.is_dir() {
        return Err(DiscoveryError::NoFolder { path: env.cwd.clone() });
    }
    let (settings, mut problems) = Settings::load(env);
    let text = json!({ "mcpServers": { name: entry } }).to_string();
    let program = formats::ONE_OFF_PROGRAM;
    let found = discover::read_variable(env, program, "command line", &text).map_err(|error| {
        DiscoveryError::Variable { reason: error.message, line: error.line, column: error.column }
    })?;
    problems.extend(found.problems);
    let judged = found.definitions.into_iter().map(|definition| (definition, Trust::NotNeeded));
    let files = NamedFiles::default();
    let project_folders = discover::project_folders(env);
    let project_folders: Vec<PathBuf> =
        project_folders.iter().map(|folder| folder.to_path_buf()).collect();
    // An unreadable trust file trusts nothing. The one server needs no trust, so no problem is
    // added.
    let (trust, _) = TrustStore::load(env);
    let is_folder_trusted = trust.trusts_folder(&project_folders);
    let merge_options = MergeOptions {
        env,
        files: &files,
        switches: &Switches::default(),
        keep_duplicates: true,
        native_web_search: false,
        is_folder_trusted,
    };
    Ok(Catalog {
        servers: merge::merge(judged.collect(), &merge_options),
        problems,
        settings,
        is_folder_trusted,
        project_folders,
        ..Catalog::new(env)
    })
}
