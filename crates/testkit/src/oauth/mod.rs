//! An OAuth authorization server for tests, and the MCP server that it protects.
//!
//! Both run on loopback inside the process of the test, on a thread of their own, and behave
//! correctly. A test makes an endpoint misbehave with [`OAuthServer::misbehave`].
//!
//! - `server`: starts and stops the listeners, and dispatches requests to the endpoints
//! - `state`: clients, codes and tokens; `request`: parsed requests and their log
//! - `metadata`, `authorize`, `token`, `registration`, `device`: the endpoints
//! - `client_authentication`: how a client proves who it is at the token endpoint
//! - `protected_endpoint`: the MCP server, which demands a token and scopes
//! - `misbehavior`: what an endpoint does instead of its duty
//! - `browser`: follows the address of a sign-in as a person with a browser would

mod authorize;
mod browser;
mod client_authentication;
mod device;
mod metadata;
mod misbehavior;
mod options;
mod protected_endpoint;
mod registration;
mod request;
mod server;
mod state;
mod token;

pub use browser::{AuthorizationRedirect, TestBrowser, visit};
pub use misbehavior::{Misbehavior, OAuthEndpoint};
pub use options::{OAuthServerOptions, RegisteredClient};
pub use request::{OAuthParty, OAuthRequest};
pub use server::OAuthServer;
