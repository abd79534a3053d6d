//! Hermes: `mcp_servers` in YAML. Source: its documentation.
//!
//! Timeouts are in seconds, and `timeout` is that of a call; `tools` has the included and excluded
//! tools. On Windows, newer versions have the file in the local application data.

use super::program::{Dialect, Program, TimeoutKind, user, user_on};

const KEY: &[&str] = &["mcp_servers"];

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect { timeout_kind: TimeoutKind::Call, ..Dialect::STANDARD }.in_seconds(),
    read_extra_fields: |map, entry| {
        let names = |key| {
            let node = map.get("tools")?.get(key)?;
            let one = node.as_str().map(|name| vec![name.to_owned()]);
            let list = || node.as_list()?.iter().map(|n| n.as_str().map(str::to_owned)).collect();
            one.or_else(list).filter(|names: &Vec<String>| !names.is_empty())
        };
        if let Some(names) = names("include") {
            entry.policy().include_tools = Some(names);
        }
        entry.policy().exclude_tools.extend(names("exclude").unwrap_or_default());
    },
    files: &[
        user("${HERMES_HOME:-~/.hermes}/config.yaml").servers(KEY),
        user_on("", "", "{localappdata}/hermes/config.yaml").servers(KEY),
    ],
    ..Program::new("hermes", "Hermes")
};
