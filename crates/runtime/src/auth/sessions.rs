//! The sessions of a runtime: one for each server and credential, kept across reconnects.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use wharf_protocol::transport::HttpClient;

use super::renewal_tasks::RenewalTasks;
use super::session::{OAuthServer, OAuthSession, SessionContext, SessionObserver};
use crate::credentials::StoreAccess;

/// The address, the reference and the account.
type SessionKey = (String, Option<String>, Option<String>);

/// The sessions of a runtime.
pub(crate) struct OAuthSessions {
    context: SessionContext,
    all: Mutex<HashMap<SessionKey, Arc<OAuthSession>>>,
}

impl OAuthSessions {
    pub(crate) fn new(http: HttpClient, store: StoreAccess) -> Self {
        let context = SessionContext { http, store, tasks: RenewalTasks::default() };
        Self { context, all: Mutex::default() }
    }

    /// Returns the session of a server; makes one, if it is new or its settings have changed.
    pub(crate) fn of(
        &self,
        server: OAuthServer,
        observer: Option<SessionObserver>,
    ) -> Arc<OAuthSession> {
        let key = (server.resource.clone(), server.credential_id.clone(), server.account.clone());
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get(&key) {
            Some(session) if session.is_of(&server) => Arc::clone(session),
            earlier => {
                let session = OAuthSession::new(server, self.context.clone(), observer);
                if let Some(earlier) = earlier {
                    session.take_over(earlier);
                }
                all.insert(key, Arc::clone(&session));
                session
            }
        }
    }

    /// Waits for renewals whose refresh token was sent, and stores what could not be stored before.
    pub(crate) async fn close(&self) {
        self.context.tasks.close().await;
        let all: Vec<_> =
            self.all.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        for session in all {
            session.store_at_end().await;
        }
    }
}

impl fmt::Debug for OAuthSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthSessions").finish_non_exhaustive()
    }
}
