//! [`Runtime::sign_in`] and [`Runtime::sign_out`]: the sign-in of one server of the runtime
//! with OAuth.

use std::sync::Arc;

use wharf_config::{OAuth, Transport};

use crate::auth::{OAuthSession, SignInError, SignInHost, SignInOptions, SignedIn, SignedOut};
use crate::runtime::Runtime;
use crate::status::Status;

impl Runtime {
    /// Signs in to a server with OAuth, stores the credential, and connects the server with it.
    ///
    /// A server that is not connected is contacted first: its challenge says what it needs. Dropping
    /// the future ends the sign-in; then nothing is stored.
    ///
    /// # Errors
    /// Whatever the error, the stored credential is the same as before. An error of connecting with
    /// the new credential is in the snapshot, not here.
    pub async fn sign_in(
        &self,
        server: &str,
        options: &SignInOptions,
        host: &SignInHost,
    ) -> Result<SignedIn, SignInError> {
        let session = self.session(server)?;
        if self.status(server) != Some(Status::Connected) && !session.has_challenge() {
            // The outcome does not matter: a server may also publish its metadata without a 401.
            drop(self.connect(server).await);
        }
        let signed_in = session.sign_in(options, host).await?;
        drop(self.connect(server).await);
        Ok(signed_in)
    }

    /// Signs out of a server: revokes its tokens where the issuer offers that, and removes the
    /// credential of an account, or else the one that the server uses.
    pub async fn sign_out(
        &self,
        server: &str,
        account: Option<&str>,
    ) -> Result<SignedOut, SignInError> {
        self.session(server)?.sign_out(account).await
    }

    fn session(&self, server: &str) -> Result<Arc<OAuthSession>, SignInError> {
        let snapshot = self.snapshot();
        let server = snapshot.server(server).ok_or(SignInError::UnknownServer)?;
        let trusted = server.trusted.as_ref().ok_or(match server.status {
            Status::Disabled => SignInError::Disabled,
            Status::Untrusted => SignInError::Untrusted,
            // Its definition is invalid.
            _ => SignInError::NotHttp,
        })?;
        let spec = &trusted.spec;
        let (Transport::Http(endpoint) | Transport::Sse(endpoint)) = &spec.transport else {
            return Err(SignInError::NotHttp);
        };
        let has_own = endpoint
            .headers
            .iter()
            .any(|(name, _)| name.trim().eq_ignore_ascii_case("authorization"));
        if has_own || spec.oauth.as_ref().is_some_and(|OAuth { off, .. }| *off) {
            return Err(SignInError::NotUsed);
        }
        self.0.shared.sign_ins.session(trusted).ok_or(SignInError::NotHttp)
    }
}
