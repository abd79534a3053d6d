//! Wharf's own settings: from code, and from the `config.toml` files (`files`).
//!
//! One table, `KEYS`, defines all keys. [`Settings::with`], the files, `config get` and `config set`
//! use it.

mod files;
#[cfg(feature = "discovery")]
mod set;
mod table;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeMap;

use crate::formats;
use crate::text;

pub(crate) use files::BY_PROJECT;
pub use files::SettingsFiles;
#[cfg(feature = "discovery")]
pub use set::{SettingsFileError, set};
pub use table::{KEYS, Setting, SettingKind};
pub use value::SettingValue;

/// The effective settings. [`Settings::default`] has the default value of every key, and
/// [`Settings::with`] changes one.
///
/// | key | values | default | |
/// |---|---|---|---|
/// | `call.max_ms` | number, at least 1, or `Duration` | `3600000` | maximum duration of a call |
/// | `call.max_result_chars` | number, at least 1 | `50000` | maximum length of a result for a model |
/// | `credentials.store` | `auto`, `keychain`, `file` | `auto` | where tokens are stored |
/// | `discovery.disabled` | list of words | none | programs whose files are not read |
/// | `discovery.duplicates` | `hide`, `keep` | `hide` | whether one of two identical servers is hidden |
/// | `discovery.project` | `true`, `false` | `true` | whether the files of projects are read |
/// | `startup.mode` | `auto`, `complete`, `background` | `auto` | whether a listing waits for slow servers |
/// | `startup.timeout_ms` | number or `Duration` | `250` | how long it waits before it uses cached tools |
/// | `tools.naming` | `classic`, `precise` | `classic` | how tools are named |
/// | `tools.pinning` | `observe`, `enforce` | `observe` | whether changed tools are withheld |
/// | `tools.sanitize` | `light`, `strict` | `light` | how far schemas are simplified |
///
/// ```
/// use std::time::Duration;
/// use wharf_config::Settings;
///
/// let settings = Settings::default()
///     .with("tools.naming", "precise")?
///     .with("call.max_ms", Duration::from_secs(60))?
///     .with("startup.timeout_ms", 500)?;
/// assert!(settings.is_set_to("tools.naming", "precise"));
///
/// let error = settings.with("tools.name", "precise").unwrap_err();
/// assert_eq!(error.to_string(), "unknown setting \"tools.name\"");
/// assert_eq!(error.hint().as_deref(), Some("did you mean \"tools.naming\"?"));
/// # Ok::<(), wharf_config::settings::SettingError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    values: BTreeMap<&'static str, SettingValue>,
    /// The programs whose project files a project's settings exclude. User files are still read.
    pub(crate) programs_disabled_by_project: Vec<String>,
}

/// The default values; no file and no variable is read.
impl Default for Settings {
    fn default() -> Self {
        let values = KEYS.iter().map(|setting| (setting.key, setting.default_value()));
        Self { values: values.collect(), programs_disabled_by_project: Vec::new() }
    }
}

impl Settings {
    /// Sets the value of a key of [`KEYS`].
    ///
    /// The settings `discovery.…` affect only a later [`load`](fn@crate::load) from files.
    ///
    /// # Errors
    /// If the key is unknown, or the value has another type or is not one of the valid ones. The
    /// error names the valid values; its hint names the most similar key.
    pub fn with(mut self, key: &str, value: impl Into<SettingValue>) -> Result<Self, SettingError> {
        let setting = find(key)?;
        let value = value.into();
        let value = setting.check(value).ok_or_else(|| value_error(setting))?;
        files::check_programs(setting, &value)?;
        self.values.insert(setting.key, value);
        Ok(self)
    }

    /// Returns a setting by its key.
    pub fn get(&self, key: &str) -> Option<&SettingValue> {
        self.values.get(key)
    }

    /// Iterates over all settings, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &SettingValue)> {
        self.values.iter().map(|(key, value)| (*key, value))
    }

    /// Tells whether a boolean setting is true.
    pub fn is_on(&self, key: &str) -> bool {
        self.get(key) == Some(&SettingValue::Bool(true))
    }

    /// Tells whether a setting has this value.
    pub fn is_set_to(&self, key: &str, word: &str) -> bool {
        matches!(self.get(key), Some(SettingValue::Text(text)) if text == word)
    }

    /// Returns the words of a setting.
    pub fn list(&self, key: &str) -> &[String] {
        match self.get(key) {
            Some(SettingValue::List(list)) => list,
            _ => &[],
        }
    }
}

/// Why a setting cannot have a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// The key is unknown.
    #[error("unknown setting \"{key}\"")]
    Unknown {
        /// The key.
        key: String,
        /// The most similar key.
        nearest: Option<&'static str>,
    },
    /// The key belongs to a feature that does not exist yet.
    #[error("\"{key}\" has no effect: this version of Wharf does not include {part}")]
    NoEffect {
        /// The key.
        key: String,
        /// The feature.
        part: &'static str,
    },
    /// The value is not valid for the key.
    #[error("\"{key}\" must be {wanted}")]
    InvalidValue {
        /// The key.
        key: &'static str,
        /// The valid values.
        wanted: String,
    },
    /// The value names a program that does not exist.
    #[error("no program is called \"{name}\"")]
    UnknownProgram {
        /// The name.
        name: String,
    },
}

impl SettingError {
    /// Says what to do about it, if the message does not.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { nearest: Some(nearest), .. } => {
                Some(format!("did you mean \"{nearest}\"?"))
            }
            Self::UnknownProgram { name } => {
                let nearest = text::nearest(name, formats::providers().map(|(id, _)| id));
                Some(nearest.map_or_else(
                    || "write the short name of a program, such as \"cursor\"".to_owned(),
                    |nearest| format!("did you mean \"{nearest}\"?"),
                ))
            }
            Self::Unknown { nearest: None, .. }
            | Self::NoEffect { .. }
            | Self::InvalidValue { .. } => None,
        }
    }
}

/// Finds a setting by its key; the error has the most similar key.
pub fn find(key: &str) -> Result<&'static Setting, SettingError> {
    if let Some(setting) = KEYS.iter().find(|setting| setting.key == key) {
        return Ok(setting);
    }
    let name = key.to_owned();
    Err(match table::planned_part(key) {
        Some(part) => SettingError::NoEffect { key: name, part },
        None => SettingError::Unknown {
            key: name,
            nearest: text::nearest(key, KEYS.iter().map(|setting| setting.key)),
        },
    })
}

/// Makes the error for a value that is not valid.
fn value_error(setting: &'static Setting) -> SettingError {
    SettingError::InvalidValue { key: setting.key, wanted: setting.describe() }
}
