//! The store of the user: the file, and the keychain of the system for the secrets.
//!
//! The file says of each credential where its secrets are, so listings never ask the keychain, and
//! a run asks it only for a server whose credential is there. The access token of a short-lived
//! credential is in both: while it is valid, nothing else is needed (decision 0018).

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use wharf_config::store::{LOCK_TIMEOUT, WriteLock};
use wharf_config::time::unix_seconds;
use wharf_config::{
    Credential, CredentialError, CredentialSummary, Credentials, Env, Settings, TokenCopy,
    TokenType, select_summary,
};

use super::file::FileCredentials;
use super::keychain::{Keychain, KeychainError};
use super::store::{
    CredentialLock, CredentialQuery, CredentialStore, CredentialStoreError, StoredCredential,
};

/// The longest lifetime of a token that is kept in the file as well.
const SHORT_LIVED: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a token must be valid so that the copy in the file is used.
const MARGIN: Duration = Duration::from_secs(60);

/// Where the secrets of new credentials are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CredentialStorage {
    /// In the keychain if there is one that works, else in the file.
    #[default]
    Automatic,
    /// In the keychain.
    Keychain,
    /// In the file, which only the user can read.
    File,
}

impl CredentialStorage {
    /// Reads the setting `credentials.store`.
    pub fn of(settings: &Settings) -> Self {
        let is = |word| settings.is_set_to("credentials.store", word);
        match () {
            () if is("keychain") => Self::Keychain,
            () if is("file") => Self::File,
            () => Self::Automatic,
        }
    }
}

/// Where the secrets of stored credentials are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialPlaces(BTreeMap<String, Option<String>>);

/// The store of the user: `credentials.json` in Wharf's folder, and the keychain of the system.
#[derive(Clone)]
pub struct UserCredentials {
    env: Arc<Env>,
    storage: CredentialStorage,
    file: FileCredentials,
    keychain: Arc<Mutex<Option<Keychain>>>,
}

impl UserCredentials {
    /// Uses the store in this environment.
    pub fn new(env: Arc<Env>, storage: CredentialStorage) -> Self {
        let file = FileCredentials::new(Arc::clone(&env));
        Self { env, storage, file, keychain: Arc::default() }
    }

    /// Tells whether the keychain can be opened; the error says why not. Blocks for a while.
    pub fn check_keychain(&self) -> Result<(), CredentialStoreError> {
        if self.storage == CredentialStorage::Automatic && !self.may_have_keychain() {
            return Err(CredentialStoreError::new("there is no keychain in this session"));
        }
        self.keychain().map(drop).map_err(Into::into)
    }

