//! Finds out who signs people in to a server.
//!
//! First the metadata of the server: at the address of the challenge, else at the well-known
//! addresses with the path and at the root. Then the metadata of the issuer that it names, in the
//! order of the specification. A server without metadata is asked as revision 2025-03-26 says.
//!
//! Metadata are claims: the resource must be the server, and the issuer the one that was asked.
//! Otherwise a malicious server could let the person sign in at an honest issuer and receive the
//! code.

use serde_json::{Map, Value};
use url::Url;
use wharf_config::Problem;
use wharf_protocol::transport::HttpError;

use super::challenge::ChallengeInfo;
use super::error::{MetadataFlaw, SignInError, TriedAddress};
use super::metadata::{IssuerMetadata, ResourceMetadata};
use super::requests::{OAuthRequests, OAuthResponse, safe_url, shown};

/// How many issuers of a server are tried.
const MAX_ISSUERS: usize = 3;

/// What was found out about a server.
#[derive(Debug)]
pub(super) struct Discovery {
    /// The resource, exactly as the server names it; `None` if it has no metadata.
    pub(super) resource: Option<String>,
    /// The scopes that the server offers.
    pub(super) scopes: Vec<String>,
    pub(super) wants_dpop: bool,
    pub(super) issuer: IssuerMetadata,
    /// Whether the addresses of the issuer are guessed.
    pub(super) is_guessed: bool,
    pub(super) warnings: Vec<Problem>,
    pub(super) tried: Vec<TriedAddress>,
}

/// Looks for metadata.
struct Search<'a> {
    requests: &'a OAuthRequests,
    server: &'a Url,
    tried: Vec<TriedAddress>,
    warnings: Vec<Problem>,
}

/// Finds out who signs people in to a server.
pub(super) async fn discover(
    requests: &OAuthRequests,
    server: &Url,
    challenge: &ChallengeInfo,
) -> Result<Discovery, SignInError> {
    let mut search = Search { requests, server, tried: Vec::new(), warnings: Vec::new() };
    let resource = search.resource(challenge).await?;
    let issuers = resource.as_ref().map(|found| found.issuers.clone()).unwrap_or_default();
    let (issuer, is_guessed) = if issuers.is_empty() {
        if resource.is_some() {
            search.warn("resource-without-issuer", "the metadata of the server name no issuer");
        }
        search.older_issuer().await?
    } else {
        (search.issuer(&issuers).await?, false)
    };
    let Search { tried, warnings, .. } = search;
    let resource = resource.unwrap_or_default();
    Ok(Discovery {
        resource: resource.resource,
        scopes: resource.scopes,
        wants_dpop: resource.wants_dpop || challenge.wants_dpop,
        issuer,
        is_guessed,
        warnings,
        tried,
    })
}

