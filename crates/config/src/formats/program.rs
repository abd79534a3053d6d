//! The table of a program: its files, where the servers are in them, and how it reads an entry.

use crate::document::{Map, Node};
use crate::expand::Syntax;
use crate::server::{Definition, TransportKind};
use crate::source::{FilePrecedence, Level};

use super::entry_reader::EntryReader;
use super::file_reader::FileReader;
use crate::discover::Scan;

/// A program that keeps MCP servers in files.
pub(crate) struct Program {
    /// The short name, as in `discovery.disabled`.
    pub(crate) id: &'static str,
    /// The display name.
    pub(crate) name: &'static str,
    /// Higher wins.
    pub(crate) priority: u8,
    /// Its files, highest first.
    pub(crate) files: &'static [ConfigFile],
    /// How it reads an entry.
    pub(crate) dialect: Dialect,
    /// Whether project servers replace all user servers, instead of only those of the same name.
    pub(crate) project_replaces_user: bool,
    /// Whether other programs or stages read its documents again, so that they stay in the cache.
    pub(crate) keeps_documents: bool,
    /// Reads the fields that only this program has.
    pub(crate) read_extra_fields: fn(&Map, &mut EntryReader<'_>),
    /// How to write an entry for it, if servers can be exported to it.
    #[cfg(feature = "discovery")]
    pub(crate) export: Option<&'static super::ExportStyle>,
    /// Runs after all files are read; applies lists of disabled servers and state files.
    pub(crate) finish: fn(&mut Scan<'_>, &mut [Definition]),
}

impl Program {
    /// A program with the defaults: the usual priority and the standard dialect.
    pub(crate) const fn new(id: &'static str, name: &'static str) -> Self {
        Self {
            id,
            name,
            priority: 45,
            files: &[],
            dialect: Dialect::STANDARD,
            project_replaces_user: false,
            keeps_documents: false,
            read_extra_fields: |_, _| {},
            finish: |_, _| {},
            #[cfg(feature = "discovery")]
            export: None,
        }
    }
}

/// A file in which a program keeps servers.
pub(crate) struct ConfigFile {
    pub(crate) level: Level,
    pub(crate) precedence: FilePrecedence,
    pub(crate) template: PathTemplate,
    pub(crate) shape: FileShape,
    /// Other programs that also read it.
    pub(crate) also_read_by: &'static [&'static str],
}

/// A user file with the same path template on every system.
pub(crate) const fn user(place: &'static str) -> ConfigFile {
    user_on(place, place, place)
}

/// A user file with its path template for Linux, macOS and Windows; empty where it has none.
pub(crate) const fn user_on(
    linux: &'static str,
    macos: &'static str,
    windows: &'static str,
) -> ConfigFile {
    ConfigFile {
        level: Level::User,
        precedence: FilePrecedence::User,
        template: PathTemplate { linux, macos, windows },
        shape: FileShape::Servers(&["mcpServers"]),
        also_read_by: &[],
    }
}

/// A project file, relative to the project's folder.
pub(crate) const fn project(place: &'static str) -> ConfigFile {
    ConfigFile { level: Level::Project, precedence: FilePrecedence::Project, ..user(place) }
}

impl ConfigFile {
    /// Sets the keys that lead to the servers.
    pub(crate) const fn servers(self, keys: &'static [&'static str]) -> Self {
        self.with_shape(FileShape::Servers(keys))
    }

    /// Sets the function that reads the servers.
    pub(crate) const fn read_by(self, read: fn(&Node, &mut FileReader<'_>)) -> Self {
        self.with_shape(FileShape::Custom(read))
    }

    /// Accepts any of the usual keys, or the whole file as the map of servers.
    pub(crate) const fn any_key_or_root(self) -> Self {
        self.with_shape(FileShape::AnyKeyOrRoot)
    }

    /// Only reports that the file exists: it is a script or a database.
    pub(crate) const fn unsupported(self, text: &'static str) -> Self {
        self.with_shape(FileShape::Notice(text))
    }

    /// Makes it override the program's other files.
    pub(crate) const fn first(mut self) -> Self {
        self.precedence = FilePrecedence::First;
        self
    }

    /// Names other programs that also read it.
    pub(crate) const fn also_read_by(mut self, names: &'static [&'static str]) -> Self {
        self.also_read_by = names;
        self
    }