    /// Moves the secrets of a credential into the keychain, or into the file. Returns whether they
    /// were elsewhere. Blocks for a while.
    pub fn relocate(&self, id: &str, to: CredentialStorage) -> Result<bool, CredentialStoreError> {
        // A renewal in another process would write its token to where the credential was.
        let _lock = Credentials::lock(&self.env, id)?;
        let stored = Credentials::load(&self.env)?;
        let entry = stored.keychain_entry(id).map(str::to_owned);
        match (entry, to) {
            (Some(entry), CredentialStorage::File) => {
                let credential = self.read_keychain(&entry)?;
                self.change(|stored| stored.set(id, &credential))?;
                self.keychain()?.remove(&entry)?;
                Ok(true)
            }
            (None, CredentialStorage::Keychain) => {
                let credential = stored.get(id).ok_or_else(missing)?;
                self.put_into_keychain(id, &credential, None)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Returns where everything is now, for [`settle`](Self::settle). An unreadable store counts as
    /// empty.
    pub fn places(&self) -> CredentialPlaces {
        let stored = Credentials::load(&self.env).unwrap_or_default();
        let entry = |id: &str| stored.keychain_entry(id).map(str::to_owned);
        let places = stored.summaries().into_iter().map(|one| (one.id.clone(), entry(&one.id)));
        CredentialPlaces(places.collect())
    }

    /// Moves tokens that code which knows only the file has written since then to where they belong:
    /// new ones as the setting says, others to where they were. Blocks for a while.
    pub fn settle(&self, before: &CredentialPlaces) -> Result<(), CredentialStoreError> {
        let stored = Credentials::load(&self.env)?;
        for one in stored.summaries().into_iter().filter(|one| !one.is_in_keychain) {
            let Some(credential) = stored.get(&one.id) else { continue };
            match (before.0.get(&one.id), self.storage) {
                (Some(None), _) | (None, CredentialStorage::File) => {}
                (Some(entry), _) => self.put_into_keychain(&one.id, &credential, entry.clone())?,
                (None, CredentialStorage::Keychain) => {
                    self.put_into_keychain(&one.id, &credential, None)?;
                }
                (None, CredentialStorage::Automatic) if self.may_have_keychain() => {
                    if let Err(error) = self.put_into_keychain(&one.id, &credential, None) {
                        tracing::debug!(%error, "the token stays in the file");
                    }
                }
                (None, CredentialStorage::Automatic) => {}
            }
        }
        Ok(())
    }

    /// Tells whether `Automatic` may look for a keychain: not in a simulated system, and on Linux only
    /// in a session that has a bus.
    fn may_have_keychain(&self) -> bool {
        const BUS: [&str; 2] = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"];
        let has_bus = || BUS.iter().any(|name| self.env.nonempty_variable(name).is_some());
        self.env.system_root == Path::new("/") && (cfg!(not(target_os = "linux")) || has_bus())
    }

    fn keychain(&self) -> Result<Keychain, KeychainError> {
        let mut opened = self.keychain.lock().unwrap_or_else(PoisonError::into_inner);
        let keychain = match opened.take() {
            Some(keychain) => keychain,
            None => Keychain::open()?,
        };
        // A build without a keychain has no value to clone, so `Result` clones it.
        Ok(&*opened.insert(keychain)).cloned()
    }

    fn read_keychain(&self, entry: &str) -> Result<Credential, CredentialStoreError> {
        let text = self.keychain()?.read(entry)?;
        Credential::from_json(&text)
            .map_err(|_| CredentialStoreError::new("the keychain entry is not a credential"))
    }

    /// Writes the keychain first: a process that is killed in between leaves the newer secrets.
    fn put_into_keychain(
        &self,
        id: &str,
        credential: &Credential,
        entry: Option<String>,
    ) -> Result<(), CredentialStoreError> {
        let entry = match entry {
            Some(entry) => entry,
            None => Credentials::load(&self.env)?.new_keychain_entry()?,
        };
        self.keychain()?.write(&entry, &credential.to_json())?;
        let copy = copy_of(credential);
        self.change(|stored| stored.set_keychain_record(id, credential, &entry, copy))
    }

    /// Changes the file under its lock.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Credentials) -> T,
    ) -> Result<T, CredentialStoreError> {
        let run = self.env.wharf_home().ok_or(CredentialError::NoHome)?.join("run");
        let _lock = WriteLock::acquire(&run, LOCK_TIMEOUT)?;
        let mut credentials = Credentials::load(&self.env)?;
        let changed = change(&mut credentials);
        credentials.save()?;
        Ok(changed)
    }

    fn load(
        &self,
        wanted: &CredentialQuery<'_>,
    ) -> Result<Option<(String, Credentials)>, CredentialStoreError> {
        if self.env.wharf_home().is_none() && wanted.id.is_none() {
            return Ok(None);
        }
        let stored = Credentials::load(&self.env)?;
        Ok(id_of(&stored, wanted).map(|id| (id, stored)))
    }
}

impl CredentialStore for UserCredentials {
    fn find(
        &self,
        wanted: &CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError> {
        let Some((id, stored)) = self.load(wanted)? else { return Ok(None) };
        let in_file = stored.get(&id);
        match stored.keychain_entry(&id) {
            None => Ok(in_file.map(|found| StoredCredential::new(id, found))),
            Some(entry) => Ok(Some(match in_file.filter(is_fresh) {
                Some(fresh) => StoredCredential::without_renewal(id, fresh),
                None => StoredCredential::new(id, self.read_keychain(entry)?),
            })),
        }
    }

    fn find_whole(
        &self,
        wanted: &CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError> {
        let Some((id, stored)) = self.load(wanted)? else { return Ok(None) };
        let found = match stored.keychain_entry(&id) {
            None => stored.get(&id),
            Some(entry) => Some(self.read_keychain(entry)?),
        };
        Ok(found.map(|found| StoredCredential::new(id, found)))
    }

    fn put(&self, id: &str, credential: &Credential) -> Result<(), CredentialStoreError> {
        let stored = Credentials::load(&self.env)?;
        let entry = stored.keychain_entry(id).map(str::to_owned);
        // A known credential stays where it is, whatever the setting is now.
        let is_known = stored.summaries().iter().any(|known| known.id == id);
        match self.storage {
            _ if is_known && entry.is_none() => self.file.put(id, credential),
            _ if entry.is_some() => self.put_into_keychain(id, credential, entry),
            CredentialStorage::File => self.file.put(id, credential),
            CredentialStorage::Keychain => self.put_into_keychain(id, credential, None),
            CredentialStorage::Automatic => {
                let stored = if self.may_have_keychain() {
                    self.put_into_keychain(id, credential, None)
                } else {
                    Err(CredentialStoreError::new("there is no keychain"))
                };
                stored.or_else(|error| {
                    tracing::debug!(%error, "the credential is stored in the file");
                    self.file.put(id, credential)
                })
            }
        }
    }

    fn remove(&self, id: &str) -> Result<bool, CredentialStoreError> {
        if let Some(entry) = Credentials::load(&self.env)?.keychain_entry(id) {
            self.keychain()?.remove(entry)?;
        }
        self.file.remove(id)
    }

    fn list(&self) -> Result<Vec<CredentialSummary>, CredentialStoreError> {
        Ok(Credentials::load(&self.env)?.summaries())
    }

    fn try_lock(&self, id: &str) -> Result<Option<CredentialLock>, CredentialStoreError> {
        self.file.try_lock(id)
    }

    /// An unreadable file is read again by the call, which reports it.
    fn may_block(&self) -> bool {
        Credentials::load(&self.env).is_ok_and(|stored| stored.uses_keychain())
    }
}

/// Shows nothing: the environment has paths and variables.
impl fmt::Debug for UserCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserCredentials").field("storage", &self.storage).finish_non_exhaustive()
    }
}

impl From<KeychainError> for CredentialStoreError {
    fn from(error: KeychainError) -> Self {
        Self::new(error.to_string())
    }
}

/// Returns the reference that a query means.
fn id_of(stored: &Credentials, wanted: &CredentialQuery<'_>) -> Option<String> {
    match (wanted.id, wanted.resource) {
        (Some(id), _) => Some(id.to_owned()),
        (None, Some(resource)) => {
            Some(select_summary(stored.summaries(), resource, wanted.account)?.id)
        }
        (None, None) => None,
    }
}

fn missing() -> CredentialStoreError {
    CredentialStoreError::new("there is no such credential")
}

/// Tells whether the file has the token as well: it must be of no use soon, and by itself.
fn copy_of(credential: &Credential) -> TokenCopy {
    let grant = credential.oauth.as_deref();
    let expires_at = grant.filter(|grant| grant.token_type == TokenType::Bearer);
    let expires_at = expires_at.and_then(|grant| grant.expires_at);
    let latest = unix_seconds(SystemTime::now()) + SHORT_LIVED.as_secs();
    if expires_at.is_some_and(|at| at <= latest) { TokenCopy::InFile } else { TokenCopy::None }
}

/// Tells whether the token in the file is valid for long enough.
fn is_fresh(credential: &Credential) -> bool {
    let earliest = unix_seconds(SystemTime::now()) + MARGIN.as_secs();
    let expires_at = credential.oauth.as_deref().and_then(|grant| grant.expires_at);
    expires_at.is_some_and(|at| at > earliest)
}

#[cfg(feature = "keychain")]
#[cfg(test)]
mod tests {
    use std::fs;

    use wharf_config::{ClientOrigin, GrantKind, OAuthClient, OAuthGrant, Platform, Secret};

    use super::*;

    const RESOURCE: &str = "https://a.example/mcp";

    struct Fixture {
        folder: tempfile::TempDir,
        store: UserCredentials,
    }

    /// A store with a keychain in memory.
    fn fixture(storage: CredentialStorage) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let env = Env::new(Platform::HOST, folder.path()).with_home(folder.path());
        let store = UserCredentials::new(Arc::new(env), storage);
        *store.keychain.lock().unwrap() = Some(Keychain::in_memory(None));
        Fixture { folder, store }
    }

    impl Fixture {
        fn file(&self) -> String {
            fs::read_to_string(self.folder.path().join(".wharf/credentials.json")).unwrap()
        }

        fn find(&self) -> StoredCredential {
            self.store.find(&query()).unwrap().unwrap()
        }
    }

    fn query() -> CredentialQuery<'static> {
        CredentialQuery::new(None, Some(RESOURCE), None)
    }

