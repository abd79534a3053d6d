//! The source of a definition, and the precedence of definitions.

use std::cmp::Reverse;
use std::path::PathBuf;

use serde::Serialize;

/// Where servers are defined: a file or variable of a program, or the embedding program itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The short name of the program, as in `discovery.disabled`.
    pub provider: &'static str,
    /// The display name of the program.
    pub provider_name: &'static str,
    /// Who the file belongs to.
    pub level: Level,
    /// The file; at the level `env`, the name of the variable; empty at the level `program`.
    #[serde(serialize_with = "serialize_path", skip_serializing_if = "is_empty")]
    pub path: PathBuf,
    /// Other programs that read the same file.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub also_read_by: &'static [&'static str],
}

/// Who defines a server; this decides whether its definitions need trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The embedding program itself, in code.
    Program,
    /// A variable that the person set for this run.
    Env,
    /// A file of a project, such as a cloned repository; needs trust.
    Project,
    /// A file of the person.
    User,
    /// Wharf's built-in defaults.
    Builtin,
}

impl Level {
    /// Returns the word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Env => "env",
            Self::Project => "project",
            Self::User => "user",
            Self::Builtin => "builtin",
        }
    }
}

/// The precedence of a definition; the smallest rank wins the name. Fields are compared in order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// The priority of the program.
    pub priority: Reverse<u8>,
    /// The position of the program among those of the same priority.
    pub program: usize,
    /// The precedence of the file within its program: overriding, then project, then user.
    pub precedence: FilePrecedence,
    /// For project files: how many folders above the working folder.
    pub distance: usize,
    /// The position of the file in the program's list.
    pub file: usize,
    /// The position of the file among those that one pattern matches.
    pub found: usize,
    /// The position of the entry in the file.
    pub entry: usize,
}

impl Rank {
    /// Returns the rank of the embedding program, which wins over every file.
    pub(crate) fn of_program() -> Self {
        Self {
            priority: Reverse(u8::MAX),
            program: 0,
            precedence: FilePrecedence::First,
            distance: 0,
            file: 0,
            found: 0,
            entry: 0,
        }
    }
}

/// The precedence of a file among the files of its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilePrecedence {
    /// Overrides the program's other files.
    First,
    /// A project file.
    Project,
    /// A user file.
    User,
}

fn is_empty(path: &std::path::Path) -> bool {
    path.as_os_str().is_empty()
}

/// Serializes a path as text; bytes that are not valid UTF-8 are replaced.
pub(crate) fn serialize_path<S: serde::Serializer>(
    path: &std::path::Path,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}
