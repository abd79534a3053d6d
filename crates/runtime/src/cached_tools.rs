//! The tools that earlier runs cached, with their names; no server is connected.

use std::sync::Arc;

use wharf_config::Catalog;

use crate::connections::name_owners;
use crate::options::Options;
use crate::store::server_identity::ServerIdentity;
use crate::store::tool_cache::ToolCache;
use crate::store::tool_names::ToolNamesFile;
use crate::tools::server_tools::{ServerTools, ToolList, ToolServer, ToolSettings};
use crate::tools::{Freshness, Registry};
use crate::trust_gate::{self, GateDecision};

/// Returns the tools that are known from earlier runs of the servers of a catalog.
///
/// Reads small files of the cache folder, connects to no server and changes nothing. A server that
/// may not be connected, or whose configuration or credential has changed, has no tools in the
/// result. A tool that is missing here may still exist.
pub fn cached_tools(catalog: &Catalog, options: &Options) -> Registry {
    let Some(folder) = &options.cache else { return Registry::default() };
    let cache = ToolCache::read_only(folder);
    if cache.is_empty() {
        return Registry::default();
    }
    let rules = ToolSettings::from(&catalog.settings);
    let server_tools = |planned: trust_gate::PlannedServer| {
        let GateDecision::Allowed(server) = &planned.decision else { return None };
        let cached = cache.load_newest(&cache.key(&ServerIdentity::new(server, &options.env)))?;
        let listed = ToolList { tools: cached.tools, ..ToolList::default() };
        let policy = &server.spec.policy;
        let by = ToolServer { name: &planned.name, source: &planned.source, policy };
        Some(Arc::new(ServerTools::prepare(&by, listed, Freshness::Cached, rules)))
    };
    let all_tools: Vec<Arc<ServerTools>> =
        trust_gate::plan(catalog, &options.env).into_iter().filter_map(server_tools).collect();
    let mut names = ToolNamesFile::open(Some(folder)).load();
    names.set_owners(name_owners(catalog));
    Registry::build(&all_tools, &mut names)
}
