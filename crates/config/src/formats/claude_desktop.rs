//! Claude Desktop: local servers only; remote ones live in the account, not in the file.
//!
//! From its documentation; the place on Linux is that of the unofficial builds.

use crate::server::TransportKind;

use super::export::ExportStyle;
use super::program::{Program, user};

pub(super) const PROGRAM: Program = Program {
    files: &[user("{config}/Claude/claude_desktop_config.json")],
    export: Some(&ExportStyle {
        refuses: |kind| {
            (kind != TransportKind::Stdio)
                .then_some("Claude Desktop keeps remote servers in the account, not in its file")
        },
        ..ExportStyle::STANDARD
    }),
    ..Program::new("claude-desktop", "Claude Desktop")
};
