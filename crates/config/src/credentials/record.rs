//! One stored credential: a fixed token, or what a sign-in with OAuth brought.
//!
//! The types do not implement `Serialize`, so that no secret is written by accident. A store writes
//! the text of [`Credential::to_json`]. Fields that this version does not know are kept.

use std::fmt;

use serde_json::{Map, Value};

use super::fields::{Fields, InvalidField, WrittenFields};
use crate::secret::{Secret, redact_command, redact_url};

/// A token and the server it is bound to.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Credential {
    /// The address, or the launch identity of a program, that it is bound to.
    pub resource: String,
    /// Who issued it, if known from signing in.
    pub issuer: Option<String>,
    /// The account it belongs to.
    pub account: Option<String>,
    /// The token.
    pub token: Secret,
    /// How the token was obtained and is renewed; none for a fixed token.
    pub oauth: Option<Box<OAuthGrant>>,
    unknown: Map<String, Value>,
}

/// How a token was obtained with OAuth, and how it is renewed.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OAuthGrant {
    /// The grant.
    pub kind: GrantKind,
    /// How the token is sent.
    pub token_type: TokenType,
    /// When the token expires, in seconds since 1970; none if the server did not say.
    pub expires_at: Option<u64>,
    /// When the token was issued, in seconds since 1970.
    pub issued_at: Option<u64>,
    /// The token that brings the next access token.
    pub refresh_token: Option<Secret>,
    /// The scopes of the token.
    pub scopes: Vec<String>,
    /// Where tokens are requested.
    pub token_endpoint: String,
    /// Where tokens are revoked, if the issuer offers it.
    pub revocation_endpoint: Option<String>,
    /// The value of `resource` in token requests, if it is sent.
    pub resource: Option<String>,
    /// The private key to which the token is bound, in PKCS#8 and base64.
    pub dpop_key: Option<Secret>,
    /// The client that the token was issued to.
    pub client: OAuthClient,
    unknown: Map<String, Value>,
}

/// A client that an issuer knows.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OAuthClient {
    /// Its id.
    pub id: String,
    /// How the issuer came to know it.
    pub origin: ClientOrigin,
    /// Its secret. Not stored for a secret that the configuration of the server names.
    pub secret: Option<Secret>,
    /// When the secret expires, in seconds since 1970.
    pub secret_expires_at: Option<u64>,
    /// How it authenticates at the token endpoint (`token_endpoint_auth_method`).
    pub auth_method: Option<String>,
    /// The redirect address that was registered.
    pub redirect_uri: Option<String>,
    /// The token that may change the registration.
    pub registration_token: Option<Secret>,
    /// The address of the registration.
    pub registration_uri: Option<String>,
    unknown: Map<String, Value>,
}

/// The grant that brought a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrantKind {
    /// The person signed in on a page.
    AuthorizationCode,
    /// The person entered a code on another device.
    DeviceCode,
    /// The program signed in with its own credentials.
    ClientCredentials,
    /// The program presented an assertion about its workload.
    JwtBearer,
    /// The identity provider of an organization vouched for the person.
    EnterpriseManaged,
}

/// How a token is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TokenType {
    /// Whoever has it may use it.
    #[default]
    Bearer,
    /// Each request proves the possession of a key (RFC 9449).
    Dpop,
}

/// How an issuer came to know a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientOrigin {
    /// The configuration names it.
    Configured,
    /// Its id is the address of a document about it.
    MetadataDocument,
    /// It was registered by a request (RFC 7591).
    Registered,
}

/// A stored text that is not a credential. The message has no part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a stored credential")]
pub struct InvalidCredential;

impl From<InvalidField> for InvalidCredential {
    fn from(_: InvalidField) -> Self {
        Self
    }
}

impl Credential {
    /// Makes a credential with a fixed token.
    pub fn bearer(resource: impl Into<String>, token: Secret) -> Self {
        Self {
            resource: resource.into(),
            issuer: None,
            account: None,
            token,
            oauth: None,
            unknown: Map::new(),
        }
    }

    /// Makes a credential that was obtained with OAuth.
    pub fn oauth(resource: impl Into<String>, token: Secret, grant: OAuthGrant) -> Self {
        Self { oauth: Some(Box::new(grant)), ..Self::bearer(resource, token) }
    }

    /// Sets the account.
    #[must_use]
    pub fn with_account(self, account: Option<String>) -> Self {
        Self { account, ..self }
    }

