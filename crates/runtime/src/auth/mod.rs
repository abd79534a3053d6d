//! Signing in to servers with OAuth 2.1, and renewing tokens.
//!
//! The engine of `crates/runtime/src/auth`: it finds the issuer of a server, registers, signs in,
//! and keeps the token fresh. It never prints and never opens a browser by itself: the host does
//! that through [`SignInPrompt`] and [`Browser`]. Why the requests are made here and the
//! signatures by `ring`: `docs/decisions/0017-own-oauth-requests.md`.
//!
//! `prompt` is the host of a sign-in, `options` its choices, `outcome` and `error` its results.
//! `keys` signs, `dpop` makes proofs of possession.

#![expect(dead_code, reason = "the requests that use these types follow")]

mod clock;
mod dpop;
mod error;
mod keys;
mod options;
mod outcome;
mod prompt;

pub use self::error::{AnswerFlaw, MetadataFlaw, OAuthRefusal, SignInError, TriedAddress};
pub use self::keys::{InvalidKey, SigningKey};
pub use self::options::{
    IdentityProvider, OAuthSettings, SIGN_IN_LIMIT, SignInMethod, SignInOptions,
};
pub use self::outcome::{Revocation, SignedIn, SignedOut};
pub use self::prompt::{
    Browser, BrowserError, BrowserState, PageAddress, SignInHost, SignInProgress, SignInPrompt,
};
