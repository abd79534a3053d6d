//! What is known of a program: its files, and how it reads them.

use crate::document::{Map, Node};
use crate::expand::Syntax;
use crate::server::{Definition, TransportKind};
use crate::source::{FilePrecedence, Level};

use super::entry_reader::EntryReader;
use super::export::ExportStyle;
use super::file_reader::FileReader;
use crate::discover::Scan;

/// A program that keeps MCP servers in files.
pub(crate) struct Program {
    /// The short name, as in `discovery.disabled`.
    pub(crate) id: &'static str,
    /// The name as people know it.
    pub(crate) name: &'static str,
    /// Higher wins.
    pub(crate) priority: u8,
    /// Its files, highest first.
    pub(crate) files: &'static [ConfigFile],
    /// How it reads an entry.
    pub(crate) dialect: Dialect,
    /// Whether the servers of a project replace the person's, and do not only come first.
    pub(crate) project_replaces_user: bool,
    /// Whether others look at its files after it is done with them.
    pub(crate) keeps_documents: bool,
    /// Reads the fields of an entry that only this program has.
    pub(crate) read_extra_fields: fn(&Map, &mut EntryReader<'_>),
    /// How it wants entries written, if servers can be copied to it.
    pub(crate) export: Option<&'static ExportStyle>,
    /// Looks at everything once its files are read: lists of switched-off servers, state files.
    pub(crate) finish: fn(&mut Scan<'_>, &mut [Definition]),
}

impl Program {
    /// A program without habits of its own, of the priority that most have.
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
    /// Other programs that read it too.
    pub(crate) also_read_by: &'static [&'static str],
}

/// A file of the person's, at the same place on every system.
pub(crate) const fn user(place: &'static str) -> ConfigFile {
    user_on(place, place, place)
}

/// A file of the person's, with its place on Linux, macOS and Windows; empty where it has none.
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

/// A file of a project, relative to its folder.
pub(crate) const fn project(place: &'static str) -> ConfigFile {
    ConfigFile { level: Level::Project, precedence: FilePrecedence::Project, ..user(place) }
}

impl ConfigFile {
    /// The servers are under these keys.
    pub(crate) const fn servers(self, keys: &'static [&'static str]) -> Self {
        self.with_shape(FileShape::Servers(keys))
    }

    /// The servers are found by this function.
    pub(crate) const fn read_by(self, read: fn(&Node, &mut FileReader<'_>)) -> Self {
        self.with_shape(FileShape::Custom(read))
    }

    /// The servers may also be the whole file, as in files that many programs share.
    pub(crate) const fn any_key_or_root(self) -> Self {
        self.with_shape(FileShape::AnyKeyOrRoot)
    }

    /// It is a script or a database: only its presence is told.
    pub(crate) const fn out_of_reach(self, text: &'static str) -> Self {
        self.with_shape(FileShape::Notice(text))
    }

    /// It overrides the program's other files.
    pub(crate) const fn first(mut self) -> Self {
        self.precedence = FilePrecedence::First;
        self
    }

    /// These programs read it too.
    pub(crate) const fn also_read_by(mut self, names: &'static [&'static str]) -> Self {
        self.also_read_by = names;
        self
    }

    const fn with_shape(mut self, shape: FileShape) -> Self {
        self.shape = shape;
        self
    }
}

/// Where a file lies, by system. See `discover/path_template.rs` for what may stand in it.
pub(crate) struct PathTemplate {
    pub(crate) linux: &'static str,
    pub(crate) macos: &'static str,
    pub(crate) windows: &'static str,
}

/// Where in a file the servers are.
pub(crate) enum FileShape {
    /// A map under these keys.
    Servers(&'static [&'static str]),
    /// Under `mcpServers`, `servers` or `mcp_servers`, or the whole file.
    AnyKeyOrRoot,
    /// Out of reach: say so where the file is there.
    Notice(&'static str),
    /// Anything else.
    Custom(fn(&Node, &mut FileReader<'_>)),
}

/// How a program reads an entry, where programs differ over the same words.
#[derive(Clone, Copy)]
pub(crate) struct Dialect {
    /// Its placeholders.
    pub(crate) syntax: Syntax,
    /// What a number in `timeout` counts.
    pub(crate) unit: TimeUnit,
    /// What `timeout` limits.
    pub(crate) timeout_kind: TimeoutKind,
    /// The range that `timeout` is kept in, in its own unit.
    pub(crate) timeout_range: Option<(f64, f64)>,
    /// What `url` means without a `type`.
    pub(crate) url: TransportKind,
    /// Whether the program refuses a `url` without a `type`.
    pub(crate) needs_type: bool,
    /// Whether Wharf's own fields count, approvals included.
    pub(crate) native: bool,
    /// Whether `enabled` and `timeout` may be strings.
    pub(crate) quoted_scalars: bool,
}

/// What a number counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Milliseconds,
    Seconds,
}

/// Which limit is meant.
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

    /// Wharf's own files: all fields count, values are resolved when connecting.
    pub(crate) const NATIVE: Self = Self { native: true, ..Self::STANDARD }.with(Syntax::RESOLVED);

    /// The editors that came from VS Code.
    pub(crate) const EDITOR: Self = Self::STANDARD.with(Syntax::ENV_COLON.union(Syntax::EDITOR));

    /// Adds placeholders.
    pub(crate) const fn with(mut self, syntax: Syntax) -> Self {
        self.syntax = self.syntax.union(syntax);
        self
    }

    /// Counts `timeout` in seconds.
    pub(crate) const fn in_seconds(mut self) -> Self {
        self.unit = TimeUnit::Seconds;
        self
    }
}

/// A variable that holds the servers themselves, as JSON.
pub(crate) const fn variable(name: &'static str) -> ConfigFile {
    let file = user(name);
    ConfigFile { level: Level::Env, ..file }
        .first()
        .read_by(|root, reader| reader.read_servers_or_root(root))
}

/// A file that Wharf can see but not read: its presence is a notice.
pub(crate) const fn notice_on(
    [linux, macos, windows]: [&'static str; 3],
    text: &'static str,
) -> ConfigFile {
    user_on(linux, macos, windows).out_of_reach(text)
}
