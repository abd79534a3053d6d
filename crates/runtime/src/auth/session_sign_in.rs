//! Signs in to the server of a session, and stores the credential.
//!
//! A sign-in replaces the credential of its own server and account, and no other, whatever the
//! entry refers to: an entry of a project may name a reference that belongs to another server.

use wharf_config::{Credential, credential_id};

use super::challenge::ChallengeInfo;
use super::error::SignInError;
use super::options::SignInOptions;
use super::outcome::SignedIn;
use super::prompt::SignInHost;
use super::session::{OAuthSession, SessionEvent, Unsaved};
use super::sign_in::{NewCredential, SignInRun};
use crate::credentials::{CredentialStoreError, StoredCredential, binding};

/// How often one server may ask for more scopes before a person signs in again by themselves.
const MAX_STEP_UPS: usize = 3;

/// Which credential a sign-in makes.
struct SignInTarget {
    id: String,
    account: Option<String>,
}

impl OAuthSession {
    /// Signs in because a person asked for it, and stores the credential.
    pub(crate) async fn sign_in(
        &self,
        options: &SignInOptions,
        host: &SignInHost,
    ) -> Result<SignedIn, SignInError> {
        self.state().step_ups = 0;
        self.sign_in_for_server(options, host).await
    }

    /// Signs in because the server asked for it, and stores the credential.
    pub(super) async fn sign_in_for_server(
        &self,
        options: &SignInOptions,
        host: &SignInHost,
    ) -> Result<SignedIn, SignInError> {
        let account = options.account.clone().or_else(|| self.server.account.clone());
        let stored = self.stored(account.as_deref()).await?;
        let target = self.target(account, stored.as_ref());
        let challenge = self.state().challenge.clone();
        self.check_step_up(&challenge, stored.as_ref())?;
        self.check_replaceable(&target.id, target.account.as_deref()).await?;
        let is_client_forgotten = self.state().is_client_forgotten;
        let run = SignInRun {
            http: &self.context.http,
            server: &self.server.url,
            resource: &self.server.resource,
            settings: &self.server.settings,
            options,
            challenge: &challenge,
            stored: stored.as_ref().map(|stored| &stored.credential),
            is_client_forgotten,
            host,
        };
        let NewCredential { credential, warnings } = run.run().await?;
        let SignInTarget { id, account } = target;
        let credential = credential.with_account(account.clone());
        let lock = self.lock(&id).await?;
        self.check_replaceable(&id, account.as_deref()).await?;
        let not_stored = self.context.store.put(&id, &credential).await.err();
        drop(lock);
        if let Some(error) = not_stored.as_ref().filter(|error| !error.is_read_only()) {
            return Err(SignInError::Store(error.clone()));
        }
        let summary = signed_in(&id, &credential, not_stored, warnings);
        let mut state = self.state();
        if self.is_used_for(&id, account.as_deref(), state.current.as_deref()) {
            let over = stored.map(|stored| stored.credential.token);
            state.use_credential(StoredCredential::new(id, credential));
            state.unsaved =
                summary.not_stored.is_some().then_some(Unsaved { over, try_again: None });
            state.challenge = ChallengeInfo::default();
            state.is_client_forgotten = false;
        }
        drop(state);
        self.report(SessionEvent::SignedIn { account });
        Ok(summary)
    }

    /// Decides which credential a sign-in makes: the one of the account, in its place if there is one.
    fn target(&self, account: Option<String>, stored: Option<&StoredCredential>) -> SignInTarget {
        let is_own = account == self.server.account;
        match (self.server.credential_id.as_ref().filter(|_| is_own), stored) {
            // The entry refers to a credential, whose account stays what it is.
            (Some(id), stored) => {
                let known = stored.and_then(|stored| stored.credential.account.clone());
                SignInTarget { id: id.clone(), account: account.or(known) }
            }
            // Without an account, the only credential of the server may be that of one.
            (None, Some(stored)) if stored.credential.account == account => {
                SignInTarget { id: stored.id.clone(), account }
            }
            (None, _) => {
                let id = credential_id(&self.server.resource, account.as_deref());
                SignInTarget { id, account }
            }
        }
    }

    /// Checks that a sign-in replaces no credential of another server or account. The caller holds
    /// the lock.
    async fn check_replaceable(&self, id: &str, account: Option<&str>) -> Result<(), SignInError> {
        let Some(known) = self.context.store.summary(id).await? else { return Ok(()) };
        let is_same = binding::is_same_resource(&known.resource, &self.server.resource);
        if is_same && known.account.as_deref() == account {
            return Ok(());
        }
        Err(SignInError::OtherCredential)
    }

    /// Tells whether this session uses the credential of a sign-in: one for another account is for
    /// the entry with that account.
    fn is_used_for(
        &self,
        id: &str,
        account: Option<&str>,
        current: Option<&StoredCredential>,
    ) -> bool {
        let own = &self.server;
        if own.account.as_deref() == account || own.credential_id.as_deref() == Some(id) {
            return true;
        }
        // An entry that names neither gets the only credential of its server.
        let names_none = own.account.is_none() && own.credential_id.is_none();
        names_none && current.is_none_or(|current| current.id == id)
    }

    /// Checks that more scopes would help: not if the token has them already, and not for ever.
    fn check_step_up(
        &self,
        challenge: &ChallengeInfo,
        stored: Option<&StoredCredential>,
    ) -> Result<(), SignInError> {
        if !challenge.is_insufficient_scope() {
            return Ok(());
        }
        let mut state = self.state();
        let grant = stored.and_then(|stored| stored.credential.oauth.as_ref());
        let granted = grant.map(|grant| &*grant.scopes).unwrap_or_default();
        let is_granted = challenge.scopes.iter().all(|scope| granted.contains(scope));
        state.step_ups += 1;
        if (is_granted && grant.is_some()) || state.step_ups > MAX_STEP_UPS {
            return Err(SignInError::StepUpFailed);
        }
        Ok(())
    }
}

fn signed_in(
    id: &str,
    credential: &Credential,
    not_stored: Option<CredentialStoreError>,
    warnings: Vec<wharf_config::Problem>,
) -> SignedIn {
    let grant = credential.oauth.as_deref();
    SignedIn {
        id: id.to_owned(),
        issuer: credential.issuer.clone().unwrap_or_default(),
        account: credential.account.clone(),
        scopes: grant.map(|grant| grant.scopes.clone()).unwrap_or_default(),
        expires_at: grant.and_then(|grant| grant.expires_at),
        is_renewable: grant
            .is_some_and(|grant| grant.refresh_token.is_some() || !grant.kind.needs_person()),
        not_stored,
        warnings,
    }
}
