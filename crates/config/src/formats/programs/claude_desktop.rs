//! Claude Desktop: only local servers; remote servers are stored in the account, not in the file.
//!
//! Source: its documentation; the path on Linux is that of unofficial builds.

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
