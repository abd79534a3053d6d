//! The misbehaving servers on stdin and stdout; the binary `wharf-quirk` wraps `run`.
//!
//! One table per theme; a quirk is one entry of a table.

mod asking;
mod calls;
mod content;
mod envelope;
mod floods;
mod framing;
mod handshake;
mod life;
mod lists;
mod modern;
mod probe;
mod server;
mod settings;
mod tasks;
mod tools;

use std::process::ExitCode;
use std::sync::LazyLock;

use self::server::{Act, Server};
use super::mode::{Era, Mode, Quirk};

type StdioQuirk = Quirk<Act>;

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
    ("asking", asking::QUIRKS),
    ("floods", floods::QUIRKS),
    ("life", life::QUIRKS),
    ("modern", modern::QUIRKS),
    ("tasks", tasks::QUIRKS),
];

static MODES: LazyLock<Vec<Mode>> = LazyLock::new(|| quirks().map(|quirk| quirk.mode).collect());

/// Returns all modes of `wharf-quirk`.
pub fn stdio_modes() -> &'static [Mode] {
    &MODES
}

/// Returns the themes of the modes.
pub fn stdio_themes() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|(theme, _)| *theme)
}

/// Returns the modes of one theme.
pub fn stdio_modes_of(theme: &str) -> Vec<Mode> {
    let tables = TABLES.iter().filter(|(name, _)| *name == theme);
    tables.flat_map(|(_, quirks)| *quirks).map(|quirk| quirk.mode).collect()
}

/// Is the server of a mode until it ends; `None` if there is no such mode.
///
/// It speaks the given era if the mode allows it, and otherwise the first that it has.
pub fn run(name: &str, era: Option<Era>) -> Option<ExitCode> {
    if name == life::LINGER {
        life::be_a_grandchild();
        return Some(ExitCode::SUCCESS);
    }
    let quirk = quirks().find(|quirk| quirk.mode.name == name)?;
    let eras = quirk.mode.eras;
    let era = era.filter(|era| eras.contains(era)).or_else(|| eras.first().copied())?;
    Some(Server::new(era, quirk.act).serve())
}

fn quirks() -> impl Iterator<Item = &'static StdioQuirk> {
    TABLES.iter().flat_map(|(_, quirks)| *quirks)
}
