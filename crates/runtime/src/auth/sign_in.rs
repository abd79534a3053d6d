//! One sign-in: discovery, registration, the grant. Nothing is stored here; a failure leaves
//! everything as it was.

use std::time::Duration;

use url::Url;
use wharf_config::{Credential, GrantKind, OAuthClient, OAuthGrant, Problem, TokenType};
use wharf_protocol::transport::HttpClient;

use super::challenge::ChallengeInfo;
use super::clock::now;
use super::device;
use super::discovery::{Discovery, discover};
use super::dpop::{ALGORITHM, DpopKey};
use super::error::{MetadataFlaw, SignInError};
use super::grants::TokenContext;
use super::issuer_trust::IssuerTrust;
use super::options::{OAuthSettings, SIGN_IN_LIMIT, SignInMethod, SignInOptions, is_scope};
use super::page::{RedirectTarget, SignInPage};
use super::prompt::{SignInHost, SignInProgress, is_loopback};
use super::registration::{Registration, configured_key, configured_secret};
use super::requests::{OAuthRequests, shown};
use super::token::{ClientIdentity, IssuedToken};

/// What a sign-in is for.
pub(super) struct SignInRun<'a> {
    pub(super) http: &'a HttpClient,
    /// The address of the server.
    pub(super) server: &'a Url,
    /// What the credential will be bound to.
    pub(super) resource: &'a str,
    pub(super) settings: &'a OAuthSettings,
    pub(super) options: &'a SignInOptions,
    pub(super) challenge: &'a ChallengeInfo,
    /// The credential that is stored now.
    pub(super) stored: Option<&'a Credential>,
    /// Whether the issuer does not know the client any more.
    pub(super) is_client_forgotten: bool,
    pub(super) host: &'a SignInHost,
}

/// A new credential, and what was noticed on the way.
pub(super) struct NewCredential {
    pub(super) credential: Credential,
    pub(super) warnings: Vec<Problem>,
}

/// A client for one grant.
struct GrantPlan {
    kind: GrantKind,
    client: OAuthClient,
    redirect: Option<RedirectTarget>,
}

