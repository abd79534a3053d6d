//! Gemini CLI: `url` means SSE and `httpUrl` means Streamable HTTP.
//!
//! Source: its code and documentation. `mcp.allowed` and `mcp.excluded` filter servers, a state
//! file lists disabled ones; values may have `$VAR` and `%VAR%`; `trust` is only displayed.

use std::collections::BTreeSet;

use crate::discover::{Scan, paths};
use crate::document::{Map, Node};
use crate::expand::Syntax;
use crate::server::{Definition, TransportKind};

use super::entry_reader::EntryReader;
use super::export::ExportStyle;
use super::program::{Dialect, PathTemplate, Program, TimeUnit, project, user, user_on};
use super::program_files::{self, ProgramFile};

/// How Gemini and its forks read an entry.
pub(super) const DIALECT: Dialect = Dialect { url: TransportKind::Sse, ..Dialect::STANDARD }
    .with(Syntax::DOLLAR.union(Syntax::PERCENT));

/// How to write an entry for Gemini and its forks.
pub(super) const STYLE: ExportStyle = ExportStyle {
    url: ["httpUrl", "url"],
    has_cwd: true,
    limits: ([Some("timeout"), None, None], TimeUnit::Milliseconds),
    filters: [Some("includeTools"), Some("excludeTools")],
    variable: |name, default| default.is_none().then(|| format!("${{{name}}}")),
    ..ExportStyle::STANDARD
};

/// Reads tool names that are written as calls: `read(path)` includes `read`.
pub(super) fn read_extra_fields(map: &Map, entry: &mut EntryReader<'_>) {
    if let Some(node) = map.get("authProviderType") {
        entry.unsupported("authProviderType", node, "Gemini CLI signs in with its own credentials");
    }
    for tool in entry.policy().include_tools.iter_mut().flatten() {
        if let Some(end) = tool.find('(') {
            tool.truncate(end);
        }
    }
}

const ENABLEMENT_FILE: PathTemplate = user("~/.gemini/mcp-server-enablement.json").template;

pub(super) const PROGRAM: Program = Program {
    priority: 60,
    dialect: DIALECT,
    read_extra_fields,
    finish: |scan, definitions| {
        apply_lists(scan, definitions);
        apply_enablement_file(scan, definitions);
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

/// Applies `mcp.excluded` and `mcp.allowed` of each file to the servers of all files.
pub(super) fn apply_lists(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    let files = program_files::read_for_definitions(scan, definitions);
    apply(scan, &files, definitions);
}

/// Applies the lists and the state file of Gemini CLI to the servers of its extensions.
pub(super) fn apply_to_extensions(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    let files = program_files::read_for_program(scan, &PROGRAM);
    apply(scan, &files, definitions);
    apply_enablement_file(scan, definitions);
}

fn apply(scan: &Scan<'_>, files: &[ProgramFile], definitions: &mut [Definition]) {
    for file in files {
        let names = |key| {
            let names =
                file.root.pointer(&["mcp", key]).map(program_files::names).unwrap_or_default();
            names.iter().map(|name| normalize_name(name)).collect::<BTreeSet<_>>()
        };
        let (allowed, excluded) = (names("allowed"), names("excluded"));
        let path = scan.env.display_path(&file.path);
        for definition in definitions.iter_mut().filter(|own| file.counts_for(own)) {
            let is_in =
                |list: &BTreeSet<String>| names_of(definition).any(|name| list.contains(&name));
            if is_in(&excluded) {
                program_files::switch_off(
                    definition,
                    format!("listed in \"mcp.excluded\" of {path}"),
                );
            } else if !allowed.is_empty() && !is_in(&allowed) {
                program_files::switch_off(
                    definition,
                    format!("not listed in \"mcp.allowed\" of {path}"),
                );
            }
        }
    }
}

fn apply_enablement_file(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    for path in paths(&ENABLEMENT_FILE, scan.env, &scan.env.cwd) {
        let Some(root) = scan.document(&path) else { continue };
        let states = root.as_map().into_iter().flat_map(Map::iter);
        let is_off = |node: &Node| node.get("enabled").and_then(Node::as_bool) == Some(false);
        let off: BTreeSet<String> = states
            .filter(|(_, node)| is_off(node))
            .map(|(key, _)| normalize_name(&key.text))
            .collect();
        for definition in definitions.iter_mut() {
            if names_of(definition).any(|name| off.contains(&name)) {
                program_files::switch_off(definition, "switched off with `gemini mcp disable`");
            }
        }
    }
}

/// Gemini CLI ignores case in names and writes them in lower case.
fn normalize_name(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Returns the name of a server, with and without the prefix of its extension.
fn names_of(definition: &Definition) -> impl Iterator<Item = String> {
    let name = definition.name.as_str();
    let plain =
        definition.plugin.as_ref().and_then(|_| name.split_once(':')).map(|(_, plain)| plain);
    std::iter::once(name).chain(plain).map(normalize_name)
}
