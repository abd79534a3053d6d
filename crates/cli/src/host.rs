//! Reads the process's surroundings: arguments, environment variables, folders, and which streams
//! are a terminal. Opens the person's browser, which the same variables select.
//!
//! Only this file reads them, once; all other code gets plain values. [`Env::of_process`] reads
//! variables and folders.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use webbrowser::{Browser, BrowserOptions};
use wharf_config::Env;

/// The environment and the terminal of this run.
#[derive(Debug)]
pub(crate) struct Host {
    /// Environment variables, working folder and home folder.
    pub(crate) env: Env,
    /// Which streams are a terminal.
    pub(crate) terminal: Terminal,
}

/// Which streams are a terminal, and how wide it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    /// Whether stdin is a terminal.
    pub(crate) stdin: bool,
    /// Whether stdout is a terminal.
    pub(crate) stdout: bool,
    /// Whether stderr is a terminal.
    pub(crate) stderr: bool,
    /// The width of the terminal in columns.
    pub(crate) columns: usize,
}

/// Returns the words of the command line.
pub(crate) fn arguments() -> Vec<OsString> {
    env::args_os().collect()
}

/// Returns stdin and stdout for a verb that speaks a protocol on them. Needs a Tokio runtime.
pub(crate) fn stdio() -> (tokio::io::Stdin, tokio::io::Stdout) {
    (tokio::io::stdin(), tokio::io::stdout())
}

/// Tells whether `RUST_BACKTRACE` asks for the full report of a panic.
pub(crate) fn wants_backtrace() -> bool {
    env::vars_os().any(|(name, value)| name == "RUST_BACKTRACE" && value != "0")
}

/// Returns the path of this program, so that it can be started again as a built-in server.
pub(crate) fn program() -> Option<PathBuf> {
    env::current_exe().ok()
}

/// Opens an address in the person's browser, without a shell. Waits for browsers that run in the
/// terminal; the others are only started.
pub(crate) fn open_page(address: &str) -> Result<(), String> {
    if !has_screen() {
        return Err("there is no graphical session, and BROWSER is not set".to_owned());
    }
    let options = BrowserOptions::new().with_suppress_output(true).clone();
    webbrowser::open_browser_with_options(Browser::Default, address, &options)
        .map_err(|error| error.to_string())
}

/// Tells whether a browser could appear. Without a screen a Linux system may start a browser in the
/// terminal, on top of what is printed there.
fn has_screen() -> bool {
    const SIGNS: [&str; 4] = ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"];
    let is_set = |name: &OsString| SIGNS.iter().any(|sign| name == sign);
    cfg!(not(target_os = "linux"))
        || env::vars_os().any(|(name, value)| is_set(&name) && !value.is_empty())
}

/// Reads the environment of the process.
pub(crate) fn inspect(project: Option<&Path>) -> Host {
    let mut surroundings = Env::of_process();
    if let Some(folder) = project {
        let folder = surroundings.cwd.join(folder);
        // Discovery reports a folder that does not exist.
        surroundings.cwd = wharf_config::real_path(&folder).unwrap_or(folder);
    }
    // System-wide files such as /etc/… are searched below this folder, for tests and images.
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

/// Returns the width of the help, which is needed before the arguments are parsed.
pub(crate) fn help_columns() -> usize {
    const WIDEST: usize = 100;
    let columns = terminal_size::terminal_size().map(|(columns, _)| usize::from(columns.0));
    columns.filter(|columns| *columns > 0).unwrap_or(WIDEST).min(WIDEST)
}

/// Returns the width of the terminal, whichever stream is connected to it.
fn columns(surroundings: &Env) -> usize {
    const USUAL: usize = 80;
    let configured =
        surroundings.nonempty_variable("COLUMNS").and_then(|columns| columns.parse().ok());
    let measured = || terminal_size::terminal_size().map(|(columns, _)| usize::from(columns.0));
    configured.or_else(measured).filter(|columns| *columns > 0).unwrap_or(USUAL)
}
