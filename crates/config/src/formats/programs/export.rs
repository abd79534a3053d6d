//! Writes a server entry in the format of another program, for exporting servers to it.

use crate::edit::{JsonObject, JsonValue};
use crate::manage::{PortableDefinition, pairs};
use crate::server::TransportKind;

use super::program::TimeUnit;

/// The field names and conventions of a program.
pub(crate) struct ExportStyle {
    /// The value of `type` for stdio, http and sse; `None` if there is no such field.
    pub(crate) type_words: Option<[&'static str; 3]>,
    /// The key of the URL: http, sse.
    pub(crate) url: [&'static str; 2],
    /// The key of the variables.
    pub(crate) env: &'static str,
    /// The key of the headers.
    pub(crate) headers: &'static str,
    /// Whether the command is one list with its arguments.
    pub(crate) command_is_list: bool,
    /// Whether an entry may have a working folder.
    pub(crate) has_cwd: bool,
    /// The keys and unit of the timeouts: both, connecting, calls.
    pub(crate) limits: ([Option<&'static str>; 3], TimeUnit),
    /// The keys of the tool filters: included, excluded.
    pub(crate) filters: [Option<&'static str>; 2],
    /// Returns why a transport cannot be written; `None` if it can.
    pub(crate) refuses: fn(TransportKind) -> Option<&'static str>,
    /// Writes a placeholder for a variable with its default, if that is possible.
    pub(crate) variable: fn(&str, Option<&str>) -> Option<String>,
    /// Makes the last changes to the entry.
    pub(crate) adjust: fn(&mut JsonObject) -> Result<(), String>,
    /// The keys that lead to the servers.
    pub(crate) keys: &'static [&'static str],
    /// The project file to write, if it is not the first one of the program.
    pub(crate) project_file: Option<&'static str>,
}

impl ExportStyle {
    /// `mcpServers` as most programs read it.
    pub(crate) const STANDARD: Self = Self {
        type_words: None,
        url: ["url", "url"],
        env: "env",
        headers: "headers",
        command_is_list: false,
        has_cwd: false,
        limits: ([None; 3], TimeUnit::Milliseconds),
        filters: [None; 2],
        refuses: |_| None,
        variable: |_, _| None,
        adjust: |_| Ok(()),
        keys: &["mcpServers"],
        project_file: None,
    };

    /// Writes an entry, or returns why that is not possible.
    pub(crate) fn write_entry(&self, portable: &PortableDefinition) -> Result<JsonValue, String> {
        if let Some(why) = (self.refuses)(portable.kind) {
            return Err(why.to_owned());
        }
        let mut entry = JsonObject::new();
        let position = match portable.kind {
            TransportKind::Stdio => 0,
            TransportKind::Http => 1,
            TransportKind::Sse => 2,
            TransportKind::Custom(_) => return Err("it exists only in this program".to_owned()),
        };
        if let Some(type_words) = self.type_words {
            entry.insert("type".to_owned(), type_words[position]);
        }
        match portable.kind {
            TransportKind::Stdio => self.write_launch(portable, &mut entry)?,
            _ => self.write_endpoint(portable, &mut entry),
        }
        self.write_limits(portable, &mut entry);
        if let (Some(key), Some(tools)) = (self.filters[0], &portable.include_tools) {
            entry.insert(key.to_owned(), tools.clone());
        }
        if let (Some(key), false) = (self.filters[1], portable.exclude_tools.is_empty()) {
            entry.insert(key.to_owned(), portable.exclude_tools.clone());
        }
        (self.adjust)(&mut entry)?;
        Ok(JsonValue::Object(entry))
    }

    fn write_launch(
        &self,
        portable: &PortableDefinition,
        entry: &mut JsonObject,
    ) -> Result<(), String> {
        let command = portable.command.clone().unwrap_or_default();
        if self.command_is_list {
            let words = std::iter::once(&command).chain(&portable.args);
            let words: Vec<&str> = words.map(String::as_str).collect();
            entry.insert("command".to_owned(), words);
        } else {
            entry.insert("command".to_owned(), command);
            if !portable.args.is_empty() {
                entry.insert("args".to_owned(), portable.args.clone());
            }
        }
        let mut env = portable.env.clone();
        // A variable passed by name is written as a placeholder for that variable.
        for name in &portable.pass_env {
            let value = (self.variable)(name, None).ok_or_else(|| {
                format!("it gets the variable {name} by name, which cannot be written there")
            })?;
            env.push((name.clone(), value));
        }
        if !env.is_empty() {
            entry.insert(self.env.to_owned(), pairs(&env));
        }
        match &portable.cwd {
            Some(cwd) if self.has_cwd => {
                entry.insert("cwd".to_owned(), cwd.as_str());
            }
            Some(_) => {
                return Err("it has a working folder, which cannot be written there".to_owned());
            }
            None => {}
        }
        Ok(())
    }

    fn write_endpoint(&self, portable: &PortableDefinition, entry: &mut JsonObject) {
        let key = self.url[usize::from(portable.kind == TransportKind::Sse)];
        entry.insert(key.to_owned(), portable.url.clone().unwrap_or_default());
        if !portable.headers.is_empty() {
            entry.insert(self.headers.to_owned(), pairs(&portable.headers));
        }
    }

    fn write_limits(&self, portable: &PortableDefinition, entry: &mut JsonObject) {
        let (keys, unit) = self.limits;
        let limits = portable.timeouts;
        for (key, limit) in keys.into_iter().zip([limits.both, limits.connect, limits.call]) {
            if let (Some(key), Some(milliseconds)) = (key, limit) {
                let number: JsonValue = match unit {
                    TimeUnit::Milliseconds => milliseconds.into(),
                    TimeUnit::Seconds if milliseconds % 1_000 == 0 => (milliseconds / 1_000).into(),
                    TimeUnit::Seconds => {
                        std::time::Duration::from_millis(milliseconds).as_secs_f64().into()
                    }
                };
                entry.insert(key.to_owned(), number);
            }
        }
    }
}

/// Writes `${VAR}` and `${VAR:-default}`.
#[expect(clippy::unnecessary_wraps, reason = "other programs cannot write every variable")]
pub(crate) fn braced_variable(name: &str, default: Option<&str>) -> Option<String> {
    Some(match default {
        Some(default) => format!("${{{name}:-{default}}}"),
        None => format!("${{{name}}}"),
    })
}

/// Writes `${env:VAR}`, which has no defaults.
pub(crate) fn env_colon_variable(name: &str, default: Option<&str>) -> Option<String> {
    default.is_none().then(|| format!("${{env:{name}}}"))
}
