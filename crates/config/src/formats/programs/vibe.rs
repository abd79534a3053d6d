//! Mistral Vibe: `[[mcp_servers]]`, a list of named tables, in TOML.
//!
//! Source: its code. Headers, and a header from a variable, are in the entry or in its `auth` table
//! of type `static`; an OAuth client is in one of type `oauth`.

use crate::document::{Map, Node};
use crate::expand::Syntax;
use crate::server::{OAuth, WrittenText};

use super::entry_reader::EntryReader;
use super::file_reader::FileReader;
use super::program::{Dialect, Program, project, user};
use super::scalars;

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect::STANDARD.in_seconds(),
    read_extra_fields: |map, entry| {
        let auth = map.get("auth").and_then(Node::as_map);
        let kind = auth.and_then(|auth| auth.get("type")).and_then(Node::as_str);
        match (auth, kind) {
            (Some(auth), Some("oauth")) => read_oauth(auth, entry),
            (Some(auth), _) => {
                if let Some(headers) = auth.get("headers") {
                    let headers = entry.pairs("auth.headers", "headers", headers);
                    entry.fields.headers.extend(headers);
                }
                add_api_key_header(auth, entry);
            }
            (None, _) => add_api_key_header(map, entry),
        }
    },
    files: &[
        project(".vibe/config.toml").read_by(read),
        user("${VIBE_HOME:-~/.vibe}/config.toml").read_by(read),
    ],
    ..Program::new("vibe", "Mistral Vibe")
};

fn read(root: &Node, reader: &mut FileReader<'_>) {
    if let Some(servers) = root.get("mcp_servers") {
        reader.read_server_list(servers, "mcp_servers");
    }
}

/// Adds the header whose value comes from a variable, unless the entry already has that header.
fn add_api_key_header(map: &Map, entry: &mut EntryReader<'_>) {
    let get = |key| map.get(key).and_then(Node::as_str).map(str::trim).filter(|t| !t.is_empty());
    let Some(variable) = get("api_key_env") else { return };
    let header = get("api_key_header").unwrap_or("Authorization");
    if entry.fields.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(header)) {
        return;
    }
    let format = get("api_key_format").unwrap_or("Bearer {token}");
    let text = format.replace("{token}", &format!("${{{variable}}}"));
    let value = WrittenText { text, syntax: Syntax::BRACED | Syntax::NAMED };
    entry.fields.headers.push((header.to_owned(), value));
}

fn read_oauth(auth: &Map, entry: &mut EntryReader<'_>) {
    let scopes = auth.get("scopes").map(|node| entry.texts("auth.scopes", node).join(" "));
    let client_id = auth.get("client_id").and_then(|node| entry.written("auth.client_id", node));
    let port = auth.get("redirect_port").and_then(Node::as_f64).and_then(scalars::port);
    entry.fields.oauth = Some(OAuth {
        client_id,
        scope: scopes.filter(|scopes| !scopes.is_empty()),
        callback_port: port,
        ..OAuth::default()
    });
}
