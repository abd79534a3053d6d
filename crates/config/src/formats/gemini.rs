//! Gemini CLI: `url` means SSE there and `httpUrl` Streamable HTTP.
//!
//! From its own source and documentation: `mcp.allowed` and `mcp.excluded` beside the map, a state
//! file for switched-off servers, `$VAR` and `%VAR%` in values, `trust` (shown, never honoured).

use crate::discover::{Scan, paths};
use crate::document::{Map, Node};
use crate::expand::Syntax;
use crate::server::{Definition, TransportKind};

use super::entry::Entry;
use super::export::Style;
use super::program::{Dialect, Place, Program, Unit, project, user, user_on};
use super::state;

/// How Gemini and its forks read an entry.
pub(super) const DIALECT: Dialect = Dialect { url: TransportKind::Sse, ..Dialect::STANDARD }
    .with(Syntax::DOLLAR.union(Syntax::PERCENT));

/// How Gemini and its forks want an entry written.
pub(super) const STYLE: Style = Style {
    url: ["httpUrl", "url"],
    has_cwd: true,
    limits: ([Some("timeout"), None, None], Unit::Milliseconds),
    filters: [Some("includeTools"), Some("excludeTools")],
    variable: |name, default| default.is_none().then(|| format!("${{{name}}}")),
    ..Style::STANDARD
};

/// Reads the names of tools that are written as calls: `read(path)` lets `read` through.
pub(super) fn own_fields(map: &Map, entry: &mut Entry<'_>) {
    if let Some(node) = map.get("authProviderType") {
        entry.out_of_reach(
            "authProviderType",
            node,
            "Gemini CLI signs in to it with credentials of its own",
        );
    }
    for tool in entry.policy().include_tools.iter_mut().flatten() {
        if let Some(end) = tool.find('(') {
            tool.truncate(end);
        }
    }
}

const STATE: Place = user("~/.gemini/mcp-server-enablement.json").place;

pub(super) const PROGRAM: Program = Program {
    priority: 60,
    dialect: DIALECT,
    own_fields,
    finish: |scan, definitions| {
        apply_lists(scan, definitions);
        apply_state(scan, definitions);
    },
    files: &[
        project(".gemini/settings.json"),
        user("~/.gemini/settings.json"),
        user_on(
            "${GEMINI_CLI_SYSTEM_SETTINGS_PATH:-/etc/gemini-cli/settings.json}",
            "${GEMINI_CLI_SYSTEM_SETTINGS_PATH:-/Library/Application Support/GeminiCli/settings.json}",
            "${GEMINI_CLI_SYSTEM_SETTINGS_PATH:-{programdata}/gemini-cli/settings.json}",
        ),
    ],
    export: Some(&STYLE),
    ..Program::new("gemini", "Gemini CLI")
};

/// Applies `mcp.excluded` and `mcp.allowed` of each file to the entries of all of them.
pub(super) fn apply_lists(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    for file in state::files(scan, definitions) {
        let names = |key| file.root.pointer(&["mcp", key]).map(state::names).unwrap_or_default();
        let (allowed, excluded) = (names("allowed"), names("excluded"));
        let path = scan.env.short(&file.path);
        for definition in definitions.iter_mut().filter(|own| file.counts_for(own)) {
            let name = definition.name.as_str();
            if excluded.contains(name) {
                state::switch_off(definition, format!("listed in \"mcp.excluded\" of {path}"));
            } else if !allowed.is_empty() && !allowed.contains(name) {
                state::switch_off(definition, format!("not listed in \"mcp.allowed\" of {path}"));
            }
        }
    }
}

fn apply_state(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    for path in paths(&STATE, scan.env, &scan.env.cwd) {
        let Some(root) = scan.document(&path) else { continue };
        for definition in definitions.iter_mut() {
            let enabled = root.pointer(&[definition.name.as_str(), "enabled"]);
            if enabled.and_then(Node::as_bool) == Some(false) {
                state::switch_off(definition, "switched off with `gemini mcp disable`");
            }
        }
    }
}
