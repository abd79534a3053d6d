//! Reads the server definitions of one file.
//!
//! Wrong input becomes a problem with file and line, and the next entry is still read. The fields
//! of an entry are read in `entry_reader`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::discover::ReadBudget;
use crate::document::{Key, Map, Node};
use crate::env::Env;
use crate::problem::{Problem, ProblemText};
use crate::server::{Definition, ServerName};
use crate::source::{Level, Rank, Source};
use crate::store;

use super::entry_reader::EntryReader;
use super::program::{Dialect, FileShape, Program};

/// Longer names are reported: programs cannot display them, and most are accidents.
const MAX_NAME_LENGTH: usize = 256;

/// Keys that identify a server entry in a map without a key such as `mcpServers`.
const ENTRY_KEYS: [&str; 9] =
    ["command", "cmd", "url", "httpUrl", "serverUrl", "server_url", "baseUrl", "uri", "type"];

/// How many servers one file may define.
const MAX_SERVERS: usize = 20_000;

/// Reads one file; collects definitions and problems.
pub(crate) struct FileReader<'a> {
    pub(crate) env: &'a Env,
    pub(crate) program: &'static Program,
    pub(crate) dialect: Dialect,
    pub(crate) source: Arc<Source>,
    /// The project's folder, or the folder of the file.
    pub(crate) folder: Arc<PathBuf>,
    /// The folder of the plugin the file belongs to.
    pub(crate) plugin: Option<Arc<PathBuf>>,
    /// Prepended to every name, for plugins.
    pub(crate) name_prefix: String,
    pub(crate) rank: Rank,
    /// Whether the problem about too many servers is already reported.
    pub(crate) limit_is_reported: bool,
    /// Limits further files of a project; `None` for user files.
    pub(crate) budget: Option<ReadBudget>,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) problems: Vec<Problem>,
}

