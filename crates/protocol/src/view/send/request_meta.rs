//! The `_meta` of every request since 2026-07-28: revision, client capabilities, client info.

use super::{ClientCapabilities, ClientInfo};
use crate::Json;
use crate::era::Revision;
use crate::view::meta::{key, with_meta};

/// The `_meta` of every request, encoded once and added to each request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestMeta {
    version: String,
    capabilities: Json,
    info: Json,
}

impl RequestMeta {
    /// Encodes the entries that are the same in every request.
    pub fn new(revision: Revision, capabilities: &ClientCapabilities, info: &ClientInfo) -> Self {
        Self {
            version: format!("\"{revision}\""),
            capabilities: capabilities.render(revision),
            info: info.render(revision),
        }
    }

    /// Returns the parameters with these entries and more entries of `_meta`, such as a progress
    /// token.
    pub fn apply(&self, params: Option<&Json>, more: &[(&str, &str)]) -> Json {
        let mut entries = Vec::with_capacity(more.len() + 3);
        entries.push((key::PROTOCOL_VERSION, self.version.as_str()));
        entries.push((key::CLIENT_CAPABILITIES, self.capabilities.as_str()));
        entries.push((key::CLIENT_INFO, self.info.as_str()));
        entries.extend_from_slice(more);
        with_meta(params, &entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_has_version_capabilities_and_client_info() {
        let info = ClientInfo::new("n", "1");
        let meta = RequestMeta::new(Revision::LATEST, &ClientCapabilities::default(), &info);
        let params: Json = r#"{"name":"a"}"#.parse().unwrap();
        assert_eq!(
            meta.apply(Some(&params), &[("progressToken", "7")]).as_str(),
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"},"progressToken":7},"name":"a"}"#
        );
    }
}