    const fn with_shape(mut self, shape: FileShape) -> Self {
        self.shape = shape;
        self
    }
}

/// The path of a file, by system. `discover/path_template.rs` has the syntax.
pub(crate) struct PathTemplate {
    pub(crate) linux: &'static str,
    pub(crate) macos: &'static str,
    pub(crate) windows: &'static str,
}

/// Where in a file the servers are.
pub(crate) enum FileShape {
    /// A map of servers under these keys.
    Servers(&'static [&'static str]),
    /// Under `mcpServers`, `servers` or `mcp_servers`, or the whole file.
    AnyKeyOrRoot,
    /// Not readable: reported with this text if the file exists.
    Notice(&'static str),
    /// Read by this function.
    Custom(fn(&Node, &mut FileReader<'_>)),
}

/// How a program reads an entry, where programs give the same field different meanings.
#[derive(Clone, Copy)]
pub(crate) struct Dialect {
    /// The placeholders that it replaces.
    pub(crate) syntax: Syntax,
    /// The unit of a number in `timeout`.
    pub(crate) unit: TimeUnit,
    /// Which timeout `timeout` sets.
    pub(crate) timeout_kind: TimeoutKind,
    /// The range to which `timeout` is clamped, in its own unit.
    pub(crate) timeout_range: Option<(f64, f64)>,
    /// The transport of a `url` without a `type`.
    pub(crate) url: TransportKind,
    /// Whether the program refuses a `url` without a `type`.
    pub(crate) needs_type: bool,
    /// Whether Wharf's own fields are read, including approvals.
    pub(crate) native: bool,
    /// Whether `enabled` and `timeout` may be strings.
    pub(crate) quoted_scalars: bool,
}

/// The unit of a timeout.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Milliseconds,
    Seconds,
}

/// Which timeout a field sets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeoutKind {
    Both,
    Connect,
    Call,
}

impl Dialect {
    /// `mcpServers` as most programs read it.
    pub(crate) const STANDARD: Self = Self {
        syntax: Syntax::BRACED,
        unit: TimeUnit::Milliseconds,
        timeout_kind: TimeoutKind::Both,
        timeout_range: None,
        url: TransportKind::Http,
        needs_type: false,
        native: false,
        quoted_scalars: false,
    };

    /// Wharf's own files: all fields are read, values are resolved when connecting.
    pub(crate) const NATIVE: Self = Self { native: true, ..Self::STANDARD }.with(Syntax::RESOLVED);

    /// Editors based on VS Code.
    pub(crate) const EDITOR: Self = Self::STANDARD.with(Syntax::ENV_COLON.union(Syntax::EDITOR));

    /// Adds placeholders.
    pub(crate) const fn with(mut self, syntax: Syntax) -> Self {
        self.syntax = self.syntax.union(syntax);
        self
    }

    /// Sets the unit of `timeout` to seconds.
    pub(crate) const fn in_seconds(mut self) -> Self {
        self.unit = TimeUnit::Seconds;
        self
    }
}

/// A variable whose value is the servers as JSON.
pub(crate) const fn variable(name: &'static str) -> ConfigFile {
    let file = user(name);
    ConfigFile { level: Level::Env, ..file }
        .first()
        .read_by(|root, reader| reader.read_servers_or_root(root))
}

/// A file that Wharf cannot read; only its existence is reported.
pub(crate) const fn notice_on(
    [linux, macos, windows]: [&'static str; 3],
    text: &'static str,
) -> ConfigFile {
    user_on(linux, macos, windows).unsupported(text)
}
