//! The HTTP client below Streamable HTTP and HTTP+SSE.
//!
//! [`HttpClient::send`] takes a connection from the pool or makes one (directly, through a proxy or
//! over a Unix socket, with TLS for `https`), sends one request and returns when the head of the
//! response has arrived. Why it uses hyper's connections with its own pool:
//! `docs/decisions/0005-http-client.md`.
//!
//! Rules for this folder: a request is never sent twice; no text contains a secret (user
//! information, query, header values); no task outlives the client; the environment of the process
//! is not read.

mod client;
mod connection;
mod connector;
mod error;
mod local_address;
mod options;
mod pool;
mod proxy;
mod redirect;
mod response;
mod tasks;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;
mod tunnel;

mod target;
#[cfg(test)]
#[cfg(feature = "tls")]
mod tests;

pub use client::{AddressPolicy, HttpClient, WebRequest};
pub use error::{HttpError, HttpPhase};
pub use options::{HttpClientOptions, Proxies};
pub use redirect::RedirectRefusal;
pub use target::{HttpTarget, HttpTargetError, UrlOrigin};

pub(crate) use client::{OutgoingRequest, RedirectPolicy};
pub(crate) use response::{Body, HttpResponse};
