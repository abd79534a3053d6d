//! The library for programs that use MCP servers; today it has the servers that come with Wharf.
//!
//! Each built-in server is a folder with a `serve` function over two pipes. Whose pipes they are is
//! for the caller to say: nothing here touches the terminal or the environment.

mod gate;
mod resolve;
pub mod call;
pub mod thinking;

pub mod tools;
pub use resolve::{CredentialStore, CredentialStoreError, FileCredentials, WantedCredential};
