//! Adds `_meta` to the parameters of a request: progress token, log level and, in the modern era,
//! the client info and capabilities.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU8, Ordering};

use super::{ProgressMode, RequestOptions};
use crate::era::{Era, Revision};
use crate::view::send::{ClientCapabilities, ClientInfo, RequestMeta};
use crate::view::{LogLevel, meta::key, meta_object, push_with_meta};
use crate::{Json, envelope};

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

    /// Writes a request with the parameters and their `_meta`, all into one text.
    pub(crate) fn request(
        &self,
        id: u64,
        method: &str,
        params: Option<&Json>,
        options: &RequestOptions,
    ) -> Vec<u8> {
        let wants_progress = !matches!(options.progress, ProgressMode::Off);
        let token = wants_progress.then(|| id.to_string());
        let level = self.log_level();
        let given = options.meta.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let mut more: Vec<(&str, &str)> = Vec::new();
        more.extend(level.as_deref().map(|level| (key::LOG_LEVEL, level)));
        more.extend(given);
        more.extend(token.as_deref().map(|token| (key::PROGRESS_TOKEN, token)));
        let meta = match &self.request_meta {
            Some(request_meta) => request_meta.with(&more),
            None if more.is_empty() => return envelope::request(id, method, params),
            None => Cow::Owned(meta_object(&more)),
        };
        let length = meta.as_str().len() + params.map_or(0, |params| params.as_str().len());
        let push_params = |text: &mut String| push_with_meta(text, params, &meta);
        envelope::request_with(id, method, length, Some(push_params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(revision: Revision, params: Option<&str>, expected: &str) {
        let client = ClientInfo::new("n", "1");
        let meta_writer = MetaWriter::new(revision, &ClientCapabilities::default(), &client);
        meta_writer.set_log_level(LogLevel::Debug);
        let params: Option<Json> = params.map(|text| text.parse().unwrap());
        let options = RequestOptions {
            progress: ProgressMode::KeepAlive,
            meta: vec![("a".into(), Json::null())],
            ..RequestOptions::default()
        };
        let written = meta_writer.request(7, "m", params.as_ref(), &options);
        let expected = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{expected}}}"#);
        assert_eq!(String::from_utf8(written).unwrap(), expected);
        let plain = meta_writer.request(7, "m", params.as_ref(), &RequestOptions::default());
        let is_unchanged = plain == envelope::request(7, "m", params.as_ref());
        assert_eq!(is_unchanged, revision.era() == Era::Legacy);
    }

    #[test]
    fn a_modern_request_carries_client_info_and_log_level() {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"},"io.modelcontextprotocol/logLevel":"debug","a":null,"progressToken":7}"#;
        check(Revision::LATEST, None, &format!("{{{meta}}}"));
        check(Revision::LATEST, Some(r#"{"x":1}"#), &format!(r#"{{"x":1,{meta}}}"#));
    }

    #[test]
    fn a_legacy_request_has_only_the_given_meta() {
        let revision = Revision::V2025_06_18;
        check(revision, None, r#"{"_meta":{"a":null,"progressToken":7}}"#);
        check(revision, Some("{}"), r#"{"_meta":{"a":null,"progressToken":7}}"#);
    }
}