impl FileReader<'_> {
    /// Reads another file to which this one refers.
    pub(crate) fn read_further_file(&self, path: &Path) -> Result<Option<String>, Box<Problem>> {
        if let Some(budget) = &self.budget {
            budget.take(path)?;
        }
        store::read(path).map_err(|error| Box::new(error.as_problem()))
    }

    /// Reads a whole file.
    pub(crate) fn read_root(&mut self, root: &Node, shape: &FileShape) {
        // A file may be empty; a variable that is set may not.
        let is_file = self.source.level != Level::Env;
        if root.is_null() && is_file {
            return;
        }
        if root.as_map().is_none() {
            let what = if is_file { "the file" } else { "the variable" };
            let message = format!("{what} must hold an object, not {}", root.kind());
            self.error("not-an-object", root.line, (message, "put everything into { … }"));
            return;
        }
        match shape {
            FileShape::Servers(keys) => self.read_servers_under(root, keys),
            FileShape::AnyKeyOrRoot => self.read_any_key_or_root(root),
            FileShape::Custom(read) => read(root, self),
            FileShape::Notice(_) => {}
        }
    }

    /// Reads the map under these keys, if it is there.
    pub(crate) fn read_servers_under(&mut self, root: &Node, keys: &[&str]) {
        if let Some(node) = root.pointer(keys) {
            self.read_servers(node, &keys.join("."));
            return;
        }
        // Other keys are tried only in a file for MCP: in an editor's settings, `servers` may be
        // something else.
        let is_dedicated =
            self.source.path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains("mcp"));
        let other = ["mcpServers", "servers", "mcp_servers"]
            .into_iter()
            .find(|key| root.get(key).is_some_and(|node| node.as_map().is_some()));
        if let (true, Some(other), Some(node)) =
            (is_dedicated, other, other.and_then(|key| root.get(key)))
        {
            let wanted = keys.join(".");
            let name = self.program.name;
            self.problems.push(
                Problem::warning(
                    "wrong-key",
                    format!(
                        "{name} looks for \"{wanted}\" here, not \"{other}\"; Wharf reads it anyway"
                    ),
                )
                .in_file(&self.source.path)
                .on_line(node.line)
                .hint(format!("rename \"{other}\" to \"{wanted}\"")),
            );
            self.read_servers(node, other);
        }
    }

    /// Reads a file that several programs share: the whole file may be the map of servers.
    fn read_any_key_or_root(&mut self, root: &Node) {
        for key in ["mcpServers", "servers", "mcp_servers"] {
            if let Some(node) = root.get(key) {
                self.read_servers(node, key);
                return;
            }
        }
        let is_entry = |node: &Node| ENTRY_KEYS.iter().any(|key| node.get(key).is_some());
        // A variable contains only servers, even if they are malformed.
        let is_variable = self.source.level == Level::Env;
        let is_ours = |map: &&Map| is_variable || map.iter().any(|(_, node)| is_entry(node));
        if let Some(map) = root.as_map().filter(is_ours) {
            for (key, node) in map.iter().filter(|(key, _)| !key.text.starts_with('$')) {
                self.read_server(key, node);
            }
        }
    }

    /// Reads a document that contains only servers, with or without a key around the map.
    pub(crate) fn read_servers_or_root(&mut self, root: &Node) {
        let servers = root.get("mcpServers").or_else(|| root.get("mcp_servers")).unwrap_or(root);
        self.read_servers(servers, "mcpServers");
    }

    /// Reads a map of servers by name.
    pub(crate) fn read_servers(&mut self, node: &Node, called: &str) {
        if let Some(map) = node.as_map() {
            for (key, entry) in map.iter() {
                self.read_server(key, entry);
            }
            return;
        }
        let message =
            format!("\"{called}\" must be an object of servers by name, not {}", node.kind());
        let hint = format!("write \"{called}\": {{ \"name\": {{ … }} }}");
        let problem = Problem::error("not-an-object", message).in_file(&self.source.path);
        self.problems.push(problem.on_line(node.line).hint(hint));
    }

    /// Reads a list of servers, each with a `name`.
    pub(crate) fn read_server_list(&mut self, node: &Node, called: &str) {
        let Some(list) = node.as_list() else {
            let message = format!("\"{called}\" must be a list of servers, not {}", node.kind());
            self.error("not-a-list", node.line, (message, "give each server its own list item"));
            return;
        };
        for (index, entry) in list.iter().enumerate() {
            match entry.get("name").and_then(Node::as_str) {
                Some(name) => {
                    let key = Key { text: name.to_owned(), line: entry.line };
                    self.read_server(&key, entry);
                }
                None => self.error(
                    "no-name",
                    entry.line,
                    (format!("\"{called}[{index}]\" has no \"name\""), "add a \"name\""),
                ),
            }
        }
    }

    /// Reads one entry.
    pub(crate) fn read_server(&mut self, key: &Key, node: &Node) {
        if self.definitions.len() >= MAX_SERVERS {
            if !self.limit_is_reported {
                self.limit_is_reported = true;
                let message = format!("more than {MAX_SERVERS} servers; the rest is not read");
                self.error(
                    "too-many",
                    key.line,
                    (message, "split the file, or remove what is not used"),
                );
            }
            return;
        }
        let name = format!("{}{}", self.name_prefix, key.text);
        let mut entry = EntryReader::new(self, name, key.line);
        match node.as_map() {
            Some(map) => entry.read_fields(map),
            None => entry.error(
                "not-an-object",
                node.line,
                "",
                (
                    format!("the entry must be an object, not {}", node.kind()),
                    "write { \"command\": … } or { \"url\": … }, or remove the entry",
                ),
            ),
        }
        entry.check_name();
        let (name, fields, off, hints, problems) = entry.into_parts();
        let mut rank = self.rank.clone();
        rank.entry = self.definitions.len();
        self.definitions.push(Definition {
            name: ServerName::new(name),
            source: Arc::clone(&self.source),
            line: key.line,
            rank,
            folder: Arc::clone(&self.folder),
            plugin: self.plugin.clone(),
            fields: Box::new(fields),
            off,
            replaced_by: None,
            hints,
            raw: (self.source.level == Level::Project).then(|| node.clone()),
            problems,
        });
    }

    /// Adds an error about the file.
    pub(crate) fn error(&mut self, code: &'static str, line: u32, text: impl Into<ProblemText>) {
        let ProblemText { message, hint } = text.into();
        let problem = Problem::error(code, message).in_file(&self.source.path);
        self.problems.push(problem.on_line(line).hint(hint));
    }

    /// Adds a warning about something in the file that Wharf cannot read.
    pub(crate) fn unsupported(&mut self, line: u32, message: impl Into<String>) {
        self.problems.push(
            Problem::warning("unsupported", message).in_file(&self.source.path).on_line(line),
        );
    }
}

impl EntryReader<'_> {
    /// Reports names that other programs may not accept. They are not changed.
    fn check_name(&mut self) {
        let name = self.name.as_str();
        let (message, hint) = if name.is_empty() {
            let text = ("the server has no name".to_owned(), "give it a name");
            self.error("empty-name", self.line, "", text);
            return;
        } else if name.chars().count() > MAX_NAME_LENGTH {
            ("the name is very long", "use at most 100 characters")
        } else if name.chars().any(crate::text::is_unsafe) {
            ("the name has control characters", "use letters, numbers, dash, underscore and dot")
        } else if name.contains(char::is_whitespace) {
            (
                "the name has spaces, which some programs and tool names do not allow",
                "use a dash or an underscore instead",
            )
        } else {
            return;
        };
        let line = self.line;
        self.problem(Problem::warning("unusual-name", message).on_line(line).hint(hint));
    }
}
