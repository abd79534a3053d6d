//! A catalog of one server that no file defines: the person gives it on a command line, for one
//! use.
//!
//! The entry is read like one of Wharf's own file. What the person switched off by name does not
//! count: the name of a one-off server is only a label.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::catalog::{Catalog, DiscoveryError};
use crate::discover;
use crate::env::Env;
use crate::formats;
use crate::merge::{self, MergeOptions};
use crate::named_files::NamedFiles;
use crate::settings::Settings;
use crate::switches::Switches;
use crate::trust::{Trust, TrustStore};

/// The provider of one-off servers, in [`Source::provider`](crate::Source::provider).
pub const ONE_OFF: &str = "command-line";

/// Makes a catalog of one server, under the settings in force in the working folder.
///
/// # Errors
/// When the working folder does not exist.
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
    let merge_options = MergeOptions {
        env,
        files: &files,
        switches: &Switches::default(),
        keep_duplicates: true,
        native_web_search: false,
    };
    let project_folders = discover::project_folders(env);
    let project_folders: Vec<PathBuf> =
        project_folders.iter().map(|folder| folder.to_path_buf()).collect();
    // An unreadable record means that nothing is trusted. No server here needs more than that.
    let (trust, _) = TrustStore::load(env);
    Ok(Catalog {
        servers: merge::merge(judged.collect(), &merge_options),
        excluded: Vec::new(),
        problems,
        files: Vec::new(),
        settings,
        is_folder_trusted: trust.trusts_folder(&project_folders),
        project_folders,
        exa_keys: Vec::new(),
    })
}
