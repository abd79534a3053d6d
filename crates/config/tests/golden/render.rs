//! Renders a catalog as JSON: each server as in `wharf list --json` with its secrets (all are made
//! up), and the fields that no listing has.

use serde::Serialize;
use wharf_config::edit::{JsonObject, JsonValue};
use wharf_config::view::CatalogServerView;
use wharf_config::{Catalog, ConfigValue, OAuth, Policy, Server, Transport, WrittenText};

use crate::case::SampleMachine;

/// The width up to which several values are on one line.
const WIDTH: usize = 110;

/// Renders all servers and problems, with names instead of the machine's paths.
pub(crate) fn catalog(catalog: &Catalog, machine: &SampleMachine) -> String {
    let servers: Vec<JsonValue> =
        catalog.all().into_iter().map(|own| server(own, machine)).collect();
    let mut whole = JsonObject::new();
    whole.insert("servers", servers);
    whole.insert("problems", json(&catalog.problems));
    let mut whole = whole.into();
    shorten(&mut whole, &machine.names);
    pretty(&whole, 0)
}

/// Converts to JSON, with the fields in the order in which they are written.
fn json(value: &(impl Serialize + ?Sized)) -> JsonValue {
    serde_json::to_string(value).expect("JSON").parse().expect("JSON")
}

fn server(server: &Server, machine: &SampleMachine) -> JsonValue {
    let mut rendered = json(&CatalogServerView::revealed(server, &machine.env));
    let map = rendered.as_object_mut().expect("an object");
    let fields = &server.definition.fields;
    let mut extra = policy(&fields.policy);
    if let Some(auth) = &fields.auth {
        extra.insert("auth", json(auth));
    }
    let expanded = server.spec.as_ref().and_then(|spec| spec.oauth.as_ref());
    if let Some(own) = expanded.or(fields.oauth.as_ref()) {
        extra.insert("oauth".to_owned(), oauth(own));
    }
    if let Some(account) = &fields.account {
        extra.insert("account".to_owned(), json(account));
    }
    let later = unresolved_values(server);
    if !later.is_empty() {
        extra.insert("later", later);
    }
    if !extra.is_empty() {
        map.insert("further", extra);
    }
    rendered
}

fn policy(policy: &Policy) -> JsonObject {
    let mut rendered = JsonObject::new();
    if !policy.tool_approval.is_empty() {
        let by_tool = policy.tool_approval.iter().map(|(tool, own)| (tool.clone(), json(own)));
        rendered.insert("toolApproval".to_owned(), JsonValue::object(by_tool));
    }
    let flags = [
        ("inheritEnv", policy.inherit_env),
        ("strict", policy.strict),
        ("retryOnHints", policy.retry_on_hints),
        ("lazy", policy.lazy),
        ("required", policy.required),
        ("withoutInstructions", policy.without_instructions),
    ];
    if let Some(version) = &policy.protocol_version {
        rendered.insert("protocolVersion".to_owned(), json(version));
    }
    let set = flags.into_iter().filter(|(_, on)| *on);
    set.for_each(|(name, on)| rendered.insert(name, on));
    rendered
}

fn oauth(oauth: &OAuth) -> JsonValue {
    let text = |written: &Option<WrittenText>| written.as_ref().map(|own| own.text.clone());
    let all: [(&str, JsonValue); 8] = [
        ("clientId", text(&oauth.client_id).into()),
        ("clientSecret", text(&oauth.client_secret).into()),
        ("issuer", json(&oauth.issuer)),
        ("scope", json(&oauth.scope)),
        ("callbackPort", json(&oauth.callback_port)),
        ("redirectUri", json(&oauth.redirect_uri)),
        ("grant", json(&oauth.grant)),
        ("off", oauth.off.then_some(true).into()),
    ];
    JsonValue::object(all.into_iter().filter(|(_, value)| !value.is_null()))
}

/// Names the values that are resolved only when connecting, or are missing.
fn unresolved_values(server: &Server) -> JsonObject {
    let (field, values) = match server.spec.as_ref().map(|spec| &spec.transport) {
        Some(Transport::Stdio(launch)) => ("env", &launch.env),
        Some(Transport::Http(endpoint) | Transport::Sse(endpoint)) => {
            ("headers", &endpoint.headers)
        }
        Some(Transport::Custom(_)) | None => return JsonObject::new(),
    };
    let word = |value: &ConfigValue| match value {
        ConfigValue::Literal(_) => None,
        ConfigValue::Command(_) => Some("command"),
        ConfigValue::NameOrLiteral(_) => Some("name or literal"),
        ConfigValue::Unset(_) => Some("unset"),
        ConfigValue::Omitted(_) => Some("omitted"),
    };
    let named = values.iter().filter_map(|(name, value)| Some((name, word(value)?)));
    named.map(|(name, word)| (format!("{field}.{name}"), word.into())).collect()
}

/// Formats JSON with as many values on a line as fit, so that snapshots stay short.
fn pretty(value: &JsonValue, depth: usize) -> String {
    let line = value.to_string();
    if depth > 1 && line.chars().count() + 2 * depth <= WIDTH {
        return line;
    }
    let parts: Vec<String> = match value {
        JsonValue::Array(list) => list.iter().map(|item| pretty(item, depth + 1)).collect(),
        JsonValue::Object(map) => map
            .iter()
            .map(|(key, item)| format!("{}: {}", json(key), pretty(item, depth + 1)))
            .collect(),
        _ => return line,
    };
    let (open, close) = if value.as_array().is_some() { ('[', ']') } else { ('{', '}') };
    if parts.is_empty() {
        return format!("{open}{close}");
    }
    let indent = "  ".repeat(depth + 1);
    let parts = parts.join(&format!(",\n{indent}"));
    format!("{open}\n{indent}{parts}\n{}{close}", "  ".repeat(depth))
}

/// Replaces the paths of the temporary folder by names.
fn shorten(value: &mut JsonValue, names: &[(String, String)]) {
    match value {
        JsonValue::String(text) => {
            for (path, name) in names {
                for written in [path.clone(), path.replace('\\', "/")] {
                    if text.contains(&written) {
                        *text = text.replace(&written, name);
                        if cfg!(windows) {
                            *text = text.replace('\\', "/");
                        }
                    }
                }
            }
        }
        JsonValue::Array(list) => list.iter_mut().for_each(|item| shorten(item, names)),
        JsonValue::Object(map) => map.iter_mut().for_each(|(_, item)| shorten(item, names)),
        JsonValue::Null | JsonValue::Bool(_) | JsonValue::Number(_) => {}
    }
}
