//! Resolves a definition: values, credentials, headers, and the environment of the child process.
//!
//! A value that cannot be resolved is omitted and reported; with `strict` it is an error. The trust
//! gate decides before whether a server may be started at all.
//!
//! `resolver` resolves a whole server and `values` one value. `command_cache` caches the output of
//! `!command` values and `shell` runs them. `credentials` finds the stored token of a server, `environment`
//! selects the variables of a child, `headers` checks headers, `target` is the address, and
//! `authorizer` renews headers after a 401,
//! with the stored token of `token_source`. `omissions` collects omitted values. `secret_texts`
//! collects the secrets of a server and `secrets` redacts them. `sign_in_states` has the OAuth session
//! of each server.

#[cfg(feature = "http")]
mod authorizer;
mod command_cache;
mod credentials;
mod environment;
mod error;
#[cfg(feature = "http")]
mod headers;
mod omissions;
mod resolver;
mod secret_texts;
mod secrets;
mod shell;
#[cfg(feature = "oauth")]
mod sign_in_states;
#[cfg(feature = "http")]
mod target;
#[cfg(test)]
#[cfg(unix)]
mod tests;
#[cfg(feature = "http")]
#[cfg_attr(not(feature = "oauth"), path = "fixed_token.rs")]
mod token_source;
mod values;

pub use self::environment::has_variable;
pub(crate) use self::error::ResolveError;
pub(crate) use self::resolver::{ResolvedTransport, Resolver};
pub(crate) use self::secrets::Secrets;
#[cfg(feature = "oauth")]
pub(crate) use self::sign_in_states::SignInStates;
