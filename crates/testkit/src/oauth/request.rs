//! A request to one of the servers, as it is logged.

use std::collections::BTreeMap;

use http::HeaderMap;
use serde_json::Value;

/// Who received a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OAuthParty {
    /// The MCP server.
    Resource,
    /// The authorization server.
    AuthorizationServer,
    /// Somebody else, who must not get credentials.
    OtherOrigin,
}

/// A request that one of the servers received.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OAuthRequest {
    /// Who received it.
    pub party: OAuthParty,
    /// The HTTP method.
    pub http_method: String,
    /// The path, without the query.
    pub path: String,
    /// The parameters of the query.
    pub query: BTreeMap<String, String>,
    /// The headers; names are in lower case.
    pub headers: BTreeMap<String, String>,
    /// The parameters of a form in the body.
    pub form: BTreeMap<String, String>,
    /// The body.
    pub body: String,
}

/// The parameters and members whose values are secrets.
const SECRET_PARAMETERS: [&str; 10] = [
    "assertion",
    "client_assertion",
    "client_secret",
    "code",
    "code_verifier",
    "device_code",
    "refresh_token",
    "access_token",
    "subject_token",
    "token",
];

impl OAuthRequest {
    pub(super) fn new(party: OAuthParty, head: &http::request::Parts, body: String) -> Self {
        let pairs = |text: &str| {
            url::form_urlencoded::parse(text.as_bytes()).into_owned().collect::<BTreeMap<_, _>>()
        };
        let headers = headers(&head.headers);
        let is_form = headers
            .get("content-type")
            .is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
        Self {
            party,
            http_method: head.method.to_string(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().map(pairs).unwrap_or_default(),
            headers,
            form: if is_form { pairs(&body) } else { BTreeMap::new() },
            body,
        }
    }

    /// Returns a parameter of the form, or an empty text.
    pub fn field(&self, name: &str) -> &str {
        self.form.get(name).map_or("", String::as_str)
    }

    /// Returns a parameter of the query, or an empty text.
    pub fn parameter(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    /// Returns the token in `Authorization`, with its scheme in lower case.
    pub fn authorization(&self) -> Option<(String, &str)> {
        let (scheme, token) = self.headers.get("authorization")?.split_once(' ')?;
        Some((scheme.to_ascii_lowercase(), token.trim()))
    }

    /// Returns the body as JSON, or null.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Returns the secrets in the request.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        let parameters = self.form.iter().chain(&self.query);
        parameters
            .filter(|(name, _)| SECRET_PARAMETERS.contains(&name.as_str()))
            .map(|(_, value)| value.as_str())
            .chain(self.authorization().map(|(_, token)| token))
    }
}

fn headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let texts = headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    texts.collect()
}
