//! The `_meta` of every request since 2026-07-28: revision, client capabilities, client info.

use std::borrow::Cow;

use super::{ClientCapabilities, ClientInfo};
use crate::Json;
use crate::era::Revision;
use crate::view::meta::{key, meta_object, push_with_meta};

/// The `_meta` of every request, encoded once and added to each request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestMeta {
    entries: [(&'static str, String); 3],
    /// These entries as an object.
    object: Json,
}

impl RequestMeta {
    /// Encodes the entries that are the same in every request.
    pub fn new(revision: Revision, capabilities: &ClientCapabilities, info: &ClientInfo) -> Self {
        let entries = [
            (key::PROTOCOL_VERSION, format!("\"{revision}\"")),
            (key::CLIENT_CAPABILITIES, capabilities.render(revision).as_str().to_owned()),
            (key::CLIENT_INFO, info.render(revision).as_str().to_owned()),
        ];
        let object = meta_object(&entries.each_ref().map(|(key, value)| (*key, value.as_str())));
        Self { entries, object }
    }

    /// Returns the parameters with these entries and more entries of `_meta`, such as a progress
    /// token.
    pub fn apply(&self, params: Option<&Json>, more: &[(&str, &str)]) -> Json {
        let mut text = String::new();
        push_with_meta(&mut text, params, &self.with(more));
        Json::trusted(text)
    }

    /// Returns the object `_meta` with more entries.
    pub(crate) fn with(&self, more: &[(&str, &str)]) -> Cow<'_, Json> {
        if more.is_empty() {
            return Cow::Borrowed(&self.object);
        }
        let ours = self.entries.iter().map(|(key, value)| (*key, value.as_str()));
        Cow::Owned(meta_object(&ours.chain(more.iter().copied()).collect::<Vec<_>>()))
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
            r#"{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"},"progressToken":7}}"#
        );
    }
}