    fn signed_in(lifetime: u64) -> Credential {
        let mut client = OAuthClient::new("client", ClientOrigin::Registered);
        client.secret = Some(Secret::new("hunter-client"));
        let mut grant = OAuthGrant::new(GrantKind::AuthorizationCode, "https://as/t", client);
        grant.refresh_token = Some(Secret::new("hunter-refresh"));
        grant.expires_at = Some(unix_seconds(SystemTime::now()) + lifetime);
        Credential::oauth(RESOURCE, Secret::new("hunter-access"), grant)
    }

    #[test]
    fn with_a_keychain_the_file_has_only_a_short_lived_token() {
        let world = fixture(CredentialStorage::Keychain);
        world.store.put("one", &signed_in(3600)).unwrap();
        let text = world.file();
        assert!(text.contains("hunter-access"), "{text}");
        assert!(!text.contains("hunter-refresh") && !text.contains("hunter-client"), "{text}");
        world.store.put("one", &signed_in(7 * 24 * 3600)).unwrap();
        assert!(!world.file().contains("hunter"), "{}", world.file());
        world.store.put("two", &Credential::bearer(RESOURCE, Secret::new("hunter"))).unwrap();
        assert!(!world.file().contains("hunter"), "{}", world.file());
    }

    #[test]
    fn a_valid_token_is_found_without_the_keychain() {
        let world = fixture(CredentialStorage::Keychain);
        world.store.put("one", &signed_in(3600)).unwrap();
        // Another process, whose keychain does not have the entry.
        *world.store.keychain.lock().unwrap() = Some(Keychain::in_memory(None));
        let found = world.find();
        assert_eq!(found.credential.token.expose(), "hunter-access");
        assert!(found.is_partial && found.credential.oauth.unwrap().refresh_token.is_none());
        assert!(world.store.find_whole(&query()).is_err());
    }

