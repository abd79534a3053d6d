//! Checks conflicts between servers: tool names with the same prefix, and shadowed definitions.

use std::collections::BTreeMap;

use wharf::tools::Naming;
use wharf_config::{Catalog, DefinitionState, Server};

use super::check::Check;
use crate::commands::invocation::count_state;
use crate::ui::phrase;

/// Checks for conflicts between servers.
pub(super) fn check(catalog: &Catalog) -> Vec<Check> {
    let mut checks = collisions(catalog);
    let shadowed = count_state(catalog, DefinitionState::Shadowed);
    if shadowed > 0 {
        let verb = if shadowed == 1 { "is" } else { "are" };
        let message = format!("{} {verb} shadowed", phrase::count(shadowed, "definition"));
        checks.push(Check::note("shadowed", message).hint("`wharf list --all`"));
    }
    checks
}

fn collisions(catalog: &Catalog) -> Vec<Check> {
    let naming = Naming::from(&catalog.settings);
    let mut by_prefix: BTreeMap<String, Vec<&Server>> = BTreeMap::new();
    for server in catalog.winners() {
        if server.state == DefinitionState::Enabled {
            let prefix = server.definition.fields.policy.prefix.as_deref();
            let begin = naming.server_part(server.definition.name.as_str(), prefix);
            by_prefix.entry(begin).or_default().push(server);
        }
    }
    let colliding = by_prefix.into_iter().filter(|(_, servers)| servers.len() > 1);
    colliding
        .map(|(prefix, servers)| {
            let names = servers.iter().map(|server| server.definition.name.as_str());
            let names = phrase::quoted_list(names);
            let message = format!("the tool names of {names} share the prefix {prefix}");
            Check::note("tool names", message).hint("give one of them a \"prefix\"")
        })
        .collect()
}