impl Search<'_> {
    /// Finds the metadata of the server.
    async fn resource(
        &mut self,
        challenge: &ChallengeInfo,
    ) -> Result<Option<ResourceMetadata>, SignInError> {
        let named = challenge.resource_metadata.as_deref();
        let named_url = named.and_then(safe_url);
        if named.is_some() && named_url.is_none() {
            self.warn("unsafe-metadata-address", "the challenge names an unsafe address");
        }
        let known = well_known_resources(self.server);
        let candidates = named_url.into_iter().chain(known);
        let mut done: Vec<Url> = Vec::new();
        for url in candidates {
            if done.contains(&url) {
                continue;
            }
            if let Some(document) = self.document(&url).await? {
                let mut found = ResourceMetadata::read(&document);
                self.check_resource(&url, &mut found)?;
                return Ok(Some(found));
            }
            done.push(url);
        }
        Ok(None)
    }

    /// Checks that metadata are about this server.
    fn check_resource(
        &mut self,
        url: &Url,
        found: &mut ResourceMetadata,
    ) -> Result<(), SignInError> {
        let Some(resource) = &found.resource else {
            self.warn("metadata-without-resource", "the metadata of the server have no resource");
            return Ok(());
        };
        if is_resource_of(resource, self.server) {
            if !is_same_path(resource, self.server) {
                let message = "the token will be for a larger part of the site than the server";
                self.warn("resource-is-parent", message);
            }
            return Ok(());
        }
        let flaw = MetadataFlaw::Resource { found: resource.clone() };
        Err(SignInError::InvalidMetadata { address: shown(url), flaw })
    }

    /// Finds the metadata of one of the issuers that the server names.
    async fn issuer(&mut self, issuers: &[String]) -> Result<IssuerMetadata, SignInError> {
        for issuer in issuers.iter().take(MAX_ISSUERS) {
            let Some(base) = safe_url(issuer).filter(|url| url.query().is_none()) else {
                self.tried.push(TriedAddress {
                    address: issuer.chars().take(200).collect(),
                    found: "not a safe address".to_owned(),
                });
                continue;
            };
            for url in well_known_issuers(&base) {
                let Some(document) = self.document(&url).await? else { continue };
                let read = IssuerMetadata::read(&document);
                let invalid = |flaw| SignInError::InvalidMetadata { address: shown(&url), flaw };
                let metadata = read.map_err(invalid)?;
                if metadata.issuer != *issuer {
                    // The same address with and without the slash of an empty path.
                    if safe_url(&metadata.issuer).as_ref() != Some(&base) {
                        let (expected, found) = (issuer.clone(), metadata.issuer);
                        return Err(invalid(MetadataFlaw::Issuer { expected, found }));
                    }
                    self.warn("issuer-slash", "the issuer is written in two ways");
                }
                self.check_endpoints(&metadata).map_err(invalid)?;
                return Ok(metadata);
            }
        }
        Err(self.not_discovered())
    }

    /// Finds the issuer of a server without metadata, as in revision 2025-03-26: at its origin.
    async fn older_issuer(&mut self) -> Result<(IssuerMetadata, bool), SignInError> {
        let mut origin = self.server.clone();
        origin.set_path("/");
        origin.set_query(None);
        let Some(origin) = safe_url(origin.as_str()) else { return Err(self.not_discovered()) };
        for url in well_known_issuers(&origin) {
            let Some(document) = self.document(&url).await? else { continue };
            let invalid = |flaw| SignInError::InvalidMetadata { address: shown(&url), flaw };
            let mut metadata = IssuerMetadata::read(&document).map_err(invalid)?;
            self.check_endpoints(&metadata).map_err(invalid)?;
            if safe_url(&metadata.issuer).as_ref() == Some(&origin) {
                return Ok((metadata, false));
            }
            let expected = origin.origin().ascii_serialization();
            // With another issuer, a code could go to the wrong party, unless there is one party.
            if metadata.endpoints().any(|it| it.origin() != origin.origin()) {
                let found = metadata.issuer;
                return Err(invalid(MetadataFlaw::Issuer { expected, found }));
            }
            // Nobody has confirmed that name: what belongs to its owner must not come here.
            metadata.answers_as = Some(std::mem::replace(&mut metadata.issuer, expected));
            self.warn("issuer-elsewhere", "the server names another issuer than itself; ignored");
            return Ok((metadata, false));
        }
        let guessed = IssuerMetadata::of_defaults(&origin);
        guessed.map(|metadata| (metadata, true)).ok_or_else(|| self.not_discovered())
    }

    /// Checks that the server may name the addresses of its issuer.
    fn check_endpoints(&self, metadata: &IssuerMetadata) -> Result<(), MetadataFlaw> {
        match metadata.endpoints().find(|url| !self.requests.allows(url)) {
            Some(url) => Err(MetadataFlaw::Private { address: shown(url) }),
            None => Ok(()),
        }
    }

    /// Requests a document; `None` if there is none at this address.
    async fn document(&mut self, url: &Url) -> Result<Option<Map<String, Value>>, SignInError> {
        let mut note = |found: String| {
            self.tried.push(TriedAddress { address: shown(url), found });
        };
        match self.requests.get(url).await {
            Ok(OAuthResponse { status: 200, json: Some(document), .. }) => Ok(Some(document)),
            Ok(OAuthResponse { status: 200, .. }) => {
                note("not a JSON object".to_owned());
                Ok(None)
            }
            Ok(OAuthResponse { status, .. }) if status == 429 || status >= 500 => {
                // The document may be there; another one must not be used instead.
                Err(SignInError::Status { address: shown(url), status })
            }
            Ok(OAuthResponse { status, .. }) => {
                note(format!("status {status}"));
                Ok(None)
            }
            // A page for people redirects to another page; there is no document here.
            Err(SignInError::Http(error @ HttpError::Redirected { .. })) => {
                note(error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn warn(&mut self, code: &'static str, message: &str) {
        self.warnings.push(Problem::warning(code, message));
    }

    fn not_discovered(&mut self) -> SignInError {
        SignInError::NotDiscovered { tried: std::mem::take(&mut self.tried) }
    }
}

/// Returns the well-known addresses of the metadata of a server: with its path, and at the root.
fn well_known_resources(server: &Url) -> Vec<Url> {
    const NAME: &str = "/.well-known/oauth-protected-resource";
    let path = server.path().trim_end_matches('/');
    let mut found = vec![at(server, &format!("{NAME}{path}"))];
    if !path.is_empty() {
        found.push(at(server, NAME));
    }
    found.into_iter().filter(|url| safe_url(url.as_str()).is_some()).collect()
}

/// Returns the well-known addresses of the metadata of an issuer, in the order of the specification.
fn well_known_issuers(issuer: &Url) -> Vec<Url> {
    const OAUTH: &str = "/.well-known/oauth-authorization-server";
    const OPENID: &str = "/.well-known/openid-configuration";
    let path = issuer.path().trim_end_matches('/');
    if path.is_empty() {
        return vec![at(issuer, OAUTH), at(issuer, OPENID)];
    }
    vec![
        at(issuer, &format!("{OAUTH}{path}")),
        at(issuer, &format!("{OPENID}{path}")),
        at(issuer, &format!("{path}{OPENID}")),
    ]
}

fn at(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// Tells whether a resource is the server, or a part of its address that covers it.
fn is_resource_of(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    if resource.origin() != server.origin() || resource.fragment().is_some() {
        return false;
    }
    let segments = |url: &Url| -> Vec<String> {
        url.path().trim_end_matches('/').split('/').map(str::to_owned).collect()
    };
    let is_query_same = resource.query().is_none() || resource.query() == server.query();
    is_query_same && segments(server).starts_with(&segments(&resource))
}

/// Tells whether a resource has the path of the server.
fn is_same_path(resource: &str, server: &Url) -> bool {
    let path = |url: &Url| url.path().trim_end_matches('/').to_owned();
    Url::parse(resource).is_ok_and(|resource| path(&resource) == path(server))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn metadata_of_a_server_are_looked_for_with_its_path_and_at_the_root() {
        let check = |server: &str, expected: &[&str]| {
            let found = well_known_resources(&url(server));
            assert_eq!(found.iter().map(Url::as_str).collect::<Vec<_>>(), expected);
        };
        check(
            "https://a.example/v1/mcp/?key=1",
            &[
                "https://a.example/.well-known/oauth-protected-resource/v1/mcp",
                "https://a.example/.well-known/oauth-protected-resource",
            ],
        );
        check("https://a.example", &["https://a.example/.well-known/oauth-protected-resource"]);
        check("http://a.example/mcp", &[]);
    }

    #[test]
    fn metadata_of_an_issuer_are_looked_for_in_the_order_of_the_specification() {
        let check = |issuer: &str, expected: &[&str]| {
            let found = well_known_issuers(&url(issuer));
            assert_eq!(found.iter().map(Url::as_str).collect::<Vec<_>>(), expected);
        };
        check(
            "https://as.example/tenant",
            &[
                "https://as.example/.well-known/oauth-authorization-server/tenant",
                "https://as.example/.well-known/openid-configuration/tenant",
                "https://as.example/tenant/.well-known/openid-configuration",
            ],
        );
        check(
            "https://as.example",
            &[
                "https://as.example/.well-known/oauth-authorization-server",
                "https://as.example/.well-known/openid-configuration",
            ],
        );
    }

    #[test]
    fn a_resource_is_the_server_or_a_part_of_its_address() {
        let check = |resource: &str, expected: bool| {
            let server = url("https://a.example/v1/mcp?key=1");
            assert_eq!(is_resource_of(resource, &server), expected, "{resource}");
        };
        check("https://a.example/v1/mcp", true);
        check("https://a.example/v1/mcp?key=1", true);
        check("https://A.example:443/v1/", true);
        check("https://a.example", true);
        check("https://a.example/v1/mc", false);
        check("https://a.example/v1/mcp/more", false);
        check("https://a.example/v1/mcp?key=2", false);
        check("https://evil.example/v1/mcp", false);
        check("http://a.example/v1/mcp", false);
        check("mcp", false);
    }
}