    /// Returns all secrets in it, to redact them in other texts.
    pub fn secrets(&self) -> Vec<&Secret> {
        let mut secrets = vec![&self.token];
        if let Some(grant) = &self.oauth {
            let client = &grant.client;
            let others = [&grant.refresh_token, &grant.dpop_key, &client.secret];
            secrets.extend(others.into_iter().chain([&client.registration_token]).flatten());
        }
        secrets
    }

    /// Returns it as a JSON object for a store. The text contains the secrets.
    pub fn to_json(&self) -> Secret {
        Secret::new(Value::Object(self.to_fields()).to_string())
    }

    /// Reads the text of [`Credential::to_json`].
    pub fn from_json(text: &Secret) -> Result<Self, InvalidCredential> {
        match serde_json::from_str(text.expose()) {
            Ok(Value::Object(fields)) => Self::from_fields(fields),
            _ => Err(InvalidCredential),
        }
    }

    pub(super) fn to_fields(&self) -> Map<String, Value> {
        let kind = if self.oauth.is_some() { "oauth" } else { "bearer" };
        let mut fields = WrittenFields::over(self.unknown.clone());
        fields.text("type", Some(kind));
        fields.text("resource", Some(&*self.resource));
        fields.text("issuer", self.issuer.as_deref());
        fields.text("account", self.account.as_deref());
        fields.secret("token", Some(&self.token));
        fields.object("oauth", self.oauth.as_ref().map(|grant| grant.to_fields()));
        fields.into_map()
    }

    pub(super) fn from_fields(fields: Map<String, Value>) -> Result<Self, InvalidCredential> {
        let mut fields = Fields::new(fields);
        fields.text("type")?;
        let oauth = fields.object("oauth")?.map(OAuthGrant::from_fields).transpose()?;
        Ok(Self {
            resource: fields.required("resource")?,
            issuer: fields.text("issuer")?,
            account: fields.text("account")?,
            token: Secret::new(fields.required("token")?),
            oauth: oauth.map(Box::new),
            unknown: fields.into_rest(),
        })
    }
}

impl OAuthGrant {
    /// Describes a token that never expires and cannot be refreshed; set the other fields.
    pub fn new(kind: GrantKind, token_endpoint: impl Into<String>, client: OAuthClient) -> Self {
        Self {
            kind,
            token_type: TokenType::Bearer,
            expires_at: None,
            issued_at: None,
            refresh_token: None,
            scopes: Vec::new(),
            token_endpoint: token_endpoint.into(),
            revocation_endpoint: None,
            resource: None,
            dpop_key: None,
            client,
            unknown: Map::new(),
        }
    }

    fn to_fields(&self) -> Map<String, Value> {
        let mut fields = WrittenFields::over(self.unknown.clone());
        fields.text("grant", Some(self.kind.word()));
        fields.text("tokenType", Some(self.token_type.word()));
        fields.number("expiresAt", self.expires_at);
        fields.number("issuedAt", self.issued_at);
        fields.secret("refreshToken", self.refresh_token.as_ref());
        fields.text("scope", Some(&*self.scopes.join(" ")));
        fields.text("tokenEndpoint", Some(&*self.token_endpoint));
        fields.text("revocationEndpoint", self.revocation_endpoint.as_deref());
        fields.text("resource", self.resource.as_deref());
        fields.secret("dpopKey", self.dpop_key.as_ref());
        fields.object("client", Some(self.client.to_fields()));
        fields.into_map()
    }

    fn from_fields(fields: Map<String, Value>) -> Result<Self, InvalidCredential> {
        let mut fields = Fields::new(fields);
        let client = fields.object("client")?.ok_or(InvalidCredential)?;
        let scope = fields.text("scope")?.unwrap_or_default();
        Ok(Self {
            kind: GrantKind::from_word(&fields.required("grant")?).ok_or(InvalidCredential)?,
            token_type: TokenType::from_word(&fields.text("tokenType")?.unwrap_or_default()),
            expires_at: fields.number("expiresAt")?,
            issued_at: fields.number("issuedAt")?,
            refresh_token: fields.secret("refreshToken")?,
            scopes: scope.split_ascii_whitespace().map(str::to_owned).collect(),
            token_endpoint: fields.required("tokenEndpoint")?,
            revocation_endpoint: fields.text("revocationEndpoint")?,
            resource: fields.text("resource")?,
            dpop_key: fields.secret("dpopKey")?,
            client: OAuthClient::from_fields(client)?,
            unknown: fields.into_rest(),
        })
    }
}

