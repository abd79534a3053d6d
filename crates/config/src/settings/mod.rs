//! Wharf's own settings: `config.toml` in its home folder, restricted by the project's
//! `config.toml`.
//!
//! One table, `KEYS`, defines all keys; reading, checking, `config get` and `config set` use it. A
//! project is untrusted, so its file may only make settings stricter.

mod table;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::discover::{is_too_large, project_folders, relative_folder_problems};
use crate::document::{self, Node, Notation, Value};
use crate::edit::{self, Change};
use crate::env::Env;
use crate::formats;
use crate::problem::Problem;
use crate::store::{self, StoreError};
use crate::text;

pub use table::{KEYS, Setting, SettingKind};

/// The effective settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    values: BTreeMap<&'static str, SettingValue>,
    /// The programs whose project files a project's settings exclude. User files are still read.
    pub(crate) programs_disabled_by_project: Vec<String>,
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingValue {
    /// True or false.
    Bool(bool),
    /// A number.
    Number(u64),
    /// A word.
    Text(String),
    /// A list of words.
    List(Vec<String>),
}

impl Settings {
    /// Reads the settings of the person and of the project. Invalid ones are ignored and reported.
    pub fn load(env: &Env) -> (Self, Vec<Problem>) {
        Self::load_from(env, SettingsFiles::WithProject)
    }

    /// Reads the settings of these files.
    pub fn load_from(env: &Env, files: SettingsFiles) -> (Self, Vec<Problem>) {
        let defaults = KEYS.iter().map(|setting| (setting.key, setting.default_value()));
        let mut settings =
            Self { values: defaults.collect(), programs_disabled_by_project: Vec::new() };
        let mut problems = Vec::new();
        if let Some(path) = Self::path(env) {
            for (setting, value, _) in read(&path, &mut problems) {
                settings.values.insert(setting.key, value);
            }
        }
        // With projects switched off, their settings are not read, either.
        if files == SettingsFiles::WithProject && settings.is_on("discovery.project") {
            settings.read_project(env, &mut problems);
        }
        settings.read_variable(env, &mut problems);
        problems.extend(relative_folder_problems(env));
        (settings, problems)
    }

    fn read_project(&mut self, env: &Env, problems: &mut Vec<Problem>) {
        for folder in project_folders(env) {
            let path = folder.join(".wharf/config.toml");
            // The folder of the user's settings may be inside a project.
            if Self::path(env).as_ref() == Some(&path) {
                continue;
            }
            if is_too_large(&path) {
                let message = "too large for settings; not read";
                let problem = Problem::error("too-large", message).in_file(&path);
                problems.push(problem.hint("remove everything except settings"));
                continue;
            }
            for (setting, value, line) in read(&path, problems) {
                let at = |problem: Problem| problem.in_file(&path).on_line(line);
                self.tighten(setting, value, at, problems);
            }
        }
    }

    fn read_variable(&mut self, env: &Env, problems: &mut Vec<Problem>) {
        let name = "WHARF_STARTUP_TIMEOUT_MS";
        let Some(text) = env.nonempty_variable(name) else { return };
        if let Ok(limit) = text.trim().parse() {
            self.values.insert("startup.timeout_ms", SettingValue::Number(limit));
        } else {
            let message = format!("{name} must be a whole number; ignored");
            let problem = Problem::warning("wrong-type", message);
            problems.push(problem.hint("write milliseconds, such as 250"));
        }
    }

    /// Returns the path of the person's settings.
    pub fn path(env: &Env) -> Option<PathBuf> {
        env.wharf_home().map(|home| home.join("config.toml"))
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

    /// Applies a setting of a project, if it is stricter and affects only the project's own files.
    fn tighten(
        &mut self,
        setting: &Setting,
        value: SettingValue,
        at: impl Fn(Problem) -> Problem,
        problems: &mut Vec<Problem>,
    ) {
        let strict = setting.project_value.is_some_and(|strict| strict == value.to_string());
        match (&value, self.values.get_mut(setting.key)) {
            (SettingValue::List(more), Some(SettingValue::List(own)))
                if setting.project_may_add =>
            {
                let known = &mut self.programs_disabled_by_project;
                let is_new = |word: &&String| !own.contains(word) && !known.contains(word);
                let new: Vec<String> = more.iter().filter(is_new).cloned().collect();
                if !new.is_empty() {
                    let message = format!(
                        "this project's settings ignore the project's own {} files; your servers are unaffected",
                        new.join(", ")
                    );
                    let problem = Problem::warning(BY_PROJECT, message);
                    problems.push(at(problem.hint("remove the setting to see them here")));
                }
                known.extend(new);
            }
            (_, Some(own)) if strict && *own != value => {
                let message = format!("this project's settings set {} = {value}", setting.key);
                problems.push(at(Problem::warning(BY_PROJECT, message)
                    .hint("remove the setting if you do not want it here")));
                *own = value;
            }
            _ if strict => {}
            _ => problems.push(at(Problem::warning(
                "not-for-projects",
                format!("\"{}\" is ignored in a project's file", setting.key),
            )
            .hint("set it in your own config.toml instead"))),
        }
    }
}

/// The code of problems that report the effect of a project's settings.
pub(crate) const BY_PROJECT: &str = "project-settings";

/// Which settings files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFiles {
    /// The user file and the project's files.
    WithProject,
    /// The user file only.
    UserOnly,
}

/// Why a setting cannot be changed.
#[derive(Debug, thiserror::Error)]
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
    #[error("\"{key}\" has no effect: {part} does not exist yet")]
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
    /// The value is planned, but not supported yet.
    #[error("\"{key}\" cannot be \"{word}\" yet: Wharf does not support it")]
    UnsupportedValue {
        /// The key.
        key: &'static str,
        /// The value.
        word: &'static str,
        /// The values that are supported.
        wanted: String,
    },
    /// There is no home folder for the settings.
    #[error("there is no home folder to keep settings in")]
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

