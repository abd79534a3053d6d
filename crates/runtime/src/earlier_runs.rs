//! What earlier runs stored about servers: how many tools they had, and the last attempt to
//! connect.
//!
//! Records are found under the same keys as when a server connects, so another configuration or
//! credential is another server. A server that may not be connected has no key and is not looked
//! up.

use std::collections::BTreeMap;
use std::path::PathBuf;

use wharf_config::{Catalog, Env, ServerName};

use crate::options::Options;
use crate::store::attempts::{AttemptsFile, LastAttempt};
use crate::store::server_identity::ServerIdentity;
use crate::store::tool_cache::ToolCache;
use crate::trust_gate::{self, GateDecision, PlannedServer};

/// What earlier runs stored about a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EarlierRun {
    /// The number of tools in its last list.
    pub tools: Option<usize>,
    /// How the last attempt to connect to it ended.
    pub last: Option<LastAttempt>,
}

/// Returns the folder in which each local server that may be started would run.
///
/// It is not always the folder in the entry: in an untrusted folder, the servers of the user run in
/// the home folder.
pub fn start_folders(catalog: &Catalog, env: &Env) -> BTreeMap<ServerName, PathBuf> {
    let planned = trust_gate::plan(catalog, env).into_iter();
    let folder = |planned: PlannedServer| match planned.decision {
        GateDecision::Allowed(server) => Some((planned.name, server.folder.clone()?)),
        _ => None,
    };
    planned.filter_map(folder).collect()
}

/// Returns what earlier runs stored about the servers of a catalog. A server without any record is
/// not in the result.
///
/// Reads small files of the cache folder and changes nothing. Servers that are disabled, untrusted
/// or invalid are not looked up. Records belong to one configuration and credential, and expire
/// after 30 days; [`clear_cache`](crate::clear_cache) removes them.
///
/// ```
/// use wharf::config::load;
/// use wharf::{Env, LoadOptions, Options, Platform, Runtime};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let env = Env::new(Platform::HOST, folder.path())
///     .with_home(folder.path())
///     .with_variable("WHARF_MCP_SERVERS", r#"{ "box": { "command": "not-installed" } }"#);
/// let catalog = load(&env, LoadOptions::default())?;
/// let options = Options::new(env).store_in(folder.path());
/// assert!(wharf::earlier_runs(&catalog, &options).is_empty());
///
/// let runtime = Runtime::start(&catalog, options.clone());
/// runtime.settled().await;
/// runtime.shutdown().await;
/// let runs = wharf::earlier_runs(&catalog, &options);
/// let last = runs["box"].last.as_ref().ok_or("no attempt")?;
/// assert_eq!(last.error.as_deref(), Some("not-installed not found"));
/// # Ok(())
/// # }
/// ```
pub fn earlier_runs(catalog: &Catalog, options: &Options) -> BTreeMap<ServerName, EarlierRun> {
    let Some(folder) = &options.cache else { return BTreeMap::new() };
    let attempts = AttemptsFile::open(Some(folder)).load();
    let cache = ToolCache::read_only(folder);
    // Without records, the keys need not be computed.
    if attempts.is_empty() && cache.is_empty() {
        return BTreeMap::new();
    }
    let mut all = BTreeMap::new();
    for planned in trust_gate::plan(catalog, &options.env) {
        let GateDecision::Allowed(server) = &planned.decision else { continue };
        let key = cache.key(&ServerIdentity::new(server, &options.env));
        let run = EarlierRun { tools: cache.count(&key), last: attempts.get(&key) };
        if run != EarlierRun::default() {
            all.insert(planned.name, run);
        }
    }
    all
}
