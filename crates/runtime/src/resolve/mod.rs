//! Turns what a definition says into what is started or sent: values, credentials, environment.
//!
//! A value that cannot be had is left out and the omission is reported; with `strict` it is an
//! error. Nothing here decides whether a server may be started at all: that is `gate`.
//!
//! `resolver` puts a server together. `values` resolves one value, `command_cache` remembers what
//! `!command` values printed and `shell` runs them; `credentials` finds stored tokens,
//! `environment` is what a child gets to see, `headers` what may be sent, `target` where to,
//! `authorizer` renews it after a 401, `secret_texts` collects what must not be seen in what a
//! server says, `secrets` hides it in our words.

mod authorizer;
mod command_cache;
mod credentials;
mod environment;
mod error;
mod headers;
mod omissions;
mod resolver;
mod secret_texts;
mod secrets;
mod shell;
mod target;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod values;

pub use self::credentials::{
    CredentialQuery, CredentialStore, CredentialStoreError, FileCredentials,
};
pub use self::environment::has_variable;
pub(crate) use self::error::ResolveError;
pub(crate) use self::resolver::{ResolvedTransport, Resolver};
pub(crate) use self::secrets::Secrets;
