//! Decides whether an issuer may get what belongs to a configured client: its secret, its
//! signatures, and assertions.
//!
//! The server names its issuer, and that is only a claim. So a secret goes out if the configuration
//! names the issuer too, if an earlier sign-in was there, if the server is its own issuer, or if a
//! person has signed in on a page of the issuer just before.

use url::Url;
use wharf_config::{ClientOrigin, Credential, GrantKind};

use super::error::SignInError;
use super::options::OAuthSettings;
use super::requests::safe_url;

/// What is known about the issuer of a server, besides the claim of the server.
pub(super) struct IssuerTrust<'a> {
    pub(super) server: &'a Url,
    pub(super) settings: &'a OAuthSettings,
    /// The credential of an earlier sign-in.
    pub(super) stored: Option<&'a Credential>,
}

impl IssuerTrust<'_> {
    /// Checks the issuer, before anything is sent to it.
    pub(super) fn check(&self, issuer: &str, kind: GrantKind) -> Result<(), SignInError> {
        let settings = self.settings;
        let other = || SignInError::OtherIssuer { issuer: issuer.to_owned() };
        if let Some(own) = &settings.issuer {
            return if is_same(own, issuer) { Ok(()) } else { Err(other()) };
        }
        let has_assertion = settings.assertion.is_some() || settings.identity_provider.is_some();
        if settings.client_id.is_none() && !has_assertion {
            // A client that registers itself has nothing that another issuer could misuse.
            return Ok(());
        }
        if let Some(stored) = self.stored
            && let Some(earlier) = &stored.issuer
        {
            if earlier == issuer {
                return Ok(());
            }
            let origin = stored.oauth.as_ref().map(|grant| grant.client.origin);
            if origin == Some(ClientOrigin::Configured) {
                return Err(other());
            }
        }
        let has_secret =
            has_assertion || settings.client_secret.is_some() || settings.client_key.is_some();
        let is_after_page = kind == GrantKind::AuthorizationCode;
        let is_own = Url::parse(issuer).is_ok_and(|url| url.origin() == self.server.origin());
        if !has_secret || is_after_page || is_own || settings.accepts_named_issuer {
            return Ok(());
        }
        Err(SignInError::UnconfirmedIssuer { issuer: issuer.to_owned() })
    }
}

/// Compares issuers; the slash of an empty path does not count.
fn is_same(own: &str, issuer: &str) -> bool {
    own == issuer || (safe_url(own).is_some() && safe_url(own) == safe_url(issuer))
}

#[cfg(test)]
mod tests {
    use wharf_config::{OAuthClient, OAuthGrant, Secret};

    use super::*;

    const ISSUER: &str = "https://login.example";
    const EVIL: &str = "https://evil.example";

    fn machine() -> OAuthSettings {
        OAuthSettings {
            client_id: Some("machine".to_owned()),
            client_secret: Some(Secret::new("machine-secret")),
            ..OAuthSettings::default()
        }
    }

    fn earlier(issuer: &str, origin: ClientOrigin) -> Credential {
        let client = OAuthClient::new("machine", origin);
        let grant = OAuthGrant::new(GrantKind::AuthorizationCode, "https://x.example/t", client);
        let mut stored = Credential::oauth("https://mcp.example/mcp", Secret::new("token"), grant);
        stored.issuer = Some(issuer.to_owned());
        stored
    }

    fn check(
        settings: &OAuthSettings,
        stored: Option<&Credential>,
        issuer: &str,
        kind: GrantKind,
    ) -> Result<(), String> {
        let server = Url::parse("https://mcp.example/mcp").unwrap();
        let trust = IssuerTrust { server: &server, settings, stored };
        trust.check(issuer, kind).map_err(|error| error.to_string())
    }

    #[test]
    fn without_a_person_a_secret_goes_only_to_an_issuer_that_is_confirmed() {
        let unconfirmed = Err(format!("nothing but the server names the issuer {ISSUER}"));
        for kind in [GrantKind::ClientCredentials, GrantKind::JwtBearer, GrantKind::DeviceCode] {
            assert_eq!(check(&machine(), None, ISSUER, kind), unconfirmed, "{kind:?}");
            // The server is its own issuer.
            assert_eq!(check(&machine(), None, "https://mcp.example", kind), Ok(()));
            let stored = earlier(ISSUER, ClientOrigin::Registered);
            assert_eq!(check(&machine(), Some(&stored), ISSUER, kind), Ok(()));
            let pinned = OAuthSettings { issuer: Some(ISSUER.to_owned()), ..machine() };
            assert_eq!(check(&pinned, None, ISSUER, kind), Ok(()));
            assert_eq!(check(&pinned, None, &format!("{ISSUER}/"), kind), Ok(()));
            let trusting = OAuthSettings { accepts_named_issuer: true, ..machine() };
            assert_eq!(check(&trusting, None, ISSUER, kind), Ok(()));
        }
        let assertion =
            OAuthSettings { assertion: Some(Secret::new("assertion")), ..OAuthSettings::default() };
        assert_eq!(check(&assertion, None, ISSUER, GrantKind::JwtBearer), unconfirmed);
        // The person sees the page of the issuer first.
        assert_eq!(check(&machine(), None, ISSUER, GrantKind::AuthorizationCode), Ok(()));
    }

    #[test]
    fn another_issuer_than_before_or_than_configured_is_refused_for_every_grant() {
        for kind in [GrantKind::AuthorizationCode, GrantKind::ClientCredentials] {
            let stored = earlier(ISSUER, ClientOrigin::Configured);
            assert!(check(&machine(), Some(&stored), EVIL, kind).is_err());
            let pinned = OAuthSettings { issuer: Some(ISSUER.to_owned()), ..machine() };
            assert!(check(&pinned, None, EVIL, kind).is_err());
            let no_client = OAuthSettings { issuer: Some(ISSUER.to_owned()), ..Default::default() };
            assert!(check(&no_client, None, EVIL, kind).is_err());
        }
        // A client that registers itself registers again.
        let stored = earlier(ISSUER, ClientOrigin::Registered);
        let person = GrantKind::AuthorizationCode;
        assert_eq!(check(&OAuthSettings::default(), Some(&stored), EVIL, person), Ok(()));
    }
}
