//! The requests of a sign-in: bounded in size and time, to safe addresses only.
//!
//! A server on the internet may name only addresses on the internet: the addresses in its metadata
//! are its claims, and this machine must not be made to contact its own network.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Response};
use serde_json::{Map, Value};
use url::{Host, Url};
use wharf_protocol::transport::{
    AddressPolicy, HttpClient, HttpError, HttpPhase, HttpTarget, WebRequest,
};

use super::error::SignInError;
use super::prompt::is_loopback;

/// How many bytes a response may have. The largest metadata in use has some 10 kB.
const MAX_BODY: usize = 512 << 10;

/// How long one request may take, with its response.
pub(super) const REQUEST_LIMIT: Duration = Duration::from_secs(20);

/// How long the name of the server may be looked up.
const LOOKUP_LIMIT: Duration = Duration::from_secs(5);

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

/// Sends the requests of one sign-in.
#[derive(Debug, Clone)]
pub(super) struct OAuthRequests {
    client: HttpClient,
    policy: AddressPolicy,
}

/// A response, with its JSON object if it has one.
pub(super) struct OAuthResponse {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) json: Option<Map<String, Value>>,
}

impl OAuthRequests {
    /// Finds out which addresses this server may name: all, if it is itself on this machine or in a
    /// private network.
    pub(super) async fn for_server(client: HttpClient, server: &Url) -> Self {
        let policy = if is_near(server).await { AddressPolicy::Any } else { AddressPolicy::Public };
        Self { client, policy }
    }

    /// Tells whether the server may name an address, as far as the address shows it. Names are looked
    /// up when a request is sent; this is also for pages that the person opens.
    pub(super) fn allows(&self, url: &Url) -> bool {
        self.policy == AddressPolicy::Any || !is_near_literally(url)
    }

    /// Requests a document. It has no secrets, so redirects are followed.
    pub(super) async fn get(&self, url: &Url) -> Result<OAuthResponse, SignInError> {
        let headers = HeaderMap::from_iter([(ACCEPT, JSON)]);
        self.send(Method::GET, url, headers, Bytes::new()).await
    }

    /// Sends a form.
    pub(super) async fn post_form(
        &self,
        url: &Url,
        mut headers: HeaderMap,
        body: String,
    ) -> Result<OAuthResponse, SignInError> {
        headers.insert(ACCEPT, JSON);
        headers.insert(CONTENT_TYPE, FORM);
        self.send(Method::POST, url, headers, body.into()).await
    }

    /// Sends a JSON object.
    pub(super) async fn post_json(
        &self,
        url: &Url,
        body: &Value,
    ) -> Result<OAuthResponse, SignInError> {
        let headers = HeaderMap::from_iter([(ACCEPT, JSON), (CONTENT_TYPE, JSON)]);
        self.send(Method::POST, url, headers, body.to_string().into()).await
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<OAuthResponse, SignInError> {
        let invalid = |reason: &str| SignInError::InvalidResponse {
            address: shown(url),
            reason: reason.to_owned(),
        };
        let target = HttpTarget::network(url.clone()).map_err(|_| invalid("not an address"))?;
        let origin = target.origin().clone();
        let is_secret = method != Method::GET;
        let policy = self.policy;
        let request =
            WebRequest { method, target, headers, body, is_secret, policy, limit: MAX_BODY };
        let fetched = tokio::time::timeout(REQUEST_LIMIT, self.client.fetch(request)).await;
        let (phase, limit) = (HttpPhase::Answer, REQUEST_LIMIT);
        let response = fetched.unwrap_or(Err(HttpError::TimedOut { origin, phase, limit }));
        Ok(read(&response?))
    }
}

fn read(response: &Response<Bytes>) -> OAuthResponse {
    let json = match serde_json::from_slice(response.body()) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    };
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    OAuthResponse { status, headers, json }
}

/// Tells whether a failed request may work later.
pub(super) fn never_sent(error: &SignInError) -> bool {
    matches!(error, SignInError::Http(error) if HttpError::never_sent(error))
}

