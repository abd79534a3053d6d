//! Which stored credential a server uses, and in what state it is, without its secrets. Nothing is
//! contacted, and no keychain is asked.

use std::time::SystemTime;

use serde::Serialize;
use wharf_config::time::{moment, rfc3339};
use wharf_config::{CredentialSummary, Credentials, Env, Server, Transport, select_summary};

use crate::ui::time_ago;

/// All stored credentials, for looking up those of servers.
#[derive(Debug, Default)]
pub(super) struct ServerCredentials(Vec<CredentialSummary>);

/// The state of the credential of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CredentialState {
    /// None is stored.
    None,
    /// One is stored, and is valid as far as is known, or can be renewed.
    Stored,
    /// It has expired and cannot be renewed.
    Expired,
}

impl CredentialState {
    /// Returns the word for a credential that is stored.
    pub(super) fn stored_word(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Stored => Some("stored"),
            Self::Expired => Some("expired"),
        }
    }
}

impl ServerCredentials {
    /// Reads the store. An unreadable store counts as empty; `doctor` reports what is wrong.
    pub(super) fn load(env: &Env) -> Self {
        Self(Credentials::load(env).map(|stored| stored.summaries()).unwrap_or_default())
    }

    /// Uses these credentials.
    pub(super) fn of(stored: Vec<CredentialSummary>) -> Self {
        Self(stored)
    }

    /// Returns the credential of a server.
    pub(super) fn find(&self, server: &Server) -> Option<&CredentialSummary> {
        let fields = &server.definition.fields;
        let id = fields.auth.as_ref().and_then(|auth| auth.credential_id.as_deref());
        if let Some(id) = id {
            return self.0.iter().find(|one| one.id == id);
        }
        let spec = server.spec.as_deref()?;
        let (Transport::Http(endpoint) | Transport::Sse(endpoint)) = &spec.transport else {
            return None;
        };
        let resource = endpoint.url.resource()?;
        let account = spec.account.as_deref();
        let found = select_summary(self.0.iter().cloned(), &resource, account)?;
        self.0.iter().find(|one| one.id == found.id)
    }

    /// Returns the state of the credential of a server.
    pub(super) fn state(&self, server: &Server, now: SystemTime) -> CredentialState {
        match self.find(server) {
            None => CredentialState::None,
            Some(one) if is_expired(one, now) => CredentialState::Expired,
            Some(_) => CredentialState::Stored,
        }
    }
}

/// Tells whether a credential has expired and cannot be renewed.
pub(super) fn is_expired(one: &CredentialSummary, now: SystemTime) -> bool {
    !one.is_renewable && one.expires_at.is_some_and(|at| moment(at) <= now)
}

/// Returns when a credential expires for good, in UTC; none if it is renewed.
pub(super) fn expires_at(one: &CredentialSummary) -> Option<String> {
    one.expires_at.filter(|_| !one.is_renewable).map(|at| rfc3339(moment(at)))
}

/// Describes the state in a few words, such as `signed in` or `stored, expires in 2 h`.
pub(super) fn describe(one: &CredentialSummary, now: SystemTime) -> String {
    let word = if one.is_oauth { "signed in" } else { "stored" };
    let account = one.account.as_ref().map(|account| format!(" as {account}")).unwrap_or_default();
    match one.expires_at.map(moment).filter(|_| !one.is_renewable) {
        None => format!("{word}{account}"),
        Some(at) if at <= now => "expired".to_owned(),
        Some(at) => format!("{word}{account}, expires {}", time_ago::time_left(at, now)),
    }
}
