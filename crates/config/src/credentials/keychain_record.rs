//! The record of a credential whose secrets are in the keychain.
//!
//! The file has what listings need: what the credential is bound to, when it expires, and the name
//! of the keychain entry. It may also have the access token of a short-lived credential, so that a
//! run with a valid token need not ask the keychain.

use serde_json::{Map, Value};

use super::{Credential, CredentialSummary};

/// The field with the name of the keychain entry.
const ENTRY: &str = "keychain";

/// The field of a grant that says that the keychain has a refresh token.
const RENEWABLE: &str = "renewable";

/// Whether the file has the access token as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenCopy {
    /// The token is in the keychain only.
    None,
    /// The token is in the file, too.
    InFile,
}

/// Makes the record of a credential.
pub(super) fn write(credential: &Credential, entry: &str, copy: TokenCopy) -> Map<String, Value> {
    let mut fields = credential.to_fields();
    fields.insert(ENTRY.to_owned(), Value::from(entry));
    if copy == TokenCopy::None {
        fields.remove("token");
    }
    if let Some(Value::Object(grant)) = fields.get_mut("oauth") {
        if grant.remove("refreshToken").is_some() {
            grant.insert(RENEWABLE.to_owned(), Value::from(true));
        }
        grant.remove("dpopKey");
        if let Some(Value::Object(client)) = grant.get_mut("client") {
            client.remove("secret");
            client.remove("registrationToken");
        }
    }
    fields
}

/// Returns the name of the keychain entry of a record, if its secrets are there.
pub(super) fn entry(fields: &Map<String, Value>) -> Option<&str> {
    fields.get(ENTRY)?.as_str()
}

/// Returns the fields of a credential in a record; of one whose secrets are in the keychain, those
/// that are in the file.
pub(super) fn in_file(fields: &Map<String, Value>) -> Map<String, Value> {
    let mut fields = fields.clone();
    if fields.remove(ENTRY).is_some()
        && let Some(Value::Object(grant)) = fields.get_mut("oauth")
    {
        grant.remove(RENEWABLE);
    }
    fields
}

/// Summarizes a record.
pub(super) fn summarize(id: &str, fields: &Map<String, Value>) -> Option<CredentialSummary> {
    if entry(fields).is_none() {
        let credential = Credential::from_fields(fields.clone()).ok()?;
        return Some(CredentialSummary::of(id, &credential));
    }
    let mut whole = fields.clone();
    // A summary has no token, but a credential must have one.
    whole.entry("token").or_insert_with(|| Value::from("-"));
    let credential = Credential::from_fields(whole).ok()?;
    let is_renewable = fields.get("oauth").is_some_and(|grant| grant[RENEWABLE] == true);
    let mut summary = CredentialSummary::of(id, &credential);
    summary.is_in_keychain = true;
    summary.is_renewable |= is_renewable;
    Some(summary)
}
