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
use url::{Host, Origin, Url};
use wharf_protocol::transport::{
    AddressPolicy, HttpClient, HttpError, HttpPhase, HttpTarget, WebRequest,
};

use super::error::SignInError;
use super::prompt::is_loopback;

/// How many bytes a response may have. The largest metadata in use has some 10 kB.
const MAX_BODY: usize = 512 << 10;

/// How long one request may take, with its response.
pub(super) const REQUEST_LIMIT: Duration = Duration::from_secs(20);

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

/// Sends the requests of one sign-in.
#[derive(Debug, Clone)]
pub(super) struct OAuthRequests {
    client: HttpClient,
    policy: AddressPolicy,
    /// The origins that the configuration names: they may be anywhere.
    configured: Vec<Origin>,
}

/// A response, with its JSON object if it has one.
pub(super) struct OAuthResponse {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) json: Option<Map<String, Value>>,
}

impl OAuthRequests {
    /// Finds out which addresses this server may name, by its own address and not by its name:
    /// what a name resolves to is up to its owner. The server itself, and the issuer if the
    /// configuration names it, may be anywhere.
    pub(super) fn for_server(client: HttpClient, server: &Url, issuer: Option<&str>) -> Self {
        let issuer = issuer.and_then(safe_url);
        let configured = [Some(server), issuer.as_ref()].into_iter().flatten();
        let configured = configured.map(Url::origin).collect();
        Self { client, policy: policy(server), configured }
    }

    /// Tells whether the server may name an address, as far as the address shows it. Names are looked
    /// up when a request is sent; this is also for pages that the person opens.
    pub(super) fn allows(&self, url: &Url) -> bool {
        self.policy == AddressPolicy::Any
            || self.configured.contains(&url.origin())
            || match url.host() {
                Some(Host::Ipv4(address)) => !self.policy.forbids(address.into()),
                Some(Host::Ipv6(address)) => !self.policy.forbids(address.into()),
                Some(Host::Domain(_)) => !is_loopback(url),
                None => false,
            }
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
        let mut request =
            WebRequest { method, target, headers, body, is_secret, policy, limit: MAX_BODY };
        let mut fetched =
            tokio::time::timeout(REQUEST_LIMIT, self.client.fetch(request.clone())).await;
        if let Ok(Err(HttpError::PrivateAddress { .. } | HttpError::LocalAddress { .. })) = fetched
            && self.configured.contains(&url.origin())
        {
            // Nothing was sent. This address may be anywhere, but not lead elsewhere.
            (request.policy, request.is_secret) = (AddressPolicy::Any, true);
            fetched = tokio::time::timeout(REQUEST_LIMIT, self.client.fetch(request)).await;
        }
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

/// Returns which addresses a server may name: all, if it is itself on this machine; those of other
/// machines, if it is in a private network; else only public ones.
fn policy(server: &Url) -> AddressPolicy {
    let address = match server.host() {
        Some(Host::Ipv4(address)) => IpAddr::from(address),
        Some(Host::Ipv6(address)) => IpAddr::from(address).to_canonical(),
        _ if is_loopback(server) => return AddressPolicy::Any,
        _ => return AddressPolicy::Public,
    };
    match address {
        address if address.is_loopback() => AddressPolicy::Any,
        IpAddr::V4(address) if address.is_private() => AddressPolicy::NoLocal,
        IpAddr::V6(address) if address.is_unique_local() => AddressPolicy::NoLocal,
        _ => AddressPolicy::Public,
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

    #[tokio::test(start_paused = true)]
    async fn a_server_that_never_answers_ends_the_request() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/token", listener.local_addr().unwrap());
        let client = HttpClient::new(&wharf_protocol::transport::HttpClientOptions::default());
        let url = Url::parse(&address).unwrap();
        let requests = OAuthRequests::for_server(client, &url, None);
        let error = requests.get(&url).await.err().unwrap();
        assert!(matches!(error, SignInError::Http(HttpError::TimedOut { .. })), "{error:?}");
        assert!(error.is_transient());
    }

    #[test]
    fn a_server_may_name_addresses_like_its_own() {
        for (text, expected) in [
            ("http://localhost:1/mcp", AddressPolicy::Any),
            ("https://[::ffff:127.0.0.1]/mcp", AddressPolicy::Any),
            ("https://192.168.1.7/mcp", AddressPolicy::NoLocal),
            ("https://[fd00::1]/mcp", AddressPolicy::NoLocal),
            ("https://192.0.2.7/mcp", AddressPolicy::Public),
            // What a name resolves to is up to its owner.
            ("https://mcp.example/mcp", AddressPolicy::Public),
        ] {
            assert_eq!(policy(&Url::parse(text).unwrap()), expected, "{text}");
        }
    }

    #[tokio::test]
    async fn only_what_the_configuration_names_may_be_near() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = format!("http://{}", listener.local_addr().unwrap());
        let serving = async move {
            use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await.unwrap();
            let found = b"HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(found).await.unwrap();
        };
        let client = HttpClient::new(&wharf_protocol::transport::HttpClientOptions::default());
        let server = Url::parse("https://mcp.example/mcp").unwrap();
        let url = Url::parse(&format!("{near}/token")).unwrap();
        let requests = OAuthRequests::for_server(client.clone(), &server, None);
        let error = requests.get(&url).await.err().unwrap();
        assert!(
            matches!(
                error,
                SignInError::Http(
                    HttpError::LocalAddress { .. } | HttpError::PrivateAddress { .. }
                )
            ),
            "{error:?}"
        );
        let requests = OAuthRequests::for_server(client, &server, Some(&near));
        // It does not lead elsewhere.
        let (response, ()) = tokio::join!(requests.get(&url), serving);
        assert_eq!(response.unwrap().status, 302);
    }

    #[test]
    fn a_server_on_the_internet_may_not_name_this_machine_or_a_private_network() {
        let check = |server: &str, page: &str, expected: bool| {
            let client = HttpClient::new(&wharf_protocol::transport::HttpClientOptions::default());
            let requests = OAuthRequests::for_server(client, &Url::parse(server).unwrap(), None);
            let found = requests.allows(&Url::parse(page).unwrap());
            assert_eq!(found, expected, "{server} {page}");
        };
        for page in [
            "http://localhost:1/",
            "http://127.0.0.1/",
            "http://[::1]/",
            "https://[::ffff:127.0.0.1]/",
        ] {
            check("https://mcp.example/mcp", page, false);
            check("https://10.0.0.1/mcp", page, false);
            check("http://localhost:2/mcp", page, true);
        }
        check("https://mcp.example/mcp", "https://10.0.0.1/", false);
        check("https://10.0.0.2/mcp", "https://10.0.0.1/", true);
        check("https://mcp.example/mcp", "https://as.example/", true);
    }
}