/// Changes a setting in the person's file and returns that file.
pub fn set(env: &Env, key: &str, text: &str) -> Result<PathBuf, SettingError> {
    let setting = find(key)?;
    let value = setting.parse(text).ok_or_else(|| value_error(setting, text))?;
    if let Some(problem) = unknown_programs(setting, &value).next() {
        let wanted = format!("names of programs; {}", problem.message);
        return Err(SettingError::InvalidValue { key: setting.key, wanted });
    }
    let home = env.wharf_home().ok_or(SettingError::NoHome)?;
    let _lock = store::WriteLock::acquire(&home.join("run"), store::LOCK_TIMEOUT)?;
    let path = home.join("config.toml");
    let before = store::read(&path)?.unwrap_or_default();
    let keys = setting.key.split('.').map(str::to_owned).collect();
    let change = Change::Set { path: keys, value: value.to_json() };
    let after = edit::apply(&before, Notation::Toml, &[change])
        .map_err(|source| SettingError::Edit { path: path.clone(), source })?;
    store::write(&path, &after)?;
    Ok(path)
}

/// Makes the error for a value that is not valid.
fn value_error(setting: &'static Setting, text: &str) -> SettingError {
    let (key, wanted) = (setting.key, setting.describe());
    match setting.planned_values.iter().find(|word| **word == text) {
        Some(word) => SettingError::UnsupportedValue { key, word, wanted },
        None => SettingError::InvalidValue { key, wanted },
    }
}

impl SettingValue {
    /// Returns the value for output.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Bool(truth) => (*truth).into(),
            Self::Number(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(list) => list.clone().into(),
        }
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(truth) => truth.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::List(list) => f.write_str(&list.join(",")),
        }
    }
}

/// Reads the valid settings of a file; everything else becomes a problem.
fn read(path: &Path, problems: &mut Vec<Problem>) -> Vec<(&'static Setting, SettingValue, u32)> {
    let text = match store::read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Vec::new(),
        Err(error) => {
            problems.push(error.as_problem());
            return Vec::new();
        }
    };
    let root = match document::parse(&text, Notation::Toml) {
        Ok(parsed) => parsed.root,
        Err(error) => {
            let message = format!("not valid TOML: {error} (column {})", error.column);
            let problem = Problem::error("syntax", message).in_file(path).on_line(error.line);
            problems.push(problem.hint("correct the line; until then the file is ignored"));
            return Vec::new();
        }
    };
    let mut flat = Vec::new();
    flatten("", &root, &mut flat);
    let mut known = Vec::new();
    for (key, node) in flat {
        match find(&key) {
            Ok(setting) => match setting.read_node(node) {
                Some(value) => {
                    problems.extend(
                        unknown_programs(setting, &value)
                            .map(|problem| problem.in_file(path).on_line(node.line)),
                    );
                    problems.extend(setting.lines_of_non_strings(node).into_iter().map(|line| {
                        let message = format!("\"{key}\" must be a list of words");
                        let problem = Problem::warning("wrong-type", message);
                        problem.in_file(path).on_line(line).hint("put each word in quotes")
                    }));
                    known.push((setting, value, node.line));
                }
                None => {
                    problems.push(value_problem(setting, node).in_file(path).on_line(node.line));
                }
            },
            Err(error) => {
                let code = match error {
                    SettingError::NoEffect { .. } => "setting-without-effect",
                    _ => "unknown-setting",
                };
                let mut problem = Problem::warning(code, error.to_string()).hint("remove it");
                if let SettingError::Unknown { nearest: Some(nearest), .. } = error {
                    problem = problem.hint(format!("did you mean \"{nearest}\"?"));
                }
                problems.push(problem.in_file(path).on_line(node.line));
            }
        }
    }
    known
}

/// Makes the problem for a value in a file that is not valid.
fn value_problem(setting: &'static Setting, node: &Node) -> Problem {
    match value_error(setting, node.as_str().unwrap_or_default()) {
        // Somebody relies on the planned value, so this is an error, not a warning.
        error @ SettingError::UnsupportedValue { .. } => {
            Problem::error("not-available", error.to_string())
                .hint(format!("write one of {}", setting.describe().trim_start_matches("one of ")))
        }
        error => Problem::warning("wrong-type", format!("{error}; ignored"))
            .hint("correct the value, or remove it"),
    }
}

/// Reports unknown programs in `discovery.disabled`.
fn unknown_programs(setting: &Setting, value: &SettingValue) -> impl Iterator<Item = Problem> {
    let names = match value {
        SettingValue::List(list) if setting.key == "discovery.disabled" => list.as_slice(),
        _ => &[],
    };
    let unknown = names.iter().filter(|name| formats::program(name).is_none());
    unknown.map(|name| {
        let nearest = text::nearest(name, formats::providers().map(|(id, _)| id));
        let hint = nearest.map_or(
            "write the short name of a program, such as \"cursor\"".to_owned(),
            |nearest| format!("did you mean \"{nearest}\"?"),
        );
        Problem::warning("unknown-program", format!("no program is called \"{name}\"")).hint(hint)
    })
}

/// Flattens nested tables into dotted keys.
fn flatten<'a>(prefix: &str, node: &'a Node, flat: &mut Vec<(String, &'a Node)>) {
    if let Value::Map(map) = &node.value {
        for (key, value) in map.iter() {
            let dot = if prefix.is_empty() { "" } else { "." };
            flatten(&format!("{prefix}{dot}{}", key.text), value, flat);
        }
    } else if !prefix.is_empty() {
        flat.push((prefix.to_owned(), node));
    }
}
