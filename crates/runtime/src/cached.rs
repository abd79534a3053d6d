//! The tools of earlier runs under their names, without connecting to any server.

use std::sync::Arc;

use wharf_config::Catalog;

use crate::gate::{self, Entry};
use crate::options::Options;
use crate::store::server_identity::ServerIdentity;
use crate::store::tool_cache::ToolCache;
use crate::store::tool_names::NamesFile;
use crate::tools::offer::{Listed, Offer, OfferedBy, ToolRules};
use crate::tools::{Freshness, Registry};

/// Returns the tools that are known from earlier runs of the servers of a catalog.
///
/// Reads small files of the cache folder; connects to nobody and changes nothing. A server that may
/// not be connected has no tools here, nor has one whose configuration or credential has changed.
/// What is not here may exist all the same.
pub fn cached_tools(catalog: &Catalog, options: &Options) -> Registry {
    let Some(folder) = &options.cache else { return Registry::default() };
    let cache = ToolCache::read_only(folder);
    if cache.is_empty() {
        return Registry::default();
    }
    let rules = ToolRules::from(&catalog.settings);
    let offer = |planned: gate::Planned| {
        let Entry::Ready(server) = &planned.entry else { return None };
        let cached = cache.load_newest(&cache.key(&ServerIdentity::new(server, &options.env)))?;
        let listed = Listed { tools: cached.tools, ..Listed::default() };
        let policy = &server.spec.policy;
        let by = OfferedBy { name: &planned.name, source: &planned.source, policy };
        Some(Arc::new(Offer::prepare(&by, listed, Freshness::Cached, rules)))
    };
    let offers: Vec<Arc<Offer>> =
        gate::plan(catalog, &options.env).into_iter().filter_map(offer).collect();
    Registry::build(&offers, &mut NamesFile::open(Some(folder)).load())
}
