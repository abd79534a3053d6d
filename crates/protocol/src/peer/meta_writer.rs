//! Adds `_meta` to the parameters of a request: progress token, log level and, in the modern era,
//! the client info and capabilities.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::Json;
use crate::era::{Era, Revision};
use crate::view::send::{ClientCapabilities, ClientInfo, RequestMeta};
use crate::view::{LogLevel, meta::key, with_meta};

/// Writes the `_meta` of one client for one revision.
pub(crate) struct MetaWriter {
    request_meta: Option<RequestMeta>,
    /// The log level: its index in [`LogLevel::ALL`] plus one; 0 if it is not set.
    level: AtomicU8,
}

impl MetaWriter {
    pub(crate) fn new(
        revision: Revision,
        capabilities: &ClientCapabilities,
        client: &ClientInfo,
    ) -> Self {
        let is_modern = revision.era() == Era::Modern;
        let request_meta = is_modern.then(|| RequestMeta::new(revision, capabilities, client));
        Self { request_meta, level: AtomicU8::new(0) }
    }

    /// Adds the log level to every request from now on; only in the modern era.
    pub(super) fn set_log_level(&self, level: LogLevel) {
        if self.request_meta.is_some() {
            self.level.store(level as u8 + 1, Ordering::Relaxed);
        }
    }

    /// Returns the log level as a JSON string.
    fn log_level(&self) -> Option<String> {
        let place = self.level.load(Ordering::Relaxed).checked_sub(1)?;
        LogLevel::ALL.get(usize::from(place)).map(|level| format!("\"{}\"", level.as_str()))
    }

    /// Returns the parameters of a request with their `_meta`.
    pub(crate) fn params(
        &self,
        params: Option<&Json>,
        progress_token: Option<u64>,
        meta: &[(String, Json)],
    ) -> Option<Json> {
        let token = progress_token.map(|token| token.to_string());
        let level = self.log_level();
        let mut more: Vec<(&str, &str)> = Vec::with_capacity(meta.len() + 2);
        more.extend(level.as_deref().map(|level| (key::LOG_LEVEL, level)));
        more.extend(meta.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        more.extend(token.as_deref().map(|token| (key::PROGRESS_TOKEN, token)));
        match &self.request_meta {
            Some(request_meta) => Some(request_meta.apply(params, &more)),
            None if more.is_empty() => params.cloned(),
            None => Some(with_meta(params, &more)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(revision: Revision, params: Option<&str>, expected: Option<&str>) {
        let client = ClientInfo::new("n", "1");
        let meta_writer = MetaWriter::new(revision, &ClientCapabilities::default(), &client);
        meta_writer.set_log_level(LogLevel::Debug);
        let params: Option<Json> = params.map(|text| text.parse().unwrap());
        let worded = meta_writer.params(params.as_ref(), Some(7), &[("a".into(), Json::null())]);
        assert_eq!(worded.as_ref().map(Json::as_str), expected);
        let plain = meta_writer.params(params.as_ref(), None, &[]);
        assert_eq!(plain == params, revision.era() == Era::Legacy);
    }

    #[test]
    fn a_modern_request_carries_client_info_and_log_level() {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"},"io.modelcontextprotocol/logLevel":"debug","a":null,"progressToken":7}"#;
        check(Revision::LATEST, None, Some(&format!("{{{meta}}}")));
        check(Revision::LATEST, Some(r#"{"x":1}"#), Some(&format!(r#"{{{meta},"x":1}}"#)));
    }

    #[test]
    fn a_legacy_request_has_only_the_given_meta() {
        let revision = Revision::V2025_06_18;
        check(revision, None, Some(r#"{"_meta":{"a":null,"progressToken":7}}"#));
        check(revision, Some("{}"), Some(r#"{"_meta":{"a":null,"progressToken":7}}"#));
    }
}
