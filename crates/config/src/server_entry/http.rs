//! A server that is reached over HTTP.

use crate::secret::Secret;
use crate::server::EntryFields;

use super::{ServerEntry, TypedEntry, literal, set};

/// A server that is reached over HTTP.
///
/// ```
/// use wharf_config::Http;
///
/// let docs = Http::new("https://docs.example/mcp").bearer("token").header("X-Team", "tools");
/// ```
pub type Http = TypedEntry<HttpKind>;

/// Marks an entry of a server with an address.
#[derive(Debug)]
pub enum HttpKind {}

impl Http {
    /// Defines a server by its address: `http://…`, `https://…`, or `unix://…` for a socket.
    pub fn new(url: impl Into<String>) -> Self {
        Self::with_fields(EntryFields {
            kind: Some("http".to_owned()),
            url: Some(literal(url)),
            ..EntryFields::default()
        })
    }

    /// Sends a token with every request, in the header `Authorization`.
    #[must_use]
    pub fn bearer(self, token: impl Into<Secret>) -> Self {
        let value = Secret::new(format!("Bearer {}", token.into().expose()));
        self.header("Authorization", value)
    }

    /// Sends a header with every request.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        set(&mut self.fields.headers, name.into(), &value.into(), str::eq_ignore_ascii_case);
        self
    }

    /// Tries HTTP with server-sent events, the older transport, before Streamable HTTP.
    #[must_use]
    pub fn sse(mut self) -> Self {
        self.fields.kind = Some("sse".to_owned());
        self
    }
}

impl From<Http> for ServerEntry {
    fn from(entry: Http) -> Self {
        entry.erase()
    }
}
