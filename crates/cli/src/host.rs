//! The door to the machine: arguments, variables, folders, and what the streams are.
//!
//! Read once, here and nowhere else; everything after works with plain values.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use wharf_config::{Env, Platform};

/// What this run finds itself in.
#[derive(Debug)]
pub(crate) struct Host {
    /// The person's surroundings.
    pub(crate) env: Env,
    /// What the streams are connected to.
    pub(crate) terminal: Terminal,
}

/// Which streams are a terminal, and how wide it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    /// Somebody can type.
    pub(crate) stdin: bool,
    /// Somebody reads the data.
    pub(crate) stdout: bool,
    /// Somebody reads the messages.
    pub(crate) stderr: bool,
    /// How many columns a terminal has.
    pub(crate) columns: usize,
}

/// Returns the words of the command line.
pub(crate) fn arguments() -> Vec<OsString> {
    env::args_os().collect()
}

/// Returns the streams for a verb that speaks a protocol on them. Needs a Tokio runtime.
pub(crate) fn stdio() -> (tokio::io::Stdin, tokio::io::Stdout) {
    (tokio::io::stdin(), tokio::io::stdout())
}

/// Tells whether somebody wants to see where panics come from.
pub(crate) fn wants_backtrace() -> bool {
    env::vars_os().any(|(name, value)| name == "RUST_BACKTRACE" && value != "0")
}

/// Returns where this program lies, so that it can be started again as a built-in server.
pub(crate) fn program() -> Option<PathBuf> {
    env::current_exe().ok()
}

/// Looks at the process and its surroundings.
pub(crate) fn inspect(project: Option<&Path>) -> Host {
    // A variable that is no text cannot be meant for anything here.
    let variables = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut surroundings = Env::new(Platform::HOST, PathBuf::new()).with_variables(variables);
    surroundings.cwd = working_folder(project, &surroundings);
    let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let home = surroundings.nonempty_variable(home).map(PathBuf::from);
    surroundings.home = home.filter(|home| home.is_absolute());
    // System-wide files such as /etc/… are looked for below this folder: for tests and images.
    if let Some(root) = surroundings.folder_variable("WHARF_SYSTEM_ROOT") {
        surroundings.system_root = root;
    }
    let terminal = Terminal {
        stdin: io::stdin().is_terminal(),
        stdout: io::stdout().is_terminal(),
        stderr: io::stderr().is_terminal(),
        columns: columns(&surroundings),
    };
    Host { env: surroundings, terminal }
}

/// Returns the folder to look from as a real path. One that does not exist is left for discovery
/// to complain about.
fn working_folder(project: Option<&Path>, surroundings: &Env) -> PathBuf {
    // The working folder may have been deleted; then its old name makes the best message.
    let working = env::current_dir().unwrap_or_else(|_| {
        PathBuf::from(surroundings.nonempty_variable("PWD").unwrap_or("(deleted)"))
    });
    match project {
        Some(folder) => {
            let folder = working.join(folder);
            folder.canonicalize().unwrap_or(folder)
        }
        None => working,
    }
}

/// Returns how many columns help may take; it is wanted before anything else is known.
pub(crate) fn help_columns() -> usize {
    const WIDEST: usize = 100;
    let columns = terminal_size::terminal_size().map(|(columns, _)| usize::from(columns.0));
    columns.filter(|columns| *columns > 0).unwrap_or(WIDEST).min(WIDEST)
}

/// Returns how many columns there are on whichever stream is a terminal.
fn columns(surroundings: &Env) -> usize {
    const USUAL: usize = 80;
    let said = surroundings.nonempty_variable("COLUMNS").and_then(|columns| columns.parse().ok());
    let measured = || terminal_size::terminal_size().map(|(columns, _)| usize::from(columns.0));
    said.or_else(measured).filter(|columns| *columns > 0).unwrap_or(USUAL)
}
