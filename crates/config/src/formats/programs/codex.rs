//! Codex: `[mcp_servers.<name>]` tables in TOML, with timeouts in seconds.
//!
//! Source: its code. Variables are passed by name (`env_vars`), headers can come from variables
//! (`bearer_token_env_var`, `env_http_headers`); it has no placeholders and no SSE.

use crate::document::{Map, Node};
use crate::edit::{JsonObject, JsonValue};
use crate::expand::Syntax;
use crate::server::{TransportKind, WrittenText};

use super::entry_reader::EntryReader;
use super::export::ExportStyle;
use super::program::{Dialect, Program, TimeUnit, project, user, user_on};

pub(super) const PROGRAM: Program = Program {
    priority: 70,
    dialect: Dialect::STANDARD.in_seconds(),
    read_extra_fields,
    files: &[
        project(".codex/config.toml").servers(&["mcp_servers"]).also_read_by(&["Warp"]),
        user("${CODEX_HOME:-~/.codex}/config.toml")
            .servers(&["mcp_servers"])
            .also_read_by(&["Warp"]),
        user_on(
            "/etc/codex/requirements.toml",
            "/etc/codex/requirements.toml",
            "{programdata}/OpenAI/Codex/requirements.toml",
        )
        .read_by(|root, reader| {
            if let Some(node) = root.get("mcp_servers") {
                reader.unsupported(
                    node.line,
                    "Codex limits its servers by these requirements; Wharf does not apply them",
                );
            }
        }),
    ],
    export: Some(&ExportStyle {
        has_cwd: true,
        headers: "http_headers",
        limits: ([None, Some("startup_timeout_sec"), Some("tool_timeout_sec")], TimeUnit::Seconds),
        filters: [Some("enabled_tools"), Some("disabled_tools")],
        refuses: |kind| (kind == TransportKind::Sse).then_some("Codex does not speak SSE"),
        variable: |name, default| default.is_none().then(|| format!("${{{name}}}")),
        adjust: write_variables_by_name,
        keys: &["mcp_servers"],
        ..ExportStyle::STANDARD
    }),
    ..Program::new("codex", "Codex")
};

pub(super) fn read_extra_fields(map: &Map, entry: &mut EntryReader<'_>) {
    for (key, node) in map.iter() {
        match key.text.as_str() {
            "env_vars" => {
                for item in node.as_list().unwrap_or_default() {
                    pass_variable(item, entry);
                }
            }
            "bearer_token_env_var" => {
                if let Some(name) = node.as_str() {
                    push_header(entry, "Authorization", &format!("Bearer ${{{name}}}"));
                }
            }
            "env_http_headers" => {
                for (header, name) in node.as_map().into_iter().flat_map(Map::iter) {
                    if let Some(name) = name.as_str() {
                        push_header(entry, &header.text, &format!("${{{name}}}"));
                    }
                }
            }
            "environment_id" => {
                entry.unsupported("environment_id", node, "Codex starts it in another environment");
            }
            "required" => entry.policy().required = entry.flag("required", node) == Some(true),
            "scopes" => {
                let scopes = entry.texts("scopes", node).join(" ");
                entry.fields.oauth.get_or_insert_default().scope = Some(scopes);
            }
            "tools" => {
                for (tool, settings) in node.as_map().into_iter().flat_map(Map::iter) {
                    if let Some(mode) = settings.get("approval_mode") {
                        entry
                            .add_approval_hint(&format!("tools.{}.approval_mode", tool.text), mode);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Passes a variable by name, unless Codex takes it from the remote machine of the server.
fn pass_variable(item: &Node, entry: &mut EntryReader<'_>) {
    let Some(name) = item.get("name").unwrap_or(item).as_str() else { return };
    if item.get("source").and_then(Node::as_str) == Some("remote") {
        let message = format!("\"env_vars\" takes \"{name}\" from another machine; not passed on");
        let hint = "put the value into \"env\"";
        entry.warn("unsupported", item.line, "env_vars", (message, hint));
    } else {
        entry.policy().pass_env.push(name.to_owned());
    }
}

fn push_header(entry: &mut EntryReader<'_>, header: &str, text: &str) {
    let value = WrittenText { text: text.to_owned(), syntax: Syntax::BRACED | Syntax::NAMED };
    entry.fields.headers.push((header.to_owned(), value));
}

/// Codex has no placeholders: moves variables to the fields that take their names.
fn write_variables_by_name(entry: &mut JsonObject) -> Result<(), String> {
    let variable = |value: &JsonValue, before: &str| {
        let name = value.as_str()?.strip_prefix(before)?.strip_prefix("${")?.strip_suffix('}')?;
        (!name.contains(['$', '{'])).then(|| name.to_owned())
    };
    if let Some(JsonValue::Object(env)) = entry.get_mut("env") {
        let own =
            |(name, value): &(&String, &JsonValue)| variable(value, "").as_ref() == Some(*name);
        let names: Vec<String> = env.iter().filter(own).map(|(name, _)| name.clone()).collect();
        env.retain(|name, _| !names.contains(name));
        if env.is_empty() {
            entry.remove("env");
        }
        if !names.is_empty() {
            entry.insert("env_vars".to_owned(), names);
        }
    }
    if let Some(JsonValue::Object(mut headers)) = entry.remove("http_headers") {
        let bearer = headers.get("Authorization").and_then(|value| variable(value, "Bearer "));
        if let Some(name) = bearer {
            headers.remove("Authorization");
            entry.insert("bearer_token_env_var".to_owned(), name);
        }
        let is_variable = |value: &JsonValue| variable(value, "").is_some();
        let (by_name, literal): (Vec<_>, Vec<_>) =
            headers.into_iter().partition(|(_, value)| is_variable(value));
        let by_name = by_name
            .into_iter()
            .filter_map(|(header, value)| Some((header, variable(&value, "")?.into())));
        let groups: [(&str, JsonObject); 2] = [
            ("http_headers", literal.into_iter().collect()),
            ("env_http_headers", by_name.collect()),
        ];
        for (key, group) in groups.into_iter().filter(|(_, group)| !group.is_empty()) {
            entry.insert(key.to_owned(), JsonValue::Object(group));
        }
    }
    if JsonValue::Object(entry.clone()).to_string().contains("${") {
        return Err("it uses a variable where Codex cannot replace one".to_owned());
    }
    Ok(())
}
