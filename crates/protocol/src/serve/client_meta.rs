//! The `_meta` of a modern request: revision, client capabilities, client info, log level.
//!
//! A request without a revision belongs to the legacy era; a request with one must be complete.

use std::borrow::Cow;

use super::client::{Client, ClientDetails};
use crate::Json;
use crate::Members;
use crate::envelope::{RpcError, code};
use crate::era::{Era, Revision};
use crate::scan::{self, decode_string};
use crate::view::LogLevel;
use crate::view::meta::key;
use crate::view::send::{encode, object};

/// The `_meta` of a request.
#[derive(Debug, Clone)]
pub(crate) struct ParamsMeta(Option<Json>);

/// The validated client data in the `_meta` of a modern request.
#[derive(Debug, Clone)]
pub(crate) struct ClientMeta {
    pub(crate) revision: Revision,
    pub(crate) capabilities: Json,
    pub(crate) info: Option<Json>,
    pub(crate) level: Option<LogLevel>,
}

/// The kind of revision in the `_meta` of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedRevision {
    /// No revision: the request belongs to a session, or is incomplete.
    None,
    /// A legacy revision, which needs a session.
    Legacy,
    /// A modern or unknown revision.
    Modern,
}

impl ClientMeta {
    pub(crate) fn into_client(self) -> Client {
        Client::new(ClientDetails {
            revision: self.revision,
            capabilities: self.capabilities,
            info: self.info,
            session: None,
        })
    }
}

impl ParamsMeta {
    /// Finds the `_meta` in the parameters.
    pub(crate) fn of(params: Option<&Json>) -> Self {
        Self(params.and_then(|params| params.get("_meta")))
    }

    /// Returns the revision of the request, not validated.
    pub(crate) fn version(&self) -> Option<Cow<'_, str>> {
        let version = scan::member(self.0.as_ref()?.as_str(), key::PROTOCOL_VERSION)?;
        Some(decode_string(version).unwrap_or(Cow::Borrowed(version)))
    }

    /// Returns the kind of revision of the request.
    pub(crate) fn named_revision(&self) -> NamedRevision {
        match self.version().map(|version| version.parse::<Revision>()) {
            None => NamedRevision::None,
            Some(Ok(revision)) if revision.era() == Era::Legacy => NamedRevision::Legacy,
            Some(_) => NamedRevision::Modern,
        }
    }

    /// Returns the progress token of the request.
    pub(crate) fn progress_token(&self) -> Option<Json> {
        self.0.as_ref()?.get("progressToken").filter(|token| !token.is_null())
    }

    /// Validates the `_meta` of a modern request.
    pub(crate) fn client_meta(&self) -> Result<ClientMeta, RpcError> {
        let meta = self.0.as_ref().ok_or_else(|| missing("_meta"))?;
        let members = meta.members().ok_or_else(|| missing("_meta"))?;
        let version =
            members.text(key::PROTOCOL_VERSION).ok_or_else(|| missing(key::PROTOCOL_VERSION))?;
        let revision = match version.parse::<Revision>() {
            Ok(revision) if revision.era() == Era::Modern => revision,
            _ => return Err(unsupported_version(&version)),
        };
        let capabilities = object_member(meta, &members, key::CLIENT_CAPABILITIES);
        let capabilities = capabilities.ok_or_else(|| missing(key::CLIENT_CAPABILITIES))?;
        let info = object_member(meta, &members, key::CLIENT_INFO);
        let level = members.text(key::LOG_LEVEL).and_then(|level| LogLevel::named(&level));
        Ok(ClientMeta { revision, capabilities, info, level })
    }
}

fn object_member(meta: &Json, members: &Members<'_>, key: &str) -> Option<Json> {
    members.get(key).map(|raw| meta.part(raw)).filter(Json::is_object)
}

fn missing(what: &str) -> RpcError {
    RpcError::invalid_params(format!("Invalid params: {what} is required"))
}

/// Creates the error for an unsupported revision, with the list of supported ones.
pub(crate) fn unsupported_version(requested: &str) -> RpcError {
    // A legacy revision needs `initialize`. Listing it here would make the client repeat the same
    // request.
    let is_legacy = requested.parse::<Revision>().is_ok();
    let supported = supported_versions();
    let supported = if is_legacy { supported[..1].to_vec() } else { supported };
    RpcError::new(code::UNSUPPORTED_VERSION, "Unsupported protocol version").with_data(object([
        ("requested", Some(encode(requested))),
        ("supported", Some(encode(&supported))),
    ]))
}

/// Returns the supported revisions, newest first.
pub(crate) fn supported_versions() -> Vec<&'static str> {
    Revision::ALL.iter().rev().map(|revision| revision.as_str()).collect()
}

/// Creates the error for a request that needs a capability that the client did not declare.
///
/// `required` is an object of capabilities, such as `{"sampling":{}}`.
pub fn missing_capability(required: &Json) -> RpcError {
    let data = object([("requiredCapabilities", Some(required.clone()))]);
    RpcError::new(code::MISSING_CAPABILITY, "Missing required client capability").with_data(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(params: &str, expected: &str) {
        let params = params.parse().unwrap();
        let found = match ParamsMeta::of(Some(&params)).client_meta() {
            Ok(client_meta) => format!(
                "{} {} {:?} {:?}",
                client_meta.revision,
                client_meta.capabilities.as_str(),
                client_meta.info.map(|info| info.as_str().to_owned()),
                client_meta.level
            ),
            Err(error) => {
                format!("{error} {}", error.data.as_ref().map_or("", |data| data.as_str()))
            }
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn complete_client_meta_is_read() {
        check(
            r#"{"x":1,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"a":1},"io.modelcontextprotocol/logLevel":"error"}}"#,
            r#"2026-07-28 {"a":1} None Some(Error)"#,
        );
    }

    #[test]
    fn an_error_names_the_missing_client_meta() {
        check("{}", "Invalid params: _meta is required (code -32602) ");
        check(
            r#"{"_meta":{}}"#,
            "Invalid params: io.modelcontextprotocol/protocolVersion is required (code -32602) ",
        );
        check(
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":true}}"#,
            "Invalid params: io.modelcontextprotocol/clientCapabilities is required (code -32602) ",
        );
    }

    #[test]
    fn an_unsupported_revision_is_answered_with_the_supported_ones() {
        check(
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"v9"}}"#,
            r#"Unsupported protocol version (code -32022) {"requested":"v9","supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]}"#,
        );
        check(
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}"#,
            r#"Unsupported protocol version (code -32022) {"requested":"2025-11-25","supported":["2026-07-28"]}"#,
        );
    }
}
