//! Copilot CLI: `mcpServers` with a list of `tools`, and `.github/mcp.json` in projects.
//!
//! Source: its help. In each folder it reads `.mcp.json`, else `.github/mcp.json`; timeouts are in
//! milliseconds. `.mcp.json` itself is in `mcp_json`.

use crate::expand::Syntax;
use crate::problem::Problem;
use crate::server::WrittenText;
use crate::source::Level;

use super::export::ExportStyle;
use super::mcp_json;
use super::program::{Dialect, Program, project, user};

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect::STANDARD.with(Syntax::DOLLAR),
    read_extra_fields: |map, entry| {
        if let Some(id) = map.get("oauthClientId").and_then(|node| node.as_str()) {
            let id = WrittenText { text: id.to_owned(), syntax: entry.dialect.syntax };
            entry.fields.oauth.get_or_insert_default().client_id = Some(id);
        }
    },
    finish: |_, definitions| {
        for definition in definitions.iter_mut().filter(|own| own.source.level == Level::Project) {
            // The server stays visible: trusting one file does not mean trusting the other.
            if definition.folder.join(mcp_json::DOT_MCP_JSON).exists() {
                let message = "Copilot CLI itself reads \".mcp.json\" here and not this file";
                let problem =
                    Problem::warning("not-read", message).in_file(&definition.source.path);
                let problem = problem.on_line(definition.line).of_server(definition.name.as_str());
                definition.problems.push(problem.hint("keep the servers in one of the two files"));
            }
        }
    },
    files: &[project(".github/mcp.json"), user("${COPILOT_HOME:-~/.copilot}/mcp-config.json")],
    export: Some(&ExportStyle {
        type_words: Some(["local", "http", "sse"]),
        filters: [Some("tools"), None],
        variable: |name, default| default.is_none().then(|| format!("${{{name}}}")),
        adjust: |entry| {
            if entry.get("tools").is_none() {
                entry.insert("tools", vec!["*"]);
            }
            Ok(())
        },
        ..ExportStyle::STANDARD
    }),
    ..Program::new("copilot", "Copilot CLI")
};
