//! What an authorization server knows: clients, codes, grants and their tokens.
//!
//! A refresh token is replaced at each use. Using one again revokes everything of its grant, as a
//! server does that takes the reuse for a theft.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::options::{OAuthServerOptions, RegisteredClient};

/// The state of an authorization server.
#[derive(Debug)]
pub(super) struct OAuthState {
    pub(super) clients: Vec<RegisteredClient>,
    codes: HashMap<String, AuthorizationCode>,
    pub(super) devices: HashMap<String, DeviceRequest>,
    grants: Vec<IssuedGrant>,
    access_tokens: HashMap<String, AccessToken>,
    refresh_tokens: HashMap<String, RefreshToken>,
    /// Assertions of the token exchange that were not used yet.
    pub(super) assertions: BTreeSet<String>,
    secrets: BTreeSet<String>,
    /// Makes the texts of one server differ from those of all others of the process.
    port: u16,
    count: u32,
    options: OAuthServerOptions,
}

/// A code that waits for its client.
#[derive(Debug, Clone)]
pub(super) struct AuthorizationCode {
    pub(super) client_id: String,
    pub(super) redirect_uri: String,
    pub(super) code_challenge: String,
    pub(super) scope: String,
    pub(super) resource: String,
}

/// A device that waits for a person.
#[derive(Debug, Clone)]
pub(super) struct DeviceRequest {
    pub(super) client_id: String,
    pub(super) scope: String,
    pub(super) resource: String,
    pub(super) polls_left: u32,
}

/// What a person, or a client for itself, has allowed.
#[derive(Debug, Clone)]
pub(super) struct IssuedGrant {
    pub(super) client_id: String,
    pub(super) scope: String,
    pub(super) resource: String,
    pub(super) is_revoked: bool,
}

#[derive(Debug)]
struct AccessToken {
    grant: usize,
    expires: Instant,
}

#[derive(Debug)]
struct RefreshToken {
    grant: usize,
    is_used: bool,
}

impl OAuthState {
    pub(super) fn new(options: OAuthServerOptions, port: u16) -> Self {
        Self {
            clients: options.clients.clone(),
            codes: HashMap::new(),
            devices: HashMap::new(),
            grants: Vec::new(),
            access_tokens: HashMap::new(),
            refresh_tokens: HashMap::new(),
            assertions: options.accepted_assertions.iter().cloned().collect(),
            secrets: BTreeSet::new(),
            port,
            count: 0,
            options,
        }
    }

    /// Returns a new text that occurs nowhere else.
    pub(super) fn unique(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind}-{}-{:04}-end", self.port, self.count)
    }

    /// Returns a new text that no output may contain.
    pub(super) fn secret(&mut self, kind: &str) -> String {
        let secret = self.unique(kind);
        self.secrets.insert(secret.clone());
        secret
    }

    /// Records a secret that a client sent.
    pub(super) fn add_secret(&mut self, secret: &str) {
        // Very short values occur in texts by chance.
        if secret.len() >= 8 {
            self.secrets.insert(secret.to_owned());
        }
    }

    pub(super) fn secrets(&self) -> Vec<String> {
        self.secrets.iter().cloned().collect()
    }

    /// Returns a client; an address is the id of a client with a metadata document.
    pub(super) fn client(&self, id: &str) -> Option<RegisteredClient> {
        let known = self.clients.iter().find(|client| client.id == id).cloned();
        let is_document = self.options.client_id_documents && id.starts_with("https://");
        known.or_else(|| is_document.then(|| RegisteredClient::public(id)))
    }

    pub(super) fn add_code(&mut self, code: AuthorizationCode) -> String {
        let text = self.secret("code");
        self.codes.insert(text.clone(), code);
        text
    }

    /// Takes a code, which can be used once.
    pub(super) fn take_code(&mut self, code: &str) -> Option<AuthorizationCode> {
        self.codes.remove(code)
    }

    /// Starts a grant and returns the response with its first tokens.
    pub(super) fn start_grant(&mut self, grant: IssuedGrant, has_refresh: bool) -> Value {
        self.grants.push(grant);
        self.issue(self.grants.len() - 1, has_refresh && self.options.refresh_tokens)
    }

    fn issue(&mut self, grant: usize, has_refresh: bool) -> Value {
        let lifetime = self.options.access_token_lifetime;
        let access = self.secret("access");
        let token = AccessToken { grant, expires: Instant::now() + lifetime };
        self.access_tokens.insert(access.clone(), token);
        let mut response = json!({
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": lifetime.as_secs(),
        });
        let scope = &self.grants[grant].scope;
        if !scope.is_empty() {
            response["scope"] = json!(scope);
        }
        if has_refresh {
            let refresh = self.secret("refresh");
            self.refresh_tokens.insert(refresh.clone(), RefreshToken { grant, is_used: false });
            response["refresh_token"] = json!(refresh);
        }
        response
    }

    /// Replaces a refresh token by new tokens; a second use revokes the grant.
    pub(super) fn refresh(&mut self, token: &str, client_id: &str) -> Option<Value> {
        let known = self.refresh_tokens.get_mut(token)?;
        let (grant, was_used) = (known.grant, known.is_used);
        known.is_used = true;
        if was_used {
            self.grants[grant].is_revoked = true;
        }
        let allowed = &self.grants[grant];
        (!allowed.is_revoked && allowed.client_id == client_id).then(|| self.issue(grant, true))
    }

    /// Returns the grant of a valid access token.
    pub(super) fn grant_of(&self, token: &str) -> Option<&IssuedGrant> {
        let token = self.access_tokens.get(token)?;
        let grant = self.grants.get(token.grant)?;
        (!grant.is_revoked && Instant::now() < token.expires).then_some(grant)
    }

    /// Revokes the grant of a token.
    pub(super) fn revoke(&mut self, token: &str) {
        let access = self.access_tokens.get(token).map(|token| token.grant);
        let grant = access.or_else(|| self.refresh_tokens.get(token).map(|token| token.grant));
        if let Some(grant) = grant {
            self.grants[grant].is_revoked = true;
        }
    }

    pub(super) fn revoke_all(&mut self) {
        for grant in &mut self.grants {
            grant.is_revoked = true;
        }
    }

    pub(super) fn expire_access_tokens(&mut self) {
        let now = Instant::now();
        for token in self.access_tokens.values_mut() {
            token.expires = token.expires.min(now);
        }
    }

    pub(super) fn set_access_token_lifetime(&mut self, lifetime: Duration) {
        self.options.access_token_lifetime = lifetime;
    }

    /// Returns how many grants are not revoked.
    pub(super) fn active_grants(&self) -> usize {
        self.grants.iter().filter(|grant| !grant.is_revoked).count()
    }
}