impl OAuthClient {
    /// Describes a client without a secret; set the other fields.
    pub fn new(id: impl Into<String>, origin: ClientOrigin) -> Self {
        Self {
            id: id.into(),
            origin,
            secret: None,
            secret_expires_at: None,
            auth_method: None,
            redirect_uri: None,
            registration_token: None,
            registration_uri: None,
            unknown: Map::new(),
        }
    }

    fn to_fields(&self) -> Map<String, Value> {
        let mut fields = WrittenFields::over(self.unknown.clone());
        fields.text("id", Some(&*self.id));
        fields.text("origin", Some(self.origin.word()));
        fields.secret("secret", self.secret.as_ref());
        fields.number("secretExpiresAt", self.secret_expires_at);
        fields.text("authMethod", self.auth_method.as_deref());
        fields.text("redirectUri", self.redirect_uri.as_deref());
        fields.secret("registrationToken", self.registration_token.as_ref());
        fields.text("registrationUri", self.registration_uri.as_deref());
        fields.into_map()
    }

    fn from_fields(fields: Map<String, Value>) -> Result<Self, InvalidCredential> {
        let mut fields = Fields::new(fields);
        let origin = fields.text("origin")?.unwrap_or_default();
        Ok(Self {
            id: fields.required("id")?,
            origin: ClientOrigin::from_word(&origin),
            secret: fields.secret("secret")?,
            secret_expires_at: fields.number("secretExpiresAt")?,
            auth_method: fields.text("authMethod")?,
            redirect_uri: fields.text("redirectUri")?,
            registration_token: fields.secret("registrationToken")?,
            registration_uri: fields.text("registrationUri")?,
            unknown: fields.into_rest(),
        })
    }
}

impl GrantKind {
    /// Every grant.
    pub const ALL: [Self; 5] = [
        Self::AuthorizationCode,
        Self::DeviceCode,
        Self::ClientCredentials,
        Self::JwtBearer,
        Self::EnterpriseManaged,
    ];

    /// Returns the word used in files and output.
    pub fn word(self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization_code",
            Self::DeviceCode => "device_code",
            Self::ClientCredentials => "client_credentials",
            Self::JwtBearer => "jwt_bearer",
            Self::EnterpriseManaged => "enterprise_managed",
        }
    }

    /// Parses the word in a file.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Tells whether a person takes part, so that the program cannot repeat it alone.
    pub fn needs_person(self) -> bool {
        matches!(self, Self::AuthorizationCode | Self::DeviceCode)
    }
}

impl TokenType {
    /// Returns the word of the `Authorization` header.
    pub fn word(self) -> &'static str {
        match self {
            Self::Bearer => "Bearer",
            Self::Dpop => "DPoP",
        }
    }

    fn from_word(word: &str) -> Self {
        if word.eq_ignore_ascii_case("dpop") { Self::Dpop } else { Self::Bearer }
    }
}

impl ClientOrigin {
    fn word(self) -> &'static str {
        match self {
            Self::Configured => "configured",
            Self::MetadataDocument => "metadata_document",
            Self::Registered => "registered",
        }
    }

    fn from_word(word: &str) -> Self {
        match word {
            "metadata_document" => Self::MetadataDocument,
            "registered" => Self::Registered,
            _ => Self::Configured,
        }
    }
}

/// Renders what a credential is bound to: an address may have a key in its query, and the words of
/// a program a password.
pub(super) fn render_resource(resource: &str) -> String {
    if resource.contains("://") { redact_url(resource) } else { redact_command(resource) }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("resource", &render_resource(&self.resource))
            .field("issuer", &self.issuer.as_deref().map(redact_url))
            .field("account", &self.account)
            .field("token", &self.token)
            .field("oauth", &self.oauth)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for OAuthGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthGrant")
            .field("kind", &self.kind)
            .field("token_type", &self.token_type)
            .field("expires_at", &self.expires_at)
            .field("scopes", &self.scopes)
            .field("refresh_token", &self.refresh_token.is_some())
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for OAuthClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthClient")
            .field("id", &redact_url(&self.id))
            .field("origin", &self.origin)
            .field("secret", &self.secret.is_some())
            .finish_non_exhaustive()
    }
}
