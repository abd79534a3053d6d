//! Finds literal secrets in a definition that is to be copied into another file, and moves bearer
//! tokens to the credential store.

use serde::Serialize;

use crate::env::Env;
use crate::expand::{ExpandContext, Syntax, has_placeholder};
use crate::named_files::NamedFiles;
use crate::secret::{Secret, names_a_secret, redact_args, redact_url};
use crate::server::{Definition, WrittenText};
use crate::server_url::ServerUrl;

use super::portable::PortableDefinition;

/// Prefixes of well-known tokens.
const TOKENS: [&str; 10] =
    ["ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "sk-", "xoxb-", "xoxp-", "AKIA", "eyJ"];

/// A literal secret in a copied entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LiteralSecret {
    /// The server.
    pub name: String,
    /// The field, such as `headers.Authorization`.
    pub field: String,
    /// Whether it can be moved to the credential store.
    pub can_be_stored: bool,
}

/// A token to be stored in the credential store.
#[derive(Debug)]
pub(super) struct TakenToken {
    /// The address that it is bound to.
    pub(super) resource: String,
    pub(super) token: Secret,
}

/// Lists the literal secrets of a definition.
pub(super) fn literal_secrets(definition: &Definition, env: &Env) -> Vec<LiteralSecret> {
    let fields = &definition.fields;
    let found = |field: String, can_be_stored: bool| LiteralSecret {
        name: definition.name.as_str().to_owned(),
        field,
        can_be_stored,
    };
    let is_literal = |written: &WrittenText| is_literal(written, definition, env);
    let mut secrets = Vec::new();
    let url = fields.url.as_ref().filter(|url| is_literal(url));
    let resource = url.and_then(|url| resource_of(&url.text));
    for (group, pairs) in [("env", &fields.env), ("headers", &fields.headers)] {
        for (name, value) in pairs.iter().filter(|(_, value)| is_literal(value)) {
            if names_a_secret(name) || is_token(&value.text) {
                let can_be_stored =
                    resource.is_some() && group == "headers" && bearer(name, &value.text).is_some();
                secrets.push(found(format!("{group}.{name}"), can_be_stored));
            }
        }
    }
    let texts: Vec<&str> = fields.args.iter().map(|arg| arg.text.as_str()).collect();
    let redacted = redact_args(texts.iter().copied());
    for (index, arg) in fields.args.iter().enumerate().filter(|(_, arg)| is_literal(arg)) {
        if redacted[index] != arg.text || is_token(&arg.text) {
            secrets.push(found(format!("args[{index}]"), false));
        }
    }
    if url.is_some_and(|url| redact_url(&url.text).contains(crate::secret::REDACTED)) {
        secrets.push(found("url".to_owned(), false));
    }
    secrets
}

/// Removes the bearer token from the headers of a server that is to be copied.
pub(super) fn take_token(portable: &mut PortableDefinition) -> Option<TakenToken> {
    let resource = resource_of(portable.url.as_deref()?)?;
    let at = portable.headers.iter().position(|(name, value)| {
        bearer(name, value).is_some_and(|token| !token.contains(['$', '{', '%']))
    })?;
    let (name, value) = portable.headers.remove(at);
    let token = Secret::new(bearer(&name, &value)?);
    Some(TakenToken { resource, token })
}

/// Returns the address to which a token is bound; none if it has placeholders.
fn resource_of(url: &str) -> Option<String> {
    let is_whole = !url.contains(['$', '{']);
    url.parse::<ServerUrl>().ok().filter(|_| is_whole)?.resource()
}

/// Parses `Authorization: Bearer token`.
fn bearer<'a>(name: &str, value: &'a str) -> Option<&'a str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    let is_bearer = name.eq_ignore_ascii_case("authorization")
        && scheme.eq_ignore_ascii_case("bearer")
        && !token.is_empty()
        && !token.contains(char::is_whitespace);
    is_bearer.then_some(token)
}

/// Tells whether a text is literal: no placeholder, command or name of a variable.
fn is_literal(written: &WrittenText, definition: &Definition, env: &Env) -> bool {
    let files = NamedFiles::default();
    let is_resolved = written.syntax.contains(Syntax::RESOLVED)
        && (written.text.starts_with('!') || env.nonempty_variable(&written.text).is_some());
    let context = ExpandContext::of(definition, env, &files);
    !written.text.is_empty() && !is_resolved && !has_placeholder(written, context)
}

fn is_token(text: &str) -> bool {
    let is_word = text.len() >= 20 && text.chars().all(|c| c.is_ascii_graphic());
    is_word && TOKENS.iter().any(|start| text.starts_with(start))
}
