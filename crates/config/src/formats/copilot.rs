//! Copilot CLI: `mcpServers` with a list of `tools`, and `.github/mcp.json` in projects.
//!
//! From its help: in each folder `.mcp.json` is read, else `.github/mcp.json`; limits are in
//! milliseconds. `.mcp.json` itself belongs to `mcp_json`.

use std::sync::Arc;

use crate::expand::Syntax;
use crate::server::Written;
use crate::source::{Level, Source};

use super::export::Style;
use super::mcp_json;
use super::program::{Dialect, Program, project, user};

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect::STANDARD.with(Syntax::DOLLAR),
    own_fields: |map, entry| {
        if let Some(id) = map.get("oauthClientId").and_then(|node| node.as_str()) {
            let id = Written { text: id.to_owned(), syntax: entry.dialect.syntax };
            entry.fields.oauth.get_or_insert_default().client_id = Some(id);
        }
    },
    finish: |_, definitions| {
        for definition in definitions.iter_mut().filter(|own| own.source.level == Level::Project) {
            let instead = definition.folder.join(mcp_json::DOTTED);
            if instead.exists() {
                let source = Source { path: instead, ..(*definition.source).clone() };
                definition.replaced_by = Some(Arc::new(source));
            }
        }
    },
    files: &[project(".github/mcp.json"), user("${COPILOT_HOME:-~/.copilot}/mcp-config.json")],
    export: Some(&Style {
        kinds: Some(["local", "http", "sse"]),
        filters: [Some("tools"), None],
        variable: |name, default| default.is_none().then(|| format!("${{{name}}}")),
        adjust: |entry| {
            entry.entry("tools").or_insert_with(|| serde_json::json!(["*"]));
            Ok(())
        },
        ..Style::STANDARD
    }),
    ..Program::new("copilot", "Copilot CLI")
};
