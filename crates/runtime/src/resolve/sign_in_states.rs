//! The OAuth session of each server that is reached over the network.
//!
//! What a session knows about its server comes from the entry; a program can add what no entry can
//! say, such as a private key.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use wharf_config::{Endpoint, Level, ServerLocation, ServerName, Transport};
use wharf_protocol::transport::{HttpClient, HttpTarget};

use super::target::target;
use crate::auth::{
    OAuthServer, OAuthSession, OAuthSessions, OAuthSettings, SessionEvent, SessionObserver,
};
use crate::credentials::{StoreAccess, StoredCredential};
use crate::trust_gate::TrustedServer;

/// Receives what happens to the session of a server.
pub(crate) type SignInObserver = Arc<dyn Fn(&ServerName, SessionEvent) + Send + Sync>;

/// The OAuth sessions of all servers.
pub(crate) struct SignInStates {
    sessions: OAuthSessions,
    settings: BTreeMap<ServerName, OAuthSettings>,
    observer: SignInObserver,
}

impl SignInStates {
    pub(crate) fn new(
        http: HttpClient,
        store: StoreAccess,
        settings: BTreeMap<ServerName, OAuthSettings>,
        observer: SignInObserver,
    ) -> Self {
        Self { sessions: OAuthSessions::new(http, store), settings, observer }
    }

    /// Returns the session of a server; none if it is not reached over the network.
    pub(crate) fn session(&self, server: &TrustedServer) -> Option<Arc<OAuthSession>> {
        let spec = &server.spec;
        let (Transport::Http(endpoint) | Transport::Sse(endpoint)) = &spec.transport else {
            return None;
        };
        let Endpoint { url, .. } = endpoint;
        let (Some(resource), ServerLocation::Network(_)) = (url.resource(), url.location()) else {
            return None;
        };
        let name = &spec.name;
        let settings = match self.settings.get(name) {
            // A repository chooses its names; it must not get the secrets of a server of that name.
            Some(settings) if server.level != Level::Project => settings.clone(),
            _ => OAuthSettings::of_entry(spec.oauth.as_ref()),
        };
        let about = OAuthServer {
            url: target(url).ok()?.url().clone(),
            resource,
            credential_id: spec.auth.as_ref().and_then(|auth| auth.credential_id.clone()),
            account: spec.account.clone(),
            settings,
        };
        let (observer, name) = (Arc::clone(&self.observer), name.clone());
        Some(self.sessions.of(about, Some(Arc::new(move |event| observer(&name, event)))))
    }

    /// Returns the credential of a program, renewed if it is about to expire and that works: a program
    /// gets its token once, when it starts.
    pub(crate) async fn renewed(
        &self,
        name: &ServerName,
        found: StoredCredential,
    ) -> StoredCredential {
        let resource = found.credential.resource.clone();
        let Ok(target) = resource.parse::<HttpTarget>() else { return found };
        let about = OAuthServer {
            url: target.url().clone(),
            resource,
            credential_id: Some(found.id.clone()),
            account: found.credential.account.clone(),
            settings: OAuthSettings::default(),
        };
        let (observer, name) = (Arc::clone(&self.observer), name.clone());
        let observer: SessionObserver = Arc::new(move |event| observer(&name, event));
        let session = self.sessions.of(about, Some(observer));
        session.adopt(Some(found.clone()));
        let Some(current) = session.token().await else { return found };
        let mut renewed = found;
        renewed.credential.token = current.token().clone();
        renewed
    }

    /// Waits for renewals that have begun.
    pub(crate) async fn close(&self) {
        self.sessions.close().await;
    }
}

impl fmt::Debug for SignInStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignInStates").finish_non_exhaustive()
    }
}
