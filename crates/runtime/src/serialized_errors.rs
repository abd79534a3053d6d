//! Serializes the errors that are not plain data: an object with `kind`, `message` and what helps to
//! act on it.
//!
//! Errors that are plain data derive it beside their definition, also with `kind`.

use serde::{Serialize, Serializer};

use crate::approval::ApprovalsError;
use crate::call::SpillError;
use crate::credentials::CredentialStoreError;
use crate::event::MissedEvents;
use crate::runtime::{Unavailable, UnknownServer};
use crate::status::ServerFailure;
use crate::tools::PinError;

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct ErrorJson<'a> {
    kind: &'a str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a ServerFailure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl<'a> ErrorJson<'a> {
    fn new(kind: &'a str, error: &impl ToString) -> Self {
        Self { kind, message: error.to_string(), ..Self::default() }
    }
}

impl Serialize for Unavailable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, server) = match self {
            Self::Unknown(UnknownServer(name)) => ("unknown_server", Some(name.as_str())),
            Self::Untrusted(name) => ("untrusted", Some(name.as_str())),
            Self::Disabled(name) => ("disabled", Some(name.as_str())),
            Self::Failed { server, .. } => ("failed", Some(server.as_str())),
            Self::Closed(name) => ("closed", Some(name.as_str())),
            Self::TimedOut { server, .. } => ("timed_out", Some(server.as_str())),
            Self::ShutDown => ("shut_down", None),
        };
        let mut json = ErrorJson { server, ..ErrorJson::new(kind, self) };
        match self {
            Self::Failed { failure, .. } => json.failure = Some(failure),
            Self::TimedOut { limit, .. } => json.limit_ms = u64::try_from(limit.as_millis()).ok(),
            _ => {}
        }
        json.serialize(serializer)
    }
}

impl Serialize for UnknownServer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = ErrorJson::new("unknown_server", self);
        ErrorJson { server: Some(&self.0), ..json }.serialize(serializer)
    }
}

impl Serialize for ApprovalsError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = ErrorJson::new("approvals", self);
        ErrorJson { hint: Some(self.hint()), ..json }.serialize(serializer)
    }
}

impl Serialize for CredentialStoreError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ErrorJson::new("credential_store", self).serialize(serializer)
    }
}

impl Serialize for SpillError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = match self {
            Self::TooLarge { .. } => "too_large",
            Self::NotBase64 => "not_base64",
            Self::Write { .. } => "write",
        };
        ErrorJson::new(kind, self).serialize(serializer)
    }
}

impl Serialize for PinError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = match self {
            Self::TooLarge { .. } => "too_large",
            Self::Unwritable(_) => "unwritable",
        };
        ErrorJson { hint: Some(self.hint()), ..ErrorJson::new(kind, self) }.serialize(serializer)
    }
}

/// A mark between events.
impl Serialize for MissedEvents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = ErrorJson::new("missed_events", self);
        ErrorJson { count: Some(self.0), ..json }.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use wharf_config::ServerName;

    use super::*;
    use crate::status::FailureKind;

    fn check(error: &impl Serialize, expected: &str) {
        assert_eq!(serde_json::to_string(error).unwrap(), expected);
    }

    #[test]
    fn an_error_says_its_kind_its_message_and_its_server() {
        let server = ServerName::new("fs");
        let failure = Arc::new(ServerFailure::new(FailureKind::Start, "npx not found"));
        check(
            &Unavailable::Failed { server: server.clone(), failure },
            r#"{"kind":"failed","message":"failed to connect to \"fs\": npx not found","server":"fs","failure":{"kind":"start","message":"npx not found"}}"#,
        );
        check(
            &Unavailable::TimedOut { server, limit: Duration::from_millis(1500) },
            r#"{"kind":"timed_out","message":"server \"fs\" was not connected within 1.5s","server":"fs","limitMs":1500}"#,
        );
        check(
            &Unavailable::ShutDown,
            r#"{"kind":"shut_down","message":"the runtime was shut down"}"#,
        );
        let unknown = UnknownServer("x".to_owned());
        let expected =
            r#"{"kind":"unknown_server","message":"there is no server \"x\"","server":"x"}"#;
        check(&unknown, expected);
        check(&Unavailable::from(unknown), expected);
        check(
            &MissedEvents(2),
            r#"{"kind":"missed_events","message":"2 events were missed","count":2}"#,
        );
        check(
            &CredentialStoreError::new("locked"),
            r#"{"kind":"credential_store","message":"locked"}"#,
        );
    }
}
