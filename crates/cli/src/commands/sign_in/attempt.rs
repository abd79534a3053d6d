//! Signs in for a verb: because the person asked for it, or because a server did.

use wharf::auth::{SignInOptions, SignedIn};
use wharf::call::{CallErrorReason, Outcome};
use wharf::{FailureKind, Runtime, Unavailable};

use super::terminal::SignInSender;
use crate::commands::connect::one_off;
use crate::commands::{Failure, Invocation};
use crate::ui::{phrase, style};

/// Signs in to servers during one run.
pub(crate) struct SignIn<'a> {
    invocation: &'a Invocation,
    sender: SignInSender,
}

impl<'a> SignIn<'a> {
    pub(crate) fn new(invocation: &'a Invocation, sender: SignInSender) -> Self {
        Self { invocation, sender }
    }

    /// Signs in to a server.
    pub(crate) async fn sign_in(
        &self,
        runtime: &Runtime,
        name: &str,
        options: &SignInOptions,
    ) -> Result<SignedIn, Failure> {
        runtime
            .sign_in(name, options, &self.sender.host())
            .await
            .map_err(|error| Failure::sign_in(name, error))
    }

    /// Makes an attempt. If its server wants a sign-in and the person agrees to it, signs in and
    /// makes one more attempt; the first one then had no effect.
    pub(crate) async fn retry<T: SignInNeed>(
        &self,
        runtime: &Runtime,
        attempt: impl AsyncFn() -> T,
    ) -> Result<T, Failure> {
        let first = attempt().await;
        let ui = &self.invocation.ui;
        // Nothing is stored about a server from the command line.
        let wanted = first.server().filter(|name| *name != one_off::SERVER_NAME);
        let Some(name) = wanted.filter(|_| ui.can_ask && !ui.json).map(str::to_owned) else {
            return Ok(first);
        };
        let question = format!("Server {} asks you to sign in. Do it now?", phrase::quoted(&name));
        if !self.sender.confirm(&question).await {
            return Ok(first);
        }
        self.sign_in(runtime, &name, &SignInOptions::default()).await?;
        ui.notice(&style::good(&format!("Signed in to {}", phrase::quoted(&name))));
        Ok(attempt().await)
    }
}

/// An outcome that may say that a server wants a sign-in.
pub(crate) trait SignInNeed {
    /// Returns the server that wants a sign-in.
    fn server(&self) -> Option<&str>;
}

impl<T> SignInNeed for Result<T, Unavailable> {
    fn server(&self) -> Option<&str> {
        match self {
            Err(Unavailable::Failed { server, failure })
                if failure.kind == FailureKind::NeedsAuth =>
            {
                Some(server.as_str())
            }
            _ => None,
        }
    }
}

impl<T> SignInNeed for Result<(Outcome, T), Failure> {
    fn server(&self) -> Option<&str> {
        match self {
            Err(Failure::NotConnected { name, failure })
                if failure.kind == FailureKind::NeedsAuth =>
            {
                Some(name)
            }
            Ok((outcome, _)) => {
                let error = outcome.error.as_ref();
                error
                    .is_some_and(|error| error.reason == CallErrorReason::NeedsAuth)
                    .then_some(outcome.details.server_name.as_str())
            }
            Err(_) => None,
        }
    }
}
