//! The credential store of the host, and how the runtime calls it.
//!
//! `store` is the trait, `file` the store in Wharf's folder, `user` this store together with the
//! `keychain` of the system, `memory` one in memory. `binding` checks what a credential is bound to.
//! `access` and `write_access` call a store from asynchronous code: a keychain may block, ask the
//! person, or never answer.

mod access;
pub(crate) mod binding;
mod file;
mod keychain;
mod memory;
mod store;
mod user;
#[cfg(feature = "oauth")]
mod write_access;

pub(crate) use self::access::StoreAccess;
pub use self::file::FileCredentials;
pub use self::memory::MemoryCredentials;
pub(crate) use self::store::without_query;
pub use self::store::{
    CredentialLock, CredentialQuery, CredentialStore, CredentialStoreError, StoredCredential,
};
pub use self::user::{CredentialPlaces, CredentialStorage, UserCredentials};
