//! Looks at what concerns several servers: names that become the same, and what is hidden.

use std::collections::BTreeMap;

use wharf_config::{Catalog, Server, State};

use super::check::Check;
use crate::commands::invocation::count_state;
use crate::ui::phrase;

/// Checks the servers against each other.
pub(super) fn check(catalog: &Catalog) -> Vec<Check> {
    let mut checks = collisions(catalog);
    let shadowed = count_state(catalog, State::Shadowed);
    if shadowed > 0 {
        let verb = if shadowed == 1 { "is" } else { "are" };
        let message = format!("{} {verb} shadowed", phrase::count(shadowed, "definition"));
        checks.push(Check::note("shadowed", message).hint("wharf list --all"));
    }
    checks
}

fn collisions(catalog: &Catalog) -> Vec<Check> {
    let mut by_prefix: BTreeMap<String, Vec<&Server>> = BTreeMap::new();
    for server in catalog.winners() {
        if server.state == State::Enabled {
            let prefix = server.definition.fields.policy.prefix.as_deref();
            let prefix = prefix.unwrap_or(server.definition.name.as_str());
            by_prefix.entry(tool_prefix(prefix)).or_default().push(server);
        }
    }
    let colliding = by_prefix.into_iter().filter(|(_, servers)| servers.len() > 1);
    colliding
        .map(|(prefix, servers)| {
            let names = servers.iter().map(|server| server.definition.name.as_str());
            let message = format!(
                "the tools of {} begin with the same words: mcp_{prefix}_…",
                phrase::quoted_list(names)
            );
            Check::note("tool names", message).hint("give one of them a \"prefix\"")
        })
        .collect()
}

/// Returns what the name of a server becomes in the names of its tools.
fn tool_prefix(name: &str) -> String {
    let mut prefix = String::new();
    for c in name.to_lowercase().chars() {
        let c = if c.is_ascii_lowercase() { c } else { '_' };
        if c != '_' || !prefix.ends_with('_') {
            prefix.push(c);
        }
    }
    prefix.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words_of_small_letters() {
        let cases =
            [("Git-Hub", "git_hub"), ("git__hub2", "git_hub"), ("-a b-", "a_b"), ("日本", "")];
        for (name, prefix) in cases {
            assert_eq!(tool_prefix(name), prefix);
        }
    }
}
