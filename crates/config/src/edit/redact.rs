//! Redaction of the secrets in the text of a config file; everything else is kept.
//!
//! A preview of a change shows whole lines of a file. The key or position of a value decides
//! whether it is a secret; uncertain values are redacted. Comments are not parsed, so a comment
//! that may contain a value (an entry that is commented out) is redacted as a whole.

use std::ops::Range;

use super::json_write::quote;
use super::source_text::{self, Splices};
use super::tree::{self, Shape, Tree};
use crate::document::{self, Notation};
use crate::secret::{REDACTED, names_a_secret, redact_args, redact_url};

/// Replaces a text that cannot be parsed, so that its secrets cannot be found.
pub const CONTENT_NOT_SHOWN: &str = "(the content is not shown: it may hold secrets)\n";

/// Returns the text with every secret replaced by `•••`; the layout is kept.
///
/// Redacts strings and numbers below `env` and `headers`, values whose key names a secret, the user
/// and query of a URL, and the value after a flag such as `--token`. A value that is only a
/// placeholder is kept: it is a name. YAML and text that cannot be parsed are not shown at all.
///
/// ```
/// use wharf_config::document::Notation;
/// use wharf_config::edit::redact;
///
/// let text = r#"{"env": {"A": "s3cret", "B": "${B}"}, "cwd": "/x"}"#;
/// assert_eq!(redact(text, Notation::Json), r#"{"env": {"A": "•••", "B": "${B}"}, "cwd": "/x"}"#);
/// ```
pub fn redact(text: &str, notation: Notation) -> String {
    let Some(hidden) = find_secrets(text, notation) else { return CONTENT_NOT_SHOWN.to_owned() };
    replace_ranges(text, hidden.into_iter().map(|hidden| (hidden.range, hidden.replacement)))
}

/// Replaces ranges of a text.
pub(super) fn replace_ranges(
    text: &str,
    parts: impl Iterator<Item = (Range<usize>, String)>,
) -> String {
    let mut splices = Splices::default();
    parts.for_each(|(range, redacted)| splices.replace(range, redacted));
    splices.apply(text)
}

/// A secret in a text.
pub(super) struct SecretSpan {
    /// The keys and list indexes that lead to it; empty for a comment.
    pub(super) path: Vec<String>,
    pub(super) range: Range<usize>,
    /// The text that replaces it, with quotes if it has quotes.
    pub(super) replacement: String,
}

/// Finds the secrets of a text; `None` if it cannot be parsed.
pub(super) fn find_secrets(text: &str, notation: Notation) -> Option<Vec<SecretSpan>> {
    // Parsing limits the nesting, on which the recursion below relies.
    document::parse(text, notation).ok()?;
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = match notation {
        Notation::Json => tree::of_json(body).ok()?,
        Notation::Toml => Some(tree::of_toml(body).ok()?),
        Notation::Yaml => return None,
    };
    let mut search = SecretSearch { found: Vec::new(), path: Vec::new() };
    if let Some(root) = &root {
        search.search_value(root, "", SecretRule::ByKey);
    }
    for comment in source_text::comments(body, notation) {
        search.search_comment(&body[comment.clone()], comment);
    }
    let mark = text.len() - body.len();
    let shift = |range: Range<usize>| range.start + mark..range.end + mark;
    Some(
        search.found.into_iter().map(|own| SecretSpan { range: shift(own.range), ..own }).collect(),
    )
}

/// What makes a value a secret.
#[derive(Clone, Copy, PartialEq)]
enum SecretRule {
    /// Its key.
    ByKey,
    /// Always: everything below `env` and `headers` is a secret.
    Always,
    /// A secret unless it looks like the name of a variable.
    UnlessVariableName,
    /// Never a secret.
    Never,
}

struct SecretSearch {
    found: Vec<SecretSpan>,
    path: Vec<String>,
}

impl SecretSearch {
    fn search_value(&mut self, tree: &Tree, key: &str, rule: SecretRule) {
        match &tree.shape {
            Shape::Null | Shape::Bool(_) => {}
            Shape::Number(_) => {
                if rule == SecretRule::Always || rule == SecretRule::ByKey && names_a_secret(key) {
                    self.redact_tree(tree, REDACTED.to_owned());
                }
            }
            Shape::String(text) => {
                if let Some(redacted) = redact_text(text, key, rule) {
                    self.redact_tree(tree, quote(&redacted));
                }
            }
            Shape::List(items) if rule == SecretRule::ByKey && is_command(key) => {
                self.search_arguments(items, key);
            }
            Shape::List(items) => self.search_each(
                items.iter().enumerate().map(|(index, item)| (index.to_string(), key, item)),
                rule,
            ),
            Shape::Map(members) => {
                for member in members {
                    let is_text = matches!(member.value.shape, Shape::String(_));
                    let rule = match rule {
                        SecretRule::Always => SecretRule::Always,
                        SecretRule::UnlessVariableName if is_text && holds_variable_names(key) => {
                            rule
                        }
                        // A server may have the name of a field that is never redacted.
                        _ => rule_for_key(&member.key),
                    };
                    let own = (member.key.clone(), member.key.as_str(), &member.value);
                    self.search_each(std::iter::once(own), rule);
                }
            }
        }
    }