impl SignInRun<'_> {
    /// Signs in.
    pub(super) async fn run(&self) -> Result<NewCredential, SignInError> {
        if self.server.scheme() != "https" && !is_loopback(self.server) {
            return Err(SignInError::Cleartext);
        }
        let pinned = self.settings.issuer.as_deref();
        let requests = OAuthRequests::for_server(self.http.clone(), self.server, pinned);
        self.host.show(&SignInProgress::Discovering);
        let discovery = discover(&requests, self.server, self.challenge).await?;
        for warning in &discovery.warnings {
            self.host.show(&SignInProgress::Warning(warning.clone()));
        }
        let kind = self.kind();
        let trust =
            IssuerTrust { server: self.server, settings: self.settings, stored: self.stored };
        trust.check(&discovery.issuer.issuer, kind)?;
        let scopes = self.scopes(&discovery, kind);
        let plan = self.plan(&requests, &discovery, kind, &scopes).await?;
        let dpop = dpop_key(&discovery)?;
        // The query may have keys, which are not for the issuer.
        let resource = discovery.resource.clone().unwrap_or_else(|| shown(self.server));
        let context = TokenContext {
            requests: &requests,
            endpoint: &discovery.issuer.token_endpoint,
            client: self.identity(&plan.client, &discovery),
            resource: Some(&resource),
            scopes: &scopes,
            dpop: dpop.as_ref(),
        };
        let issued = self.grant(&context, &plan, &discovery).await?;
        let mut client = plan.client;
        client.auth_method = Some(self.identity(&client, &discovery).method_name());
        let mut grant = OAuthGrant::new(kind, discovery.issuer.token_endpoint.as_str(), client);
        grant.revocation_endpoint = discovery.issuer.revocation_endpoint.map(Into::into);
        grant.resource = Some(resource);
        grant.scopes = scopes;
        if issued.token_type == TokenType::Dpop {
            grant.dpop_key = dpop.map(|key| key.stored().clone());
        }
        let token = issued.access_token.clone();
        let mut credential = Credential::oauth(self.resource, token, grant);
        credential.issuer = Some(discovery.issuer.issuer);
        take(&mut credential, issued);
        Ok(NewCredential { credential, warnings: discovery.warnings })
    }

    /// Returns the grant. The metadata do not choose it: they are claims of the server.
    fn kind(&self) -> GrantKind {
        match self.options.method {
            SignInMethod::DeviceCode => return GrantKind::DeviceCode,
            SignInMethod::PageWithoutBrowser => return GrantKind::AuthorizationCode,
            SignInMethod::Automatic => {}
        }
        let settings = self.settings;
        let configured = settings.grant.or_else(|| settings.grant_without_person());
        configured.unwrap_or(GrantKind::AuthorizationCode)
    }

    /// Selects the scopes to request: what the person or the entry says, else those of the challenge
    /// with those that are granted already, else those that the server offers. Without a person, who
    /// could say no, the server chooses none.
    fn scopes(&self, discovery: &Discovery, kind: GrantKind) -> Vec<String> {
        let configured = self.options.scopes.as_ref().or(self.settings.scopes.as_ref());
        let granted = self.stored.and_then(|stored| stored.oauth.as_ref());
        let granted = granted.map(|grant| grant.scopes.clone()).unwrap_or_default();
        if !kind.needs_person() {
            return configured.cloned().unwrap_or(granted);
        }
        let mut scopes = match configured {
            Some(scopes) => scopes.clone(),
            None if self.challenge.scopes.is_empty() => discovery.scopes.clone(),
            None => Vec::new(),
        };
        let is_step_up = self.challenge.is_insufficient_scope();
        let more = self.challenge.scopes.iter().filter(|_| configured.is_none() || is_step_up);
        let kept = granted.iter().filter(|_| is_step_up);
        for scope in kept.chain(more) {
            if !scopes.contains(scope) {
                scopes.push(scope.clone());
            }
        }
        let offline = "offline_access";
        let is_offered = discovery.issuer.scopes.iter().any(|scope| scope == offline);
        let is_listed = scopes.iter().any(|scope| scope == offline);
        if configured.is_none() && is_offered && !is_listed && !scopes.is_empty() {
            scopes.push(offline.to_owned());
        }
        scopes.retain(|scope| is_scope(scope));
        scopes
    }

    /// Finds the client, and listens for the answer of a page.
    async fn plan(
        &self,
        requests: &OAuthRequests,
        discovery: &Discovery,
        kind: GrantKind,
        scopes: &[String],
    ) -> Result<GrantPlan, SignInError> {
        let earlier = self.stored.and_then(|stored| {
            let grant = stored.oauth.as_ref()?;
            let is_same = stored.issuer.as_ref() == Some(&discovery.issuer.issuer);
            grant.client.redirect_uri.as_deref().filter(|_| is_same)
        });
        let redirect = match kind {
            GrantKind::AuthorizationCode => {
                let flaw = discovery.issuer.check_pkce();
                flaw.map_err(|flaw| invalid_issuer(discovery, flaw))?;
                Some(RedirectTarget::open(self.settings, earlier).await?)
            }
            _ => None,
        };
        let grants: &[&str] = match kind {
            GrantKind::AuthorizationCode => &["authorization_code", "refresh_token"],
            GrantKind::DeviceCode => {
                &["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"]
            }
            _ => &[],
        };
        let registration = Registration {
            discovery,
            settings: self.settings,
            stored: self.stored.filter(|_| !self.is_client_forgotten),
            redirect_uri: redirect.as_ref().map(RedirectTarget::address),
            grants,
            scopes,
        };
        let client = match registration.known() {
            Some(client) => client,
            // A registered client is one for people.
            None if !kind.needs_person() => {
                let issuer = discovery.issuer.issuer.clone();
                return Err(SignInError::ClientIdNeeded { issuer });
            }
            None => {
                let issuer = discovery.issuer.issuer.clone();
                self.host.show(&SignInProgress::Registering { issuer });
                registration.register(requests).await?
            }
        };
        Ok(GrantPlan { kind, client, redirect })
    }

    /// Gets the token.
    async fn grant(
        &self,
        context: &TokenContext<'_>,
        plan: &GrantPlan,
        discovery: &Discovery,
    ) -> Result<IssuedToken, SignInError> {
        let limit = self.options.limit.unwrap_or(SIGN_IN_LIMIT);
        let late = |_| SignInError::TimedOut { limit };
        match (plan.kind, &plan.redirect) {
            (GrantKind::AuthorizationCode, Some(redirect)) => {
                let page = SignInPage {
                    issuer: &discovery.issuer,
                    is_guessed: discovery.is_guessed,
                    must_name_issuer: discovery.issuer.names_itself
                        || !(self.settings.issuer.is_some() || discovery.issuer.is_one_party()),
                    client_id: &plan.client.id,
                    redirect,
                    scopes: context.scopes,
                    resource: context.resource,
                };
                let uses_browser = self.options.method == SignInMethod::Automatic;
                let answer = page.answer(self.host, uses_browser);
                let answer = tokio::time::timeout(limit, answer).await.map_err(late)??;
                self.host.show(&SignInProgress::RequestingToken);
                let form = vec![
                    ("grant_type", "authorization_code".to_owned()),
                    ("code", answer.code.expose().to_owned()),
                    ("redirect_uri", redirect.address().to_owned()),
                    ("code_verifier", answer.verifier.expose().to_owned()),
                ];
                context.request(form).await
            }
            (GrantKind::DeviceCode, _) => {
                let waiting = device::sign_in(context, &discovery.issuer, self.host);
                let limit = limit.max(Duration::from_secs(1));
                tokio::time::timeout(limit, waiting).await.map_err(late)?
            }
            (kind, _) => context.without_person(kind, self.settings, self.http).await,
        }
    }

    fn identity<'a>(
        &'a self,
        client: &'a OAuthClient,
        discovery: &'a Discovery,
    ) -> ClientIdentity<'a> {
        ClientIdentity {
            client,
            configured_secret: configured_secret(client, self.settings),
            key: configured_key(client, self.settings),
            issuer: &discovery.issuer.issuer,
            methods: &discovery.issuer.auth_methods,
            algorithms: &discovery.issuer.signing_algorithms,
        }
    }
}

/// Puts an issued token into a credential. An issuer that names no new refresh token lets the old
/// one stay valid.
pub(super) fn take(credential: &mut Credential, issued: IssuedToken) {
    credential.token = issued.access_token;
    if let Some(grant) = &mut credential.oauth {
        grant.token_type = issued.token_type;
        grant.expires_at = issued.expires_at;
        grant.issued_at = Some(now());
        if issued.refresh_token.is_some() {
            grant.refresh_token = issued.refresh_token;
        }
        if let Some(scopes) = issued.scopes {
            grant.scopes = scopes;
        }
    }
}

/// Makes a key, if the server wants proofs of possession and the issuer can check them.
fn dpop_key(discovery: &Discovery) -> Result<Option<DpopKey>, SignInError> {
    let is_offered = discovery.issuer.dpop_algorithms.iter().any(|it| it == ALGORITHM);
    if !(discovery.wants_dpop && is_offered) {
        return Ok(None);
    }
    Ok(Some(DpopKey::generate()?))
}

fn invalid_issuer(discovery: &Discovery, flaw: MetadataFlaw) -> SignInError {
    SignInError::InvalidMetadata { address: discovery.issuer.issuer.clone(), flaw }
}
