//! Tools that a server lists and that are omitted: its entry excludes them, or they are
//! unusable. The error of a call says which of the two it is.

use wharf_config::{Policy, ServerName};

use super::alias;
use super::filter::ToolFilter;
use super::naming::Namer;
use super::schema;
use super::server_tools::ServerTools;

/// Why a tool is omitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OmitReason {
    /// `excludeTools` names it.
    Excluded,
    /// `includeTools` does not name it.
    NotIncluded,
    /// It cannot be used.
    Unusable(&'static str),
}

/// A tool that a server lists and that is omitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OmittedTool {
    pub(crate) server: ServerName,
    pub(crate) tool: String,
    pub(crate) why: OmitReason,
}

/// Finds an omitted tool, by its name or an alias.
pub(crate) fn find(server_tools: &ServerTools, policy: &Policy, text: &str) -> Option<OmittedTool> {
    let server = server_tools.server();
    let filter = ToolFilter::new(policy, &mut Vec::new());
    let mut namer = Namer::new(server_tools.naming(), server.as_str(), policy.prefix.as_deref());
    let wanted = alias::strip_server_name(text, server.as_str()).unwrap_or(text);
    server_tools.listed().iter().find_map(|tool| {
        let name: &str = tool.name();
        if name != wanted && !namer.preferred_name(name).allows(text) {
            return None;
        }
        let why = if filter.excludes(name) {
            OmitReason::Excluded
        } else if !filter.includes(name) {
            OmitReason::NotIncluded
        } else {
            OmitReason::Unusable(schema::light(tool.input_schema()).err()?)
        };
        Some(OmittedTool { server: server.clone(), tool: name.to_owned(), why })
    })
}
