//! Gemini CLI: `url` means SSE there and `httpUrl` Streamable HTTP.
//!
//! From its own source and documentation: `mcp.allowed` and `mcp.excluded` beside the map, a state
//! file for switched-off servers, `$VAR` and `%VAR%` in values, `trust` (shown, never honoured).

use std::collections::BTreeSet;

use crate::discover::{Scan, paths};
use crate::document::{Map, Node};
use crate::expand::Syntax;
use crate::server::{Definition, TransportKind};

use super::entry::Entry;
use super::export::Style;
use super::program::{Dialect, Place, Program, Unit, project, user, user_on};
use super::state::{self, StateFile};

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

/// Applies `mcp.excluded` and `mcp.allowed` of each of the program's files to the entries of all.
pub(super) fn apply_lists(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    let files = state::files(scan, definitions);
    apply(scan, &files, definitions);
}

/// Applies the lists and the state file of Gemini CLI to servers of its extensions.
pub(super) fn apply_to_extensions(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    let files = state::files_of(scan, &PROGRAM);
    apply(scan, &files, definitions);
    apply_state(scan, definitions);
}

fn apply(scan: &Scan<'_>, files: &[StateFile], definitions: &mut [Definition]) {
    for file in files {
        let names = |key| {
            let names = file.root.pointer(&["mcp", key]).map(state::names).unwrap_or_default();
            names.iter().map(|name| folded(name)).collect::<BTreeSet<_>>()
        };
        let (allowed, excluded) = (names("allowed"), names("excluded"));
        let path = scan.env.short(&file.path);
        for definition in definitions.iter_mut().filter(|own| file.counts_for(own)) {
            let is_in =
                |list: &BTreeSet<String>| called(definition).any(|name| list.contains(&name));
            if is_in(&excluded) {
                state::switch_off(definition, format!("listed in \"mcp.excluded\" of {path}"));
            } else if !allowed.is_empty() && !is_in(&allowed) {
                state::switch_off(definition, format!("not listed in \"mcp.allowed\" of {path}"));
            }
        }
    }
}

fn apply_state(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    for path in paths(&STATE, scan.env, &scan.env.cwd) {
        let Some(root) = scan.document(&path) else { continue };
        let states = root.as_map().into_iter().flat_map(Map::iter);
        let is_off = |node: &Node| node.get("enabled").and_then(Node::as_bool) == Some(false);
        let off: BTreeSet<String> =
            states.filter(|(_, node)| is_off(node)).map(|(key, _)| folded(&key.text)).collect();
        for definition in definitions.iter_mut() {
            if called(definition).any(|name| off.contains(&name)) {
                state::switch_off(definition, "switched off with `gemini mcp disable`");
            }
        }
    }
}

/// Gemini CLI compares names without case, and writes them in lower case.
fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

/// What a server is called: by its name, and without the extension it belongs to.
fn called(definition: &Definition) -> impl Iterator<Item = String> {
    let name = definition.name.as_str();
    let plain =
        definition.plugin.as_ref().and_then(|_| name.split_once(':')).map(|(_, plain)| plain);
    std::iter::once(name).chain(plain).map(folded)
}
