//! How requests are worded: in the modern era every one says who asks and what it can do.
//!
//! What is the same every time is written once, so a request is put together by copying.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};

use memchr::memmem::Finder;

use crate::Json;
use crate::envelope;
use crate::era::{Era, Revision};
use crate::view::send::{ClientCapabilities, ClientInfo, RequestMeta};
use crate::view::{LogLevel, meta::key, with_meta};

/// Finds `_meta` in parameters that bring their own.
static META: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"_meta\""));

/// The wording of one revision, for one client.
pub(crate) struct Dialect {
    introduction: Option<RequestMeta>,
    /// The members of `_meta` that go with every request.
    members: String,
    /// How much the server should log: a place in [`LogLevel::ALL`] and one more; 0 says nothing.
    level: AtomicU8,
}

impl Dialect {
    pub(crate) fn new(
        revision: Revision,
        capabilities: &ClientCapabilities,
        client: &ClientInfo,
    ) -> Self {
        let is_modern = revision.era() == Era::Modern;
        let introduction = is_modern.then(|| RequestMeta::new(revision, capabilities, client));
        let meta = introduction.as_ref().and_then(|it| it.apply(None, &[]).get("_meta"));
        let members = meta.as_ref().and_then(|it| it.as_str().strip_prefix('{')?.strip_suffix('}'));
        let members = members.unwrap_or_default().to_owned();
        Self { members, introduction, level: AtomicU8::new(0) }
    }

    /// Says with every request from now on how much the server should log; only in the modern era.
    pub(super) fn set_log_level(&self, level: LogLevel) {
        if self.introduction.is_some() {
            self.level.store(level as u8 + 1, Ordering::Relaxed);
        }
    }

    /// Returns the log level as it is written.
    fn log_level(&self) -> Option<String> {
        let place = self.level.load(Ordering::Relaxed).checked_sub(1)?;
        LogLevel::ALL.get(usize::from(place)).map(|level| format!("\"{}\"", level.as_str()))
    }

    /// Words the parameters of a request.
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
        match &self.introduction {
            Some(introduction) => Some(introduction.apply(params, &more)),
            None if more.is_empty() => params.cloned(),
            None => Some(with_meta(params, &more)),
        }
    }

    /// Writes a whole request.
    pub(crate) fn request(
        &self,
        (id, method): (u64, &str),
        params: Option<&Json>,
        progress_token: Option<u64>,
        meta: &[(String, Json)],
    ) -> Vec<u8> {
        let own = params.map_or("{}", Json::as_str);
        let is_plain = meta.is_empty()
            && (!self.members.is_empty() || progress_token.is_some())
            && own.starts_with('{')
            && META.find(own.as_bytes()).is_none();
        if !is_plain {
            let params = self.params(params, progress_token, meta);
            return envelope::request(id, method, params.as_ref());
        }
        let token = progress_token.map(|token| format!("\"progressToken\":{token}"));
        let token = token.as_deref().unwrap_or_default();
        let comma = if token.is_empty() || self.members.is_empty() { "" } else { "," };
        let level = self.log_level().map(|level| format!(",\"{}\":{level}", key::LOG_LEVEL));
        let level = level.as_deref().unwrap_or_default();
        let rest = own[1..].trim_start();
        let then = if rest == "}" { "}" } else { "}," };
        let parts = ["{\"_meta\":{", &self.members, level, comma, token, then, rest];
        envelope::request_of_parts(id, method, &parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::{Message, Received};

    /// Both ways to write a request must mean the same.
    fn check(revision: Revision, params: Option<&str>, token: Option<u64>) {
        let client = ClientInfo::new("n", "1");
        let dialect = Dialect::new(revision, &ClientCapabilities::default(), &client);
        let params: Option<Json> = params.map(|text| text.parse().unwrap());
        let value =
            |json: Option<Json>| json.map(|json| json.decode::<serde_json::Value>().unwrap());
        for level in [None, Some(LogLevel::Debug), Some(LogLevel::Emergency)] {
            if let Some(level) = level {
                dialect.set_log_level(level);
            }
            let written = dialect.request((7, "tools/call"), params.as_ref(), token, &[]);
            let read = envelope::read(written.into());
            let Ok(Received::One(Message::Request(request))) = read else { panic!("no request") };
            let params = value(dialect.params(params.as_ref(), token, &[]));
            assert_eq!(value(request.params), params);
            let told = params.and_then(|params| params.get("_meta")?.get(key::LOG_LEVEL).cloned());
            let is_modern = revision.era() == Era::Modern;
            assert_eq!(told, level.filter(|_| is_modern).map(|level| level.as_str().into()));
        }
    }

    #[test]
    fn a_request_is_worded_the_same_however_it_is_written() {
        for revision in Revision::ALL {
            for token in [None, Some(7)] {
                check(revision, None, token);
                check(revision, Some("{}"), token);
                check(revision, Some("{ }"), token);
                check(revision, Some(r#"{"name":"a","arguments":{"x":[1]}}"#), token);
                check(revision, Some(r#"{"_meta":{"mine":1},"name":"a"}"#), token);
            }
        }
    }
}
