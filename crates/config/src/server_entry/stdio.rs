//! A server that is a program with messages on its stdin and stdout.

use std::path::PathBuf;

use crate::problem::Problem;
use crate::secret::Secret;
use crate::server::EntryFields;

use super::{ServerEntry, TypedEntry, literal, set};

/// A server that is started as a child process.
///
/// The program is searched in the absolute folders of the variable `PATH` of the
/// [`Env`](crate::Env), or is a path. It sees a short list of variables such as `PATH` and `HOME`,
/// and those that the entry sets or passes.
///
/// ```
/// use wharf_config::Stdio;
///
/// let time = Stdio::new("uvx").arg("mcp-server-time").pass_env(["TZ"]).cwd("/srv/time");
/// ```
pub type Stdio = TypedEntry<StdioKind>;

/// Marks an entry of a program to start.
#[derive(Debug)]
pub enum StdioKind {}

impl Stdio {
    /// Defines a server by the program to start.
    pub fn new(program: impl Into<String>) -> Self {
        Self::with_fields(EntryFields {
            kind: Some("stdio".to_owned()),
            command: Some(literal(program)),
            ..EntryFields::default()
        })
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        self.fields.args.push(literal(argument));
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: Into<String>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.fields.args.extend(arguments.into_iter().map(literal));
        self
    }

    /// Sets a variable of the program.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        set(&mut self.fields.env, name.into(), &value.into(), |one, other| one == other);
        self
    }

    /// Sets the folder to start it in; a relative one starts at the working folder of the
    /// [`Env`](crate::Env). Without it, that working folder is used.
    #[must_use]
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Ok(folder) = folder.into().into_os_string().into_string() {
            self.fields.cwd = Some(literal(folder));
        } else {
            let problem = Problem::error("invalid", "\"cwd\" is not valid Unicode");
            let hint = "use a folder whose path is valid Unicode";
            self.problems.push(problem.of_field("cwd").hint(hint));
        }
        self
    }

    /// Lets the program see all variables of the [`Env`](crate::Env).
    #[must_use]
    pub fn inherit_env(mut self) -> Self {
        self.fields.policy.inherit_env = true;
        self
    }

    /// Lets the program see these variables of the [`Env`](crate::Env), too.
    #[must_use]
    pub fn pass_env<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.fields.policy.pass_env.extend(names.into_iter().map(Into::into));
        self
    }
}

impl From<Stdio> for ServerEntry {
    fn from(entry: Stdio) -> Self {
        entry.erase()
    }
}
