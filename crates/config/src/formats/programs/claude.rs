//! Claude Code: `.claude.json` with its per-project ("local") part, project files, and the managed
//! file of an administrator, which replaces all others.
//!
//! Source: its documentation and help. Precedence is local, project, user; `url` requires `type`;
//! servers are switched off by name per project, and allowed or denied by managed settings.
//! `.mcp.json`, which it also reads, is in `mcp_json`.

use std::path::Path;
use std::sync::Arc;

use crate::discover::{Scan, paths, project_folders};
use crate::document::{Map, Node};
use crate::env::Platform;
use crate::server::Definition;
use crate::server_url::ServerUrl;
use crate::source::Source;

use super::export::{self, ExportStyle};
use super::file_reader::FileReader;
use super::program::{ConfigFile, Dialect, PathTemplate, Program, project, user, user_on};
use super::program_files;

const MAIN_FILE: &str = "${CLAUDE_CONFIG_DIR:-~}/.claude.json";

/// The settings that can switch off servers of `.mcp.json`.
const USER_SETTINGS: PathTemplate = user("${CLAUDE_CONFIG_DIR:-~/.claude}/settings.json").template;
const MANAGED_SETTINGS: [PathTemplate; 2] = [
    user_on(
        "/etc/claude-code/managed-settings.json",
        "/Library/Application Support/ClaudeCode/managed-settings.json",
        "{programfiles}/ClaudeCode/managed-settings.json",
    )
    .template,
    user_on(
        "/etc/claude-code/managed-settings.d/*.json",
        "/Library/Application Support/ClaudeCode/managed-settings.d/*.json",
        "{programfiles}/ClaudeCode/managed-settings.d/*.json",
    )
    .template,
];

const MANAGED_SERVERS: ConfigFile = user_on(
    "/etc/claude-code/managed-mcp.json",
    "/Library/Application Support/ClaudeCode/managed-mcp.json",
    "{programfiles}/ClaudeCode/managed-mcp.json",
)
.first();

pub(super) const PROGRAM: Program = Program {
    priority: 80,
    keeps_documents: true,
    dialect: Dialect { needs_type: true, ..Dialect::STANDARD },
    finish,
    files: &[
        MANAGED_SERVERS,
        user(MAIN_FILE).read_by(read_local).first().also_read_by(&["Warp"]),
        project(".claude/mcp.json"),
        project(".claude/.mcp.json"),
        user(MAIN_FILE).also_read_by(&["Warp"]),
        user("${CLAUDE_CONFIG_DIR:-~/.claude}/mcp.json"),
    ],
    export: Some(&ExportStyle {
        type_words: Some(["stdio", "http", "sse"]),
        variable: export::braced_variable,
        project_file: Some(".mcp.json"),
        ..ExportStyle::STANDARD
    }),
    ..Program::new("claude", "Claude Code")
};

/// Reads the parts of the main file for the folders of the current project.
fn read_local(root: &Node, reader: &mut FileReader<'_>) {
    for (_, settings) in projects(root, reader.env) {
        if let Some(servers) = settings.get("mcpServers") {
            reader.read_servers(servers, "projects.….mcpServers");
        }
    }
}

/// Returns the per-project parts of the main file for the working folder, nearest first.
fn projects<'a>(root: &'a Node, env: &crate::Env) -> Vec<(&'a str, &'a Node)> {
    let Some(map) = root.get("projects").and_then(Node::as_map) else { return Vec::new() };
    let plain = |path: &Path| {
        let text = path.to_string_lossy().replace('\\', "/");
        // The program writes the folder as it was typed, such as `c:/Users/me`.
        if env.platform == Platform::Windows { text.to_lowercase() } else { text }
    };
    let mut folders: Vec<String> =
        project_folders(env).iter().map(|folder| plain(folder)).collect();
    if folders.is_empty() {
        folders.push(plain(&env.cwd));
    }
    let find = |folder: &String| map.iter().find(|(key, _)| plain(Path::new(&key.text)) == *folder);
    folders.iter().filter_map(find).map(|(key, node)| (key.text.as_str(), node)).collect()
}

fn finish(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    replace_by_managed_file(scan, definitions);
    for path in paths(&user(MAIN_FILE).template, scan.env, &scan.env.cwd) {
        let Some(root) = scan.document(&path) else { continue };
        for (_, settings) in projects(&root, scan.env) {
            let off =
                settings.get("disabledMcpServers").map(program_files::names).unwrap_or_default();
            for definition in definitions.iter_mut() {
                if off.contains(definition.name.as_str()) {
                    program_files::switch_off(
                        definition,
                        "switched off for this project in Claude Code",
                    );
                }
            }
        }
    }
    apply_managed_settings(scan, definitions);
}

