//! How parameters are worded: in the modern era every request says who asks and what it can do.

use crate::Json;
use crate::era::{Era, Revision};
use crate::view::send::{ClientCapabilities, ClientInfo, RequestMeta};
use crate::view::{meta::key, with_meta};

/// The wording of one revision, for one client.
pub(crate) struct Dialect {
    introduction: Option<RequestMeta>,
}

impl Dialect {
    pub(crate) fn new(
        revision: Revision,
        capabilities: &ClientCapabilities,
        client: &ClientInfo,
    ) -> Self {
        let is_modern = revision.era() == Era::Modern;
        let introduction = is_modern.then(|| RequestMeta::new(revision, capabilities, client));
        Self { introduction }
    }

    /// Words the parameters of a request.
    pub(crate) fn params(
        &self,
        params: Option<&Json>,
        progress_token: Option<u64>,
        meta: &[(String, Json)],
    ) -> Option<Json> {
        let token = progress_token.map(|token| token.to_string());
        let mut more: Vec<(&str, &str)> =
            meta.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        more.extend(token.as_deref().map(|token| (key::PROGRESS_TOKEN, token)));
        match &self.introduction {
            Some(introduction) => Some(introduction.apply(params, &more)),
            None if more.is_empty() => params.cloned(),
            None => Some(with_meta(params, &more)),
        }
    }
}
