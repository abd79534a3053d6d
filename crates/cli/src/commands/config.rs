//! `wharf config get|set`: Wharf's own settings.

use clap::{Args, Subcommand};
use serde::Serialize;
use wharf_config::settings::{self, Settings, SettingsFileError};
use wharf_config::text::clean;

use super::{Exit, Failure, Invocation};
use crate::ui::{phrase, print_json, style};

/// Show or change a setting of Wharf itself
///
/// Settings are kept in config.toml in Wharf's home (~/.wharf, or `WHARF_HOME`). A project's
/// .wharf/config.toml can only make some of them stricter. `get` shows the values that apply in
/// this folder.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf config get
  wharf config get discovery.disabled
  wharf config set discovery.disabled cursor,zed
  wharf config set discovery.duplicates keep")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    action: ConfigAction,
}

#[derive(Debug, Subcommand)]
enum ConfigAction {
    /// Show one setting, or all of them
    Get {
        /// The setting, such as discovery.project
        key: Option<String>,
    },
    /// Change a setting
    Set {
        /// The setting, such as discovery.project
        key: String,
        /// The new value; separate the items of a list by commas
        value: String,
    },
}

#[derive(Serialize)]
struct SettingChangeJson<'a> {
    ok: bool,
    key: &'a str,
    path: String,
    message: String,
}

/// Shows or changes settings.
pub(crate) fn run(args: &ConfigArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    match &args.action {
        ConfigAction::Get { key } => get(key.as_deref(), invocation),
        ConfigAction::Set { key, value } => set(key, value, invocation),
    }
}

fn get(key: Option<&str>, invocation: &Invocation) -> Result<Exit, Failure> {
    // Report an unknown key before any file is read.
    let wanted = key.map(settings::find).transpose().map_err(SettingsFileError::from)?;
    let (ui, env) = (&invocation.ui, &invocation.env);
    let (settings, problems) = Settings::load_from(env, invocation.settings_files());
    let values = settings.iter();
    let values = values.filter(|(key, _)| wanted.is_none_or(|wanted| wanted.key == *key));
    if ui.json {
        let object: serde_json::Map<String, serde_json::Value> =
            values.map(|(key, value)| (key.to_owned(), value.to_json())).collect();
        print_json(&object)?;
    } else if wanted.is_some() {
        ui.data(&values.map(|(_, value)| clean(&value.to_string()) + "\n").collect::<String>())?;
    } else {
        let line = |key: &str, value: &settings::SettingValue| {
            let line = format!("{} = {}", style::strong(key), clean(&value.to_string()));
            line.trim_end().to_owned() + "\n"
        };
        ui.data(&values.map(|(key, value)| line(key, value)).collect::<String>())?;
    }
    ui.problems(&problems, env);
    Ok(Exit::Success)
}

fn set(key: &str, value: &str, invocation: &Invocation) -> Result<Exit, Failure> {
    let (ui, env) = (&invocation.ui, &invocation.env);
    let path = settings::set(env, key, value)?;
    let message = format!("{} = {} in {}", clean(key), clean(value), phrase::path(&path, env));
    if ui.json {
        let path = path.to_string_lossy().into_owned();
        print_json(&SettingChangeJson { ok: true, key, path, message })?;
    } else {
        ui.sentences(&format!("{message}\n"))?;
    }
    Ok(Exit::Success)
}
