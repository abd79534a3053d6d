//! Finds the secrets in an address, to redact them in other texts.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::address::secret_parts;
use crate::secret::names_a_secret;

/// The parts of an address that may be secrets, as written. A part that is missing is empty.
#[derive(Default)]
pub(super) struct SecretParts {
    pub(super) user: String,
    pub(super) password: String,
    pub(super) query: String,
    pub(super) fragment: String,
    /// A text that cannot be split, but may be an address with a secret.
    pub(super) whole: String,
}

impl SecretParts {
    /// Makes the parts of a text that cannot be split.
    pub(super) fn unsplit(text: &str) -> Self {
        let whole = if may_contain_address(text) { text.to_owned() } else { String::new() };
        Self { whole, ..Self::default() }
    }
}

/// Returns the secrets in an address, percent-encoded as written and decoded.
pub fn secrets_of_url(text: &str) -> Vec<String> {
    let SecretParts { user, password, query, fragment, whole } = secret_parts(text);
    let values = pairs(&query).map(|(_, value)| value.to_owned());
    let mut secrets: Vec<String> = values.chain([user, password]).collect();
    if fragment.contains('=') {
        secrets.push(fragment);
    }
    secrets.push(query.clone());
    let decoded: Vec<String> = secrets
        .iter()
        .filter_map(|text| percent_decode_str(text).decode_utf8().ok())
        .map(Cow::into_owned)
        .collect();
    secrets.extend(decoded);
    secrets.extend(pairs(&query).map(|(_, value)| decode_query(value)));
    secrets.push(whole);
    secrets.retain(|secret| !secret.is_empty());
    secrets
}

/// Returns the secrets in an address that are certain, however short they are: its password, alone
/// and as in a `Basic` header, and values of its query with the name of a secret. All are decoded.
pub fn credentials_of_url(text: &str) -> Vec<String> {
    let SecretParts { user, password, query, .. } = secret_parts(text);
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let named = pairs(&query).map(|(name, value)| (decode_query(name), decode_query(value)));
    let named = named.filter(|(name, _)| names_a_secret(name)).map(|(_, value)| value);
    let mut credentials: Vec<String> = named.filter(|value| !value.is_empty()).collect();
    if !password.is_empty() {
        let password = decoded(&password);
        credentials.push(format!("{}:{password}", decoded(&user)));
        credentials.push(password);
    }
    credentials
}

/// Tells whether a text that is not a valid address may still be one with a secret.
pub(super) fn may_contain_address(text: &str) -> bool {
    text.contains("//") && text.contains(['@', '?'])
}

/// Splits a query into names and values.
fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter_map(|pair| pair.split_once('='))
}

/// Decodes a name or a value of a query, in which `+` is a space.
fn decode_query(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}