    #[test]
    fn an_expired_token_and_a_renewal_get_everything_from_the_keychain() {
        let world = fixture(CredentialStorage::Keychain);
        for (lifetime, whole) in [(3600, true), (0, false)] {
            let credential = signed_in(lifetime);
            world.store.put("one", &credential).unwrap();
            let found = if whole {
                world.store.find_whole(&query()).unwrap().unwrap()
            } else {
                world.find()
            };
            assert_eq!((found.credential, found.is_partial), (credential, false));
        }
    }

    #[test]
    fn a_listing_needs_no_keychain() {
        let world = fixture(CredentialStorage::Keychain);
        world.store.put("one", &signed_in(3600)).unwrap();
        *world.store.keychain.lock().unwrap() = Some(Keychain::in_memory(None));
        let listed = world.store.list().unwrap();
        let [one] = &listed[..] else { panic!("{listed:?}") };
        assert!(one.is_in_keychain && one.is_renewable && one.is_oauth && one.expires_at.is_some());
    }

    #[test]
    fn a_credential_is_moved_there_and_back() {
        let world = fixture(CredentialStorage::File);
        let credential = signed_in(3600);
        world.store.put("one", &credential).unwrap();
        assert!(world.file().contains("hunter-refresh"));
        assert_eq!(world.store.relocate("one", CredentialStorage::Keychain), Ok(true));
        assert_eq!(world.store.relocate("one", CredentialStorage::Keychain), Ok(false));
        assert!(!world.file().contains("hunter-refresh"));
        assert!(world.store.may_block());
        assert_eq!(world.store.relocate("one", CredentialStorage::File), Ok(true));
        assert_eq!(world.find().credential, credential);
        assert!(!world.file().contains("keychain") && !world.store.may_block());
    }

    #[test]
    fn a_token_that_was_written_to_the_file_is_moved_to_where_it_belongs() {
        let world = fixture(CredentialStorage::Keychain);
        let write = |id: &str| {
            let fixed = Credential::bearer(RESOURCE, Secret::new("hunter-fixed"));
            world.store.change(|stored| stored.set(id, &fixed)).unwrap();
        };
        let before = world.store.places();
        write("new");
        world.store.settle(&before).unwrap();
        assert!(!world.file().contains("hunter"));
        let (before, entry) = (world.store.places(), world.file());
        write("new");
        world.store.settle(&before).unwrap();
        assert_eq!(world.file(), entry, "the same entry of the keychain is used again");
        assert_eq!(world.find().credential.token.expose(), "hunter-fixed");
    }

    #[test]
    fn a_known_credential_stays_where_it_is() {
        let world = fixture(CredentialStorage::File);
        world.store.put("one", &signed_in(3600)).unwrap();
        let other = UserCredentials { storage: CredentialStorage::Keychain, ..world.store.clone() };
        other.put("one", &signed_in(60)).unwrap();
        assert!(world.file().contains("hunter-refresh"));
    }

    #[test]
    fn without_a_session_new_credentials_are_stored_in_the_file() {
        if cfg!(target_os = "linux") {
            let world = fixture(CredentialStorage::Automatic);
            world.store.put("one", &signed_in(3600)).unwrap();
            assert!(world.file().contains("hunter-refresh"));
        }
    }

    #[test]
    fn a_removed_credential_is_in_neither_place() {
        let world = fixture(CredentialStorage::Keychain);
        world.store.put("one", &signed_in(3600)).unwrap();
        let entry = Credentials::load(&world.store.env).unwrap();
        let entry = entry.keychain_entry("one").unwrap().to_owned();
        assert_eq!(world.store.remove("one"), Ok(true));
        assert!(world.store.keychain().unwrap().read(&entry).is_err());
        assert_eq!(world.store.find(&query()), Ok(None));
        assert_eq!(world.store.remove("one"), Ok(false));
    }
}
