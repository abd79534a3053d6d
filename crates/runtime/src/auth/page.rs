//! The sign-in on a page: the authorization code with PKCE.
//!
//! The answer comes to the callback, or the person pastes it; whichever is first counts. So it also
//! works when the browser is on another machine.

use std::convert::Infallible;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::OptionFuture;
use sha2::{Digest, Sha256};
use url::Url;
use wharf_config::Secret;
use wharf_config::store::private_file::random_id;

use super::answer::{ExpectedAnswer, Pasted};
use super::callback::CallbackListener;
use super::error::{MetadataFlaw, SignInError};
use super::keys::NoRandomness;
use super::metadata::IssuerMetadata;
use super::options::OAuthSettings;
use super::prompt::{BrowserState, PageAddress, SignInHost, SignInProgress, is_loopback};
use super::requests::shown;

/// Where the answer of the page goes.
pub(super) struct RedirectTarget {
    /// Receives it, if it is on this machine.
    listener: Option<CallbackListener>,
    /// As the configuration has it, character by character: issuers compare texts.
    address: String,
}

/// A page to sign in on.
pub(super) struct SignInPage<'a> {
    pub(super) issuer: &'a IssuerMetadata,
    /// Whether the issuer has no metadata.
    pub(super) is_guessed: bool,
    /// Whether the answer must name the issuer.
    pub(super) must_name_issuer: bool,
    pub(super) client_id: &'a str,
    pub(super) redirect: &'a RedirectTarget,
    pub(super) scopes: &'a [String],
    pub(super) resource: Option<&'a str>,
}

/// The code of the page, and the secret that proves who asked for it.
pub(super) struct PageAnswer {
    pub(super) code: Secret,
    pub(super) verifier: Secret,
}

impl RedirectTarget {
    /// Listens for the answer, unless it goes elsewhere. `earlier` is the address of an earlier
    /// registration, which is used again if it is free.
    pub(super) async fn open(
        settings: &OAuthSettings,
        earlier: Option<&str>,
    ) -> Result<Self, SignInError> {
        let redirect = match &settings.redirect_uri {
            Some(text) => Some(Url::parse(text).map_err(|_| SignInError::InvalidRedirect)?),
            None => None,
        };
        if let Some(redirect) = &redirect
            && !(redirect.scheme() == "http" && is_loopback(redirect))
        {
            let is_page = redirect.scheme() == "https" && redirect.has_host();
            let address = settings.redirect_uri.clone().unwrap_or_default();
            return if is_page {
                Ok(Self { listener: None, address })
            } else {
                Err(SignInError::InvalidRedirect)
            };
        }
        let earlier = earlier.and_then(|text| Url::parse(text).ok()?.port());
        let listener =
            CallbackListener::bind(redirect.as_ref(), settings.callback_port, earlier).await?;
        let is_same = redirect.as_ref() == Some(listener.address());
        let configured = settings.redirect_uri.clone().filter(|_| is_same);
        let address = configured.unwrap_or_else(|| listener.address().to_string());
        Ok(Self { listener: Some(listener), address })
    }

    /// Returns the address, as it is registered.
    pub(super) fn address(&self) -> &str {
        &self.address
    }
}

impl SignInPage<'_> {
    /// Shows the page and waits for its answer. The caller limits the time.
    pub(super) async fn answer(
        &self,
        host: &SignInHost,
        uses_browser: bool,
    ) -> Result<PageAnswer, SignInError> {
        let random = || random_id().map_err(|_| SignInError::from(NoRandomness));
        let state = random()?;
        let verifier = Secret::new(random()? + &random()?);
        let page = self.address(&state, &verifier)?;
        let issuer = self.issuer.answers_as.as_ref().unwrap_or(&self.issuer.issuer);
        let expected = ExpectedAnswer {
            state,
            issuer: Some(issuer.clone()).filter(|_| !self.is_guessed),
            names_issuer: self.must_name_issuer,
        };
        let browser = host.browser.as_ref().filter(|_| uses_browser);
        let returns = self.redirect.listener.is_some();
        let show = |state| {
            let page = page.clone();
            host.show(&SignInProgress::OpenPage { page, browser: state, returns });
        };
        // The page is shown first: a browser on the terminal returns only when it ends.
        show(browser.map_or(BrowserState::NotUsed, |_| BrowserState::Opened));
        let opening = async {
            if let Some(Err(error)) = OptionFuture::from(browser.map(|it| it.open(&page))).await {
                show(BrowserState::Failed(error));
            }
            std::future::pending::<Infallible>().await
        };
        let code = tokio::select! {
            code = self.received(&expected, host) => code?,
            code = self.pasted(&expected, host) => code?,
            never = opening => match never {},
        };
        Ok(PageAnswer { code, verifier })
    }

    /// Returns the address of the page.
    fn address(&self, state: &str, verifier: &Secret) -> Result<PageAddress, SignInError> {
        let issuer = self.issuer.issuer.clone();
        let what = "signing in on a page";
        let endpoint = self.issuer.authorization_endpoint.as_ref();
        let endpoint = endpoint.ok_or(SignInError::Unsupported { issuer, what })?;
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.expose().as_bytes()));
        let mut url = endpoint.clone();
        {
            let mut query = url.query_pairs_mut();
            query.append_pair("response_type", "code");
            query.append_pair("client_id", self.client_id);
            query.append_pair("redirect_uri", self.redirect.address());
            query.append_pair("state", state);
            query.append_pair("code_challenge", &challenge);
            query.append_pair("code_challenge_method", "S256");
            if !self.scopes.is_empty() {
                query.append_pair("scope", &self.scopes.join(" "));
            }
            if let Some(resource) = self.resource {
                query.append_pair("resource", resource);
            }
            // `OpenID` Connect grants `offline_access` only with consent.
            if self.scopes.iter().any(|scope| scope == "offline_access") {
                query.append_pair("prompt", "consent");
            }
        }
        let flaw = MetadataFlaw::Address { field: "authorization_endpoint" };
        let address = shown(endpoint);
        PageAddress::new(url).ok_or(SignInError::InvalidMetadata { address, flaw })
    }

    /// Waits for the callback; for ever, if there is none.
    async fn received(
        &self,
        expected: &ExpectedAnswer,
        host: &SignInHost,
    ) -> Result<Secret, SignInError> {
        let Some(listener) = &self.redirect.listener else { return std::future::pending().await };
        let ignored = |reason| host.show(&SignInProgress::CallbackIgnored { reason });
        listener.wait(expected, ignored).await
    }

    /// Waits until the person pastes the answer.
    async fn pasted(
        &self,
        expected: &ExpectedAnswer,
        host: &SignInHost,
    ) -> Result<Secret, SignInError> {
        loop {
            let Some(line) = host.prompt.pasted().await else {
                if self.redirect.listener.is_none() {
                    return Err(SignInError::NobodyAnswers);
                }
                return std::future::pending().await;
            };
            match expected.pasted(&line) {
                Pasted::Code(code) => return Ok(code),
                Pasted::Failed(error) => return Err(error),
                Pasted::Unusable(reason) => {
                    let reason = reason.to_owned();
                    host.show(&SignInProgress::PasteRejected { reason });
                    // A host that is always ready must not keep the callback from being read.
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}
