//! mcporter: `mcpServers` with `baseUrl`, commands as lists, `$env:VAR`.
//!
//! Source: its code. Most field names also exist with underscores; a bearer token is in
//! `bearerToken` or in the variable that `bearerTokenEnv` names.

use crate::document::{Map, Node};
use crate::expand::Syntax;
use crate::server::WrittenText;

use super::entry_reader::EntryReader;
use super::program::{Dialect, Program, project, user};

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect::STANDARD.with(Syntax::POWERSHELL),
    read_extra_fields: |map, entry| {
        if let (None, Some(node)) = (&entry.fields.url, map.get("base_url")) {
            entry.fields.url = entry.written("base_url", node);
        }
        if let (None, Some(node)) = (&entry.fields.command, map.get("executable")) {
            entry.fields.command = entry.written("executable", node);
        }
        let redirect = map.get("oauthRedirectUrl").or_else(|| map.get("oauth_redirect_url"));
        if let Some(uri) = redirect.and_then(Node::as_str) {
            entry.fields.oauth.get_or_insert_default().redirect_uri = Some(uri.to_owned());
        }
        add_bearer_token_header(map, entry);
    },
    files: &[
        project("config/mcporter.json"),
        user("~/.mcporter/mcporter.json"),
        user("~/.mcporter/mcporter.jsonc"),
    ],
    ..Program::new("mcporter", "mcporter")
};

/// Adds the header for a bearer token in the entry or in a variable.
pub(super) fn add_bearer_token_header(map: &Map, entry: &mut EntryReader<'_>) {
    let get = |keys: [&str; 2]| keys.iter().find_map(|key| map.get(key)).and_then(Node::as_str);
    let token = get(["bearerToken", "bearer_token"]);
    let token = token.map(|token| (token.to_owned(), entry.dialect.syntax));
    let variable = get(["bearerTokenEnv", "bearer_token_env"])
        .map(|name| (format!("${{{name}}}"), Syntax::BRACED | Syntax::NAMED));
    if let Some((token, syntax)) = token.or(variable) {
        let value = WrittenText { text: format!("Bearer {token}"), syntax };
        entry.fields.headers.push(("Authorization".to_owned(), value));
    }
}
