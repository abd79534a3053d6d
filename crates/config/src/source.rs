//! Where a definition comes from, and how high it stands.

use std::cmp::Reverse;
use std::path::PathBuf;

use serde::Serialize;

/// A file (or variable) of a program in which servers are defined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The short name of the program, as in `discovery.disabled`.
    pub provider: &'static str,
    /// The name of the program as people know it.
    pub provider_name: &'static str,
    /// Whose file it is.
    pub level: Level,
    /// The file; for the level `env` the name of the variable.
    #[serde(serialize_with = "serialize_path")]
    pub path: PathBuf,
    /// Other programs that read the same file.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub also_read_by: &'static [&'static str],
}

/// Whose file it is; decides whether it is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A variable that the person set for this run.
    Env,
    /// Came with a folder, such as a cloned repository; needs trust.
    Project,
    /// The person's own.
    User,
    /// Wharf's own defaults.
    Builtin,
}

impl Level {
    /// The word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::Project => "project",
            Self::User => "user",
            Self::Builtin => "builtin",
        }
    }
}

/// How high a definition stands; the smallest wins its name. The order of the fields is the rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// The priority of the program.
    pub priority: Reverse<u8>,
    /// The place of the program among those of the same priority.
    pub program: usize,
    /// Inside a program: what overrides all, then project, then user.
    pub precedence: FilePrecedence,
    /// For project files: how many folders above the working folder.
    pub distance: usize,
    /// The place of the file in the program's list.
    pub file: usize,
    /// For a place that can match many files: which of them.
    pub found: usize,
    /// The place in the file.
    pub entry: usize,
}

/// Which of one program's own files come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilePrecedence {
    /// Overrides the program's other files, whoever owns it.
    First,
    /// A project file.
    Project,
    /// A user file.
    User,
}

/// Writes a path as text; what is no text in it is replaced.
pub(crate) fn serialize_path<S: serde::Serializer>(
    path: &std::path::Path,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}