/// Renders an address without its query, which may have secrets.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // These fail only for addresses without a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// Parses an address from a server: `https`, or `http` on this machine; without user information
/// and fragment.
pub(super) fn safe_url(text: &str) -> Option<Url> {
    // The parser skips these characters; other parsers do not.
    if text.contains(|c: char| c == '\\' || c.is_control()) {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let is_secure = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
    let has_user = !url.username().is_empty() || url.password().is_some();
    (is_secure && !has_user && url.fragment().is_none()).then_some(url)
}

/// Tells whether an address is of this machine or a private network.
fn is_near_address(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let is_private = match address {
        IpAddr::V4(address) => address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
    };
    is_private || address.is_loopback() || address.is_unspecified()
}

/// Tells whether the text of an address shows that it is on this machine or in a private network.
fn is_near_literally(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => is_near_address(address.into()),
        Some(Host::Ipv6(address)) => is_near_address(address.into()),
        Some(Host::Domain(_)) => is_loopback(url),
        None => true,
    }
}

/// Tells whether a server is on this machine or in a private network.
async fn is_near(server: &Url) -> bool {
    let Some(Host::Domain(name)) = server.host() else { return is_near_literally(server) };
    if is_loopback(server) {
        return true;
    }
    let port = server.port_or_known_default().unwrap_or(443);
    let lookup = tokio::net::lookup_host((name, port));
    match tokio::time::timeout(LOOKUP_LIMIT, lookup).await {
        Ok(Ok(mut found)) => found.any(|address| is_near_address(address.ip())),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_secure_addresses_and_those_of_this_machine_are_safe() {
        let check = |text: &str, expected: bool| {
            assert_eq!(safe_url(text).is_some(), expected, "{text}");
        };
        check("https://as.example/token", true);
        check("http://localhost:1/token", true);
        check("http://127.0.0.1:1/token", true);
        check("http://as.example/token", false);
        check("http://10.0.0.1/token", false);
        check("ftp://as.example/", false);
        check("https://user@as.example/", false);
        check("https://as.example/#x", false);
        check("https://a.example\\@b.example/", false);
        check("/token", false);
    }

    #[test]
    fn a_server_on_the_internet_may_not_name_this_machine_or_a_private_network() {
        let client = HttpClient::new(&wharf_protocol::transport::HttpClientOptions::default());
        let check = |text: &str, expected: bool| {
            let allows = |policy| {
                let requests = OAuthRequests { client: client.clone(), policy };
                requests.allows(&Url::parse(text).unwrap())
            };
            assert_eq!(allows(AddressPolicy::Public), expected, "{text}");
            assert!(allows(AddressPolicy::Any), "{text}");
        };
        check("https://as.example/authorize", true);
        check("https://192.0.2.7/authorize", true);
        for near in ["http://localhost:8080/", "https://10.0.0.1/", "https://[::ffff:127.0.0.1]/"] {
            check(near, false);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_never_answers_ends_the_request() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/token", listener.local_addr().unwrap());
        let client = HttpClient::new(&wharf_protocol::transport::HttpClientOptions::default());
        let url = Url::parse(&address).unwrap();
        let requests = OAuthRequests::for_server(client, &url).await;
        let error = requests.get(&url).await.err().unwrap();
        assert!(matches!(error, SignInError::Http(HttpError::TimedOut { .. })), "{error:?}");
        assert!(error.is_transient());
    }

    #[tokio::test]
    async fn a_server_in_a_private_network_may_name_private_addresses() {
        for (text, expected) in [
            ("http://localhost:1/mcp", true),
            ("https://192.168.1.7/mcp", true),
            ("https://[fd00::1]/mcp", true),
            ("https://192.0.2.7/mcp", false),
        ] {
            assert_eq!(is_near(&Url::parse(text).unwrap()).await, expected, "{text}");
        }
    }
}
