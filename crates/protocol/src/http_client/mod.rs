//! The HTTP client below Streamable HTTP and HTTP+SSE.
//!
//! [`HttpClient::send`] is all there is: it finds or makes a connection (directly, through a proxy
//! or over a Unix socket, with TLS where the address asks for it), sends one request and returns as
//! soon as the head of the answer is there. Why it is built on hyper's connections and has a pool
//! of its own: `docs/decisions/0005-http-client.md`.
//!
//! Rules that hold everywhere in this folder: a request is never sent twice; nothing secret (user
//! information, query, header values) is in any text; no task outlives the client; nothing is read
//! from the environment of the process.

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
mod tls;
mod tunnel;

mod target;
#[cfg(test)]
mod tests;

pub use client::HttpClient;
pub use error::{HttpError, HttpPhase};
pub use options::{HttpClientOptions, Proxies};
pub use redirect::RedirectRefusal;
pub use target::{HttpTarget, HttpTargetError, UrlOrigin};

pub(crate) use client::{AddressPolicy, OutgoingRequest, RedirectPolicy};
pub(crate) use response::{Body, HttpResponse};
