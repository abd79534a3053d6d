//! The servers with quirks on stdin and stdout; the binary `wharf-quirk` calls `run`.
//!
//! There is one table per theme; a quirk is one entry of a table. `server` is the correct server
//! that a quirk changes, `environment` reads the delays and amounts of data that a test sets.

mod calls;
mod content;
mod envelope;
mod environment;
mod floods;
mod framing;
mod handshake;
mod lists;
mod modern;
mod probe;
mod process;
mod server;
mod server_requests;
mod tasks;
mod tools;

use std::process::ExitCode;
use std::sync::LazyLock;

use self::server::{StdioBehavior, StdioServer};
use super::mode::{QuirkEntry, QuirkEra, QuirkMode};

type StdioQuirk = QuirkEntry<StdioBehavior>;

/// The tables by theme.
const TABLES: &[(&str, &[StdioQuirk])] = &[
    ("framing", framing::QUIRKS),
    ("envelope", envelope::QUIRKS),
    ("handshake", handshake::QUIRKS),
    ("probe", probe::QUIRKS),
    ("tools", tools::QUIRKS),
    ("lists", lists::QUIRKS),
    ("content", content::QUIRKS),
    ("calls", calls::QUIRKS),
    ("server_requests", server_requests::QUIRKS),
    ("floods", floods::QUIRKS),
    ("process", process::QUIRKS),
    ("modern", modern::QUIRKS),
    ("tasks", tasks::QUIRKS),
];

static MODES: LazyLock<Vec<QuirkMode>> =
    LazyLock::new(|| quirks().map(|quirk| quirk.mode).collect());

/// Returns all modes of `wharf-quirk`.
pub fn stdio_modes() -> &'static [QuirkMode] {
    &MODES
}

/// Returns the themes of the modes.
pub fn stdio_themes() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|(theme, _)| *theme)
}

/// Returns the modes of one theme.
pub fn stdio_modes_of(theme: &str) -> Vec<QuirkMode> {
    let tables = TABLES.iter().filter(|(name, _)| *name == theme);
    tables.flat_map(|(_, quirks)| *quirks).map(|quirk| quirk.mode).collect()
}

/// Runs the server of a mode until it ends; returns `None` if there is no such mode.
///
/// It uses the given era if the mode supports it, and its first era otherwise.
pub fn run(name: &str, era: Option<QuirkEra>) -> Option<ExitCode> {
    if name == process::GRANDCHILD_MODE {
        process::run_grandchild();
        return Some(ExitCode::SUCCESS);
    }
    let quirk = quirks().find(|quirk| quirk.mode.name == name)?;
    let eras = quirk.mode.eras;
    let era = era.filter(|era| eras.contains(era)).or_else(|| eras.first().copied())?;
    Some(StdioServer::new(era, quirk.behavior).run())
}

fn quirks() -> impl Iterator<Item = &'static StdioQuirk> {
    TABLES.iter().flat_map(|(_, quirks)| *quirks)
}
