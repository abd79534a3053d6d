//! Checks the keychain of the system, and says where the secrets of credentials are.

use std::sync::Arc;

use wharf::{CredentialStorage, UserCredentials};
use wharf_config::{Catalog, Credentials, Env};

use super::check::Check;
use crate::ui::phrase;

/// What the check is about.
const TOPIC: &str = "keychain";

/// Checks the keychain if it is used, or could be used for what is stored.
pub(super) fn check(catalog: &Catalog, env: &Env) -> Option<Check> {
    let storage = CredentialStorage::of(&catalog.settings);
    // Another check reports an unreadable file.
    let stored = Credentials::load(env).unwrap_or_default().summaries();
    let in_keychain = stored.iter().filter(|one| one.is_in_keychain).count();
    let in_file = stored.len() - in_keychain;
    let is_needed = storage == CredentialStorage::Keychain || in_keychain > 0;
    if !is_needed && (in_file == 0 || storage == CredentialStorage::File) {
        return None;
    }
    let store = UserCredentials::new(Arc::new(env.clone()), storage);
    let secrets = format!("the secrets of {}", phrase::count(in_file, "credential"));
    Some(match store.check_keychain() {
        Ok(()) if in_file == 0 => Check::passed(TOPIC, "the keychain of the system works"),
        Ok(()) => Check::note(TOPIC, format!("it works, but {secrets} are in the file"))
            .hint("`wharf credentials move --to keychain`"),
        Err(why) if is_needed => Check::failed(TOPIC, why.to_string())
            .hint("unlock it, or use the file: `wharf config set credentials.store file`"),
        Err(why) => Check::note(
            TOPIC,
            format!("{secrets} are in a file that only you can read, because {why}"),
        ),
    })
}
