//! The files of the settings: `config.toml` in Wharf's home folder, restricted by the project's
//! `config.toml`.
//!
//! A project is untrusted, so its file may only make settings stricter. `set` changes a file.

use std::path::{Path, PathBuf};

use crate::discover::{is_too_large, project_folders, relative_folder_problems};
use crate::document::{self, Node, Notation, Value};
use crate::env::Env;
use crate::formats;
use crate::problem::Problem;
use crate::store;

use super::{Setting, SettingError, SettingKind, SettingValue, Settings, find, value_error};

impl Settings {
    /// Reads the settings of the person and of the project. Invalid ones are ignored and reported.
    pub fn load(env: &Env) -> (Self, Vec<Problem>) {
        Self::load_from(env, SettingsFiles::WithProject)
    }

    /// Reads the settings of these files.
    pub fn load_from(env: &Env, files: SettingsFiles) -> (Self, Vec<Problem>) {
        let mut settings = Self::default();
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
                        report_programs(setting, &value)
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
                    problems.push(value_problem(setting).in_file(path).on_line(node.line));
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
fn value_problem(setting: &'static Setting) -> Problem {
    Problem::warning("wrong-type", format!("{}; ignored", value_error(setting)))
        .hint("correct the value, or remove it")
}

impl Setting {
    /// Reads the typed value of a file. In a list, items that are not strings are skipped.
    fn read_node(&self, node: &Node) -> Option<SettingValue> {
        match (&node.value, self.kind) {
            (Value::Bool(truth), SettingKind::Bool) => Some(SettingValue::Bool(*truth)),
            (Value::Number(digits), SettingKind::Number) => self.parse(&digits.replace('_', "")),
            (Value::String(text), SettingKind::Word(_)) => self.parse(text),
            // One mistake in a list of exclusions must not include what is excluded.
            (Value::String(text), SettingKind::List) => {
                Some(SettingValue::List(vec![text.clone()]))
            }
            (Value::List(list), SettingKind::List) => {
                let words = list.iter().filter_map(Node::as_str);
                Some(SettingValue::List(words.map(str::to_owned).collect()))
            }
            _ => None,
        }
    }

    /// Returns the lines of list items that are not strings, or the line of a value that is not a
    /// list.
    fn lines_of_non_strings(&self, node: &Node) -> Vec<u32> {
        match (&node.value, self.kind) {
            (Value::List(list), SettingKind::List) => {
                let wrong = list.iter().filter(|item| item.as_str().is_none());
                wrong.map(|item| item.line).collect()
            }
            (Value::String(_), SettingKind::List) => vec![node.line],
            _ => Vec::new(),
        }
    }
}

/// Fails if `discovery.disabled` names an unknown program.
pub(super) fn check_programs(
    setting: &'static Setting,
    value: &SettingValue,
) -> Result<(), SettingError> {
    match unknown_programs(setting, value).next() {
        Some(name) => Err(SettingError::UnknownProgram { name: name.to_owned() }),
        None => Ok(()),
    }
}

/// Reports unknown programs in `discovery.disabled`.
fn report_programs(setting: &Setting, value: &SettingValue) -> impl Iterator<Item = Problem> {
    unknown_programs(setting, value).map(|name| {
        let error = SettingError::UnknownProgram { name: name.to_owned() };
        let problem = Problem::warning("unknown-program", error.to_string());
        problem.hint(error.hint().unwrap_or_default())
    })
}

/// Returns the names in `discovery.disabled` that no program has.
fn unknown_programs<'a>(
    setting: &Setting,
    value: &'a SettingValue,
) -> impl Iterator<Item = &'a str> {
    let names = match value {
        SettingValue::List(list) if setting.key == "discovery.disabled" => list.as_slice(),
        _ => &[],
    };
    // Without the feature, other programs exist but their names are not compiled in.
    let is_known = |name: &str| !cfg!(feature = "discovery") || formats::program(name).is_some();
    names.iter().map(String::as_str).filter(move |name| !is_known(name))
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
