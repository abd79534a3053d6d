//! Decides from the configuration alone which server gets a name without a suffix.
//!
//! Tool naming loses information: tools of `a-b` and of `a_b` prefer the same names, and so do
//! `git/hub_x` and `git_hub/x`. If the first server to connect got the name, names would depend on
//! which one is faster. So all names that begin with `mcp_a_b_` belong to one server, whether or
//! not it ever has such a tool; tools of other servers get a suffix there.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use super::naming::Naming;

/// The servers that own the names behind each `mcp_<server>_`.
#[derive(Debug, Default)]
pub(crate) struct NameOwners {
    /// `mcp_<server>_` → the server that owns the names that begin with it.
    by_head: BTreeMap<String, String>,
    /// The servers that do not own all names that their tools can prefer; usually none.
    contested: HashSet<String>,
}

impl NameOwners {
    /// Decides for these servers: name and prefix. Of several servers with one head, the one whose
    /// name is unchanged in it owns the names, else the one with the smallest name.
    pub(crate) fn of<'a>(
        naming: Naming,
        servers: impl Iterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Self {
        let mut by_head: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (server, prefix) in servers {
            by_head.entry(naming.server_part(server, prefix)).or_default().push(server);
        }
        let mut owners = Self::default();
        let heads: Vec<&String> = by_head.keys().collect();
        for (index, head) in heads.iter().enumerate() {
            // The heads are sorted, so those that begin with this one follow it.
            let is_extended =
                heads.get(index + 1).is_some_and(|next| next.starts_with(head.as_str()));
            let servers = &by_head[*head];
            let is_exact =
                |server: &str| naming.keeps(server) && naming.server_part(server, None) == **head;
            let owner = servers.iter().min_by_key(|server| (Reverse(is_exact(server)), **server));
            let contested = servers.iter().filter(|server| is_extended || owner != Some(server));
            owners.contested.extend(contested.map(|server| (*server).to_owned()));
            if let Some(owner) = owner {
                owners.by_head.insert((*head).clone(), (*owner).to_owned());
            }
        }
        owners
    }

    /// Tells whether a tool of a server may have a name without a suffix.
    pub(super) fn may_have(&self, server: &str, name: &str) -> bool {
        !self.contested.contains(server) || self.owner(name).is_none_or(|owner| owner == server)
    }

    /// Returns the server that owns a name: the one with the longest `mcp_<server>_` in it.
    pub(super) fn owner(&self, name: &str) -> Option<&str> {
        let ends = name.char_indices().rev().filter(|(_, c)| *c == '_').map(|(at, _)| at + 1);
        let mut heads = ends.filter(|end| *end < name.len());
        heads.find_map(|end| self.by_head.get(&name[..end])).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(servers: &[(&str, Option<&str>)], expected: &[(&str, &str, bool)]) {
        for order in [servers.to_vec(), servers.iter().rev().copied().collect()] {
            let owners = NameOwners::of(Naming::Classic, order.into_iter());
            for (server, name, may_have) in expected {
                assert_eq!(owners.may_have(server, name), *may_have, "{server} {name}");
            }
        }
    }

    #[test]
    fn servers_with_different_heads_keep_all_names() {
        check(
            &[("git", None), ("github", None)],
            &[("git", "mcp_git_push", true), ("github", "mcp_github_push", true)],
        );
    }

    #[test]
    fn the_server_whose_name_is_unchanged_owns_the_names() {
        check(
            &[("a-b", None), ("a_b", None), ("A b", None)],
            &[("a_b", "mcp_a_b_x", true), ("a-b", "mcp_a_b_x", false), ("A b", "mcp_a_b_x", false)],
        );
        check(
            &[("db2", None), ("db1", None)],
            &[("db1", "mcp_db_x", true), ("db2", "mcp_db_x", false)],
        );
    }

    #[test]
    fn the_longest_server_name_owns_the_name() {
        check(
            &[("git", None), ("git_hub", None)],
            &[
                ("git", "mcp_git_push", true),
                ("git", "mcp_git_hub_push", false),
                ("git_hub", "mcp_git_hub_push", true),
            ],
        );
    }

    #[test]
    fn a_prefix_counts_like_a_name() {
        check(
            &[("x", Some("docs")), ("docs", None)],
            &[("docs", "mcp_docs_read", true), ("x", "mcp_docs_read", false)],
        );
    }
}
