//! Changes a setting in the person's `config.toml`. Comments and order of the file are kept.

use std::path::PathBuf;

use crate::document::Notation;
use crate::edit::{self, Change};
use crate::env::Env;
use crate::store::{self, StoreError};

use super::files::check_programs;
use super::{SettingError, find, value_error};

/// Why a setting could not be changed in the person's file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsFileError {
    /// The key or the value is not valid.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// There is no home folder for the settings.
    #[error("{}", crate::env::NO_HOME)]
    NoHome,
    /// The file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file could not be edited.
    #[error("could not edit {}", .path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// Why.
        source: edit::EditError,
    },
}

/// Changes a setting in the person's file and returns that file.
pub fn set(env: &Env, key: &str, text: &str) -> Result<PathBuf, SettingsFileError> {
    let setting = find(key)?;
    let value = setting.parse(text).ok_or_else(|| value_error(setting))?;
    check_programs(setting, &value)?;
    let home = env.wharf_home().ok_or(SettingsFileError::NoHome)?;
    let _lock = store::WriteLock::acquire(&home.join("run"), store::LOCK_TIMEOUT)?;
    let path = home.join("config.toml");
    let before = store::read(&path)?.unwrap_or_default();
    let keys = setting.key.split('.').map(str::to_owned).collect();
    let change = Change::Set { path: keys, value: value.to_json().into() };
    let after = edit::apply(&before, Notation::Toml, &[change])
        .map_err(|source| SettingsFileError::Edit { path: path.clone(), source })?;
    store::write(&path, &after)?;
    Ok(path)
}