/// If the managed file exists, it replaces all other files and plugins, even if it is empty.
pub(super) fn replace_by_managed_file(scan: &Scan<'_>, definitions: &mut [Definition]) {
    let mut managed = paths(&MANAGED_SERVERS.template, scan.env, &scan.env.cwd).into_iter();
    let Some(path) = managed.find(|path| path.exists()) else { return };
    let source = Arc::new(Source {
        provider: PROGRAM.id,
        provider_name: PROGRAM.name,
        level: MANAGED_SERVERS.level,
        path,
        also_read_by: MANAGED_SERVERS.also_read_by,
    });
    for other in definitions.iter_mut().filter(|own| *own.source != *source) {
        other.replaced_by = Some(Arc::clone(&source));
    }
}

/// Applies the combined rules of all managed settings: it is enough that one file allows a server.
fn apply_managed_settings(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    let (mut allowed, mut denied): (Option<Vec<Node>>, Vec<Node>) = (None, Vec::new());
    for path in MANAGED_SETTINGS.iter().flat_map(|place| paths(place, scan.env, &scan.env.cwd)) {
        let Some(root) = scan.document(&path) else { continue };
        let rules = |key| root.get(key).and_then(Node::as_list);
        if let Some(rules) = rules("allowedMcpServers") {
            allowed.get_or_insert_default().extend_from_slice(rules);
        }
        denied.extend_from_slice(rules("deniedMcpServers").unwrap_or_default());
    }
    for definition in definitions {
        let is_in = |rules: &[Node]| rules.iter().any(|rule| rule_matches(rule, definition));
        if is_in(&denied) {
            program_files::switch_off(definition, "denied by Claude Code's managed settings");
        } else if allowed.as_deref().is_some_and(|rules| !is_in(rules)) {
            program_files::switch_off(definition, "not allowed by Claude Code's managed settings");
        }
    }
}

/// Tells whether a rule of the managed settings matches the name, command or URL of a server.
fn rule_matches(rule: &Node, definition: &Definition) -> bool {
    let fields = &definition.fields;
    let launch = fields.command.iter().chain(&fields.args).map(|part| Some(part.text.as_str()));
    let by_name = rule.get("serverName").and_then(Node::as_str) == Some(definition.name.as_str());
    let by_command = rule
        .get("serverCommand")
        .and_then(Node::as_list)
        .is_some_and(|words| words.iter().map(Node::as_str).eq(launch));
    let by_url = match (rule.get("serverUrl").and_then(Node::as_str), &fields.url) {
        (Some(pattern), Some(url)) => {
            // Compare the normalized URL, not its spelling.
            let meant = url.text.parse::<ServerUrl>().ok().and_then(|url| url.resource());
            let meant = meant.unwrap_or_else(|| url.text.clone());
            let glob = globset::Glob::new(pattern).map(|glob| glob.compile_matcher());
            let bare = meant.trim_end_matches('/');
            glob.is_ok_and(|glob| glob.is_match(&meant) || glob.is_match(bare))
        }
        _ => false,
    };
    by_name || by_command || by_url
}

/// Returns the servers of `.mcp.json` that Claude Code has switched off.
pub(super) fn switched_off_in_mcp_json(scan: &mut Scan<'_>) -> Vec<String> {
    let mut files = paths(&USER_SETTINGS, scan.env, &scan.env.cwd);
    for folder in &scan.folders {
        files.push(folder.join(".claude/settings.json"));
        files.push(folder.join(".claude/settings.local.json"));
    }
    let mut off = Vec::new();
    for path in files {
        if let Some(root) = scan.document(&path) {
            off.extend(
                root.get("disabledMcpjsonServers").map(program_files::names).unwrap_or_default(),
            );
        }
    }
    for path in paths(&user(MAIN_FILE).template, scan.env, &scan.env.cwd) {
        let Some(root) = scan.document(&path) else { continue };
        for (_, settings) in projects(&root, scan.env) {
            off.extend(
                settings
                    .get("disabledMcpjsonServers")
                    .map(program_files::names)
                    .unwrap_or_default(),
            );
        }
    }
    off
}

/// Returns the plugins that are switched off, as `plugin@marketplace`.
pub(super) fn switched_off_plugins(scan: &mut Scan<'_>) -> Vec<String> {
    let mut off = Vec::new();
    for path in paths(&USER_SETTINGS, scan.env, &scan.env.cwd) {
        let Some(root) = scan.document(&path) else { continue };
        let plugins = root.get("enabledPlugins").and_then(Node::as_map);
        let plugins = plugins.into_iter().flat_map(Map::iter);
        let named = plugins.filter(|(_, on)| on.as_bool() == Some(false));
        off.extend(named.map(|(key, _)| key.text.clone()));
    }
    off
}