    fn search_each<'t>(
        &mut self,
        values: impl Iterator<Item = (String, &'t str, &'t Tree)>,
        rule: SecretRule,
    ) {
        for (step, key, value) in values {
            self.path.push(step);
            self.search_value(value, key, rule);
            self.path.pop();
        }
    }

    fn search_arguments(&mut self, items: &[Tree], key: &str) {
        let texts = items.iter().map(|item| match &item.shape {
            Shape::String(text) | Shape::Number(text) => text.as_str(),
            _ => "",
        });
        let redacted = redact_args(texts.clone());
        for (index, ((item, text), redacted)) in items.iter().zip(texts).zip(redacted).enumerate() {
            self.path.push(index.to_string());
            match item.shape {
                Shape::List(_) | Shape::Map(_) => self.search_value(item, key, SecretRule::ByKey),
                _ if text != redacted && !is_placeholder(text) => {
                    self.redact_tree(item, quote(&redacted));
                }
                _ => {}
            }
            self.path.pop();
        }
    }

    fn search_comment(&mut self, text: &str, range: Range<usize>) {
        let may_hold_a_value = text.contains(['"', '='])
            || text.matches('\'').count() > 1
            || names_a_secret(text)
            || text.split_whitespace().any(|word| redact_url(word) != word);
        if may_hold_a_value {
            let replacement = if text.starts_with("/*") {
                format!("/* {REDACTED} */")
            } else if text.starts_with("//") {
                format!("// {REDACTED}")
            } else {
                format!("# {REDACTED}")
            };
            self.found.push(SecretSpan { path: Vec::new(), range, replacement });
        }
    }

    fn redact_tree(&mut self, tree: &Tree, replacement: String) {
        self.found.push(SecretSpan {
            path: self.path.clone(),
            range: tree.range.clone(),
            replacement,
        });
    }
}

/// Returns the redacted text, if it has a secret.
fn redact_text(text: &str, key: &str, rule: SecretRule) -> Option<String> {
    let is_secret = match rule {
        SecretRule::Always => true,
        SecretRule::ByKey => names_a_secret(key),
        // The value may be the secret itself instead of the name of a variable.
        SecretRule::UnlessVariableName => return (!is_variable(text)).then(|| REDACTED.to_owned()),
        SecretRule::Never => return None,
    };
    if is_placeholder(text) {
        return None;
    }
    if is_secret {
        return Some(REDACTED.to_owned());
    }
    let redacted = if is_command(key) {
        redact_args(text.split(' ')).join(" ")
    } else if text.contains("://") {
        redact_url(text)
    } else {
        return None;
    };
    (redacted != text).then_some(redacted)
}

fn rule_for_key(key: &str) -> SecretRule {
    match normalize_key(key).as_str() {
        "env" | "environment" | "envs" | "headers" | "httpheaders" => SecretRule::Always,
        "credentialid" => SecretRule::Never,
        _ if holds_variable_names(key) => SecretRule::UnlessVariableName,
        name if name.ends_with("envvar") || name.ends_with("envvars") => {
            SecretRule::UnlessVariableName
        }
        _ => SecretRule::ByKey,
    }
}

/// Tells whether all values below a key are names of variables.
fn holds_variable_names(key: &str) -> bool {
    normalize_key(key) == "envhttpheaders"
}

fn is_command(key: &str) -> bool {
    matches!(normalize_key(key).as_str(), "args" | "arguments" | "command" | "cmd")
}

/// Normalizes the spelling of a key: `http_headers` and `HTTP-Headers` are equal.
fn normalize_key(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Tells whether a text is exactly one placeholder: `${X}`, `${env:X}`, `{env:X}`, `$X`.
fn is_placeholder(text: &str) -> bool {
    let inner = |text: &'_ str| text.strip_suffix('}').map(str::to_owned);
    let name = if let Some(rest) = text.strip_prefix("${") {
        inner(rest).map(|name| match name.split_once(':') {
            Some(("env" | "input", name)) => name.to_owned(),
            _ => name,
        })
    } else if let Some(rest) = text.strip_prefix("{env:") {
        inner(rest)
    } else {
        // A password may begin with a dollar sign, so only a name in capitals is a variable.
        text.strip_prefix('$').filter(|name| is_variable(name)).map(str::to_owned)
    };
    name.is_some_and(|name| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    })
}

/// Tells whether a text looks like the name of an environment variable, in capitals.
fn is_variable(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase() || first == '_')
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}
