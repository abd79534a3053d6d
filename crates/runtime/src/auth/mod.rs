//! Signing in to servers with OAuth 2.1, and renewing tokens.
//!
//! The engine of `crates/runtime/src/auth`: it finds the issuer of a server, registers, signs in,
//! and keeps the token fresh. It never prints and never opens a browser by itself: the host does
//! that through [`SignInPrompt`] and [`Browser`]. Why the requests are made here and the
//! signatures by `ring`: `docs/decisions/0017-own-oauth-requests.md`.
//!
//! `session` is the state of one server, and `sessions` has those of a runtime: the token, its
//! `renewal`, `sign_in` and `sign_out`; `renewal_tasks` ends them with the program. A sign-in reads the
//! `challenge`, finds the issuer (`discovery`, `metadata`), asks whether it may have the client's
//! secrets (`issuer_trust`), and gets a client (`registration`) and a token: on a `page` whose `answer` comes
//! to the `callback`, with a code on another `device`, or with `grants` that need no person. `token`
//! and `requests` send the requests. `keys` signs, `dpop` makes proofs of possession. `prompt` is the
//! host, `options` its choices, `outcome` and `error` the results.

mod answer;
mod authorizer;
mod callback;
mod challenge;
mod clock;
mod device;
mod discovery;
mod dpop;
mod error;
mod grants;
mod issuer_trust;
mod keys;
mod metadata;
mod options;
mod outcome;
mod page;
mod peer;
mod prompt;
mod registration;
mod renewal;
mod renewal_tasks;
mod requests;
mod session;
mod session_sign_in;
mod sessions;
mod sign_in;
mod sign_out;
mod token;

pub use self::authorizer::OAuthAuthorizer;
pub(crate) use self::dpop::PROOF;
pub use self::error::{AnswerFlaw, MetadataFlaw, OAuthRefusal, SignInError, TriedAddress};
pub use self::keys::{InvalidKey, SigningKey};
pub use self::options::{
    IdentityProvider, OAuthSettings, SIGN_IN_LIMIT, SignInMethod, SignInOptions,
};
pub use self::outcome::{Revocation, SignedIn, SignedOut};
pub use self::prompt::{
    Browser, BrowserError, BrowserState, PageAddress, SignInHost, SignInProgress, SignInPrompt,
};
pub use self::renewal_tasks::unfinished_renewals;
pub(crate) use self::session::{OAuthServer, OAuthSession, SessionEvent, SessionObserver};
pub(crate) use self::sessions::OAuthSessions;
