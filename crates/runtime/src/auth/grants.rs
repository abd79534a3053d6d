//! The grants that need no person (client credentials, workload identity, enterprise-managed), and
//! the renewal of tokens.
//!
//! A grant is never replaced by another one after a refusal, and never repeated by itself.

use url::Url;
use wharf_config::{ClientOrigin, GrantKind, OAuthClient, Secret};
use wharf_protocol::transport::HttpClient;

use super::dpop::DpopKey;
use super::error::SignInError;
use super::options::{IdentityProvider, OAuthSettings};
use super::requests::{OAuthRequests, safe_url};
use super::token::{
    ClientIdentity, Form, IssuedToken, fields, invalid, post, request_token, token,
};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// What every token request of a server needs.
pub(super) struct TokenContext<'a> {
    pub(super) requests: &'a OAuthRequests,
    pub(super) endpoint: &'a Url,
    pub(super) client: ClientIdentity<'a>,
    pub(super) resource: Option<&'a str>,
    pub(super) scopes: &'a [String],
    pub(super) dpop: Option<&'a DpopKey>,
}

impl TokenContext<'_> {
    /// Requests a token with a grant that needs no person.
    pub(super) async fn without_person(
        &self,
        kind: GrantKind,
        settings: &OAuthSettings,
        http: &HttpClient,
    ) -> Result<IssuedToken, SignInError> {
        let incomplete = |needed| SignInError::Incomplete { grant: kind.word(), needed };
        let mut form: Form = match kind {
            GrantKind::ClientCredentials => vec![("grant_type", "client_credentials".to_owned())],
            GrantKind::JwtBearer => {
                let assertion = settings.assertion.as_ref();
                jwt_bearer(assertion.ok_or_else(|| incomplete("an assertion"))?)
            }
            GrantKind::EnterpriseManaged => {
                let provider = settings.identity_provider.as_ref();
                let provider = provider.ok_or_else(|| incomplete("an identity provider"))?;
                jwt_bearer(&self.exchange(provider, http).await?)
            }
            _ => return Err(SignInError::NotRenewable),
        };
        if !self.scopes.is_empty() {
            form.push(("scope", self.scopes.join(" ")));
        }
        self.request(form).await
    }

    /// Requests the next token with a refresh token.
    pub(super) async fn refresh(&self, refresh_token: &Secret) -> Result<IssuedToken, SignInError> {
        let form = vec![
            ("grant_type", "refresh_token".to_owned()),
            ("refresh_token", refresh_token.expose().to_owned()),
        ];
        self.request(form).await
    }

    /// Sends a token request for the resource.
    pub(super) async fn request(&self, mut form: Form) -> Result<IssuedToken, SignInError> {
        form.extend(self.resource.map(|resource| ("resource", resource.to_owned())));
        request_token(self.requests, self.endpoint, &self.client, &form, self.dpop).await
    }

    /// Exchanges the ID token of the person for an assertion to the issuer (RFC 8693).
    async fn exchange(
        &self,
        provider: &IdentityProvider,
        http: &HttpClient,
    ) -> Result<Secret, SignInError> {
        let needed = "a safe address of the identity provider";
        let grant = GrantKind::EnterpriseManaged.word();
        let endpoint = safe_url(&provider.token_endpoint);
        let endpoint = endpoint.ok_or(SignInError::Incomplete { grant, needed })?;
        let mut form = vec![
            ("grant_type", TOKEN_EXCHANGE.to_owned()),
            ("requested_token_type", ID_JAG.to_owned()),
            ("audience", self.client.issuer.to_owned()),
            ("subject_token", provider.id_token.expose().to_owned()),
            ("subject_token_type", ID_TOKEN.to_owned()),
        ];
        form.extend(self.resource.map(|resource| ("resource", resource.to_owned())));
        if !self.scopes.is_empty() {
            form.push(("scope", self.scopes.join(" ")));
        }
        let client = OAuthClient::new(&provider.client_id, ClientOrigin::Configured);
        let client = ClientIdentity {
            client: &client,
            configured_secret: provider.client_secret.as_ref(),
            key: None,
            issuer: &provider.token_endpoint,
            methods: &[],
            algorithms: &[],
        };
        // The organization names its own provider, wherever that is.
        let requests = OAuthRequests::for_server(http.clone(), &endpoint, None);
        let response = post(&requests, &endpoint, &client, &form, None).await?;
        let response = fields(&endpoint, response)?;
        let kind = response.get("issued_token_type").and_then(|kind| kind.as_str());
        if kind.is_some_and(|kind| kind != ID_JAG) {
            return Err(invalid(&endpoint, "it has a token of another type"));
        }
        let assertion = token(&response, "access_token");
        assertion
            .map_err(|reason| invalid(&endpoint, reason))?
            .ok_or_else(|| invalid(&endpoint, "it has no token"))
    }
}

fn jwt_bearer(assertion: &Secret) -> Form {
    vec![("grant_type", JWT_BEARER.to_owned()), ("assertion", assertion.expose().trim().to_owned())]
}
