//! Tools that a server lists and that are not offered: the person's entry leaves them out, or they cannot
//! be used. A call of one is told which of these it is.

use wharf_config::{Policy, ServerName};

use super::alias;
use super::filter::Filter;
use super::naming::Namer;
use super::offer::Offer;
use super::schema;

/// Why a listed tool is not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// `excludeTools` names it.
    Excluded,
    /// `includeTools` does not name it.
    NotIncluded,
    /// It is not usable.
    Unusable(&'static str),
}

/// A tool that a server lists and that is not offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOutTool {
    pub(crate) server: ServerName,
    pub(crate) tool: String,
    pub(crate) why: Why,
}

/// Finds a tool that is not offered by a text that names it in any way.
pub(crate) fn find(offer: &Offer, policy: &Policy, text: &str) -> Option<LeftOutTool> {
    let server = offer.server();
    let filter = Filter::new(policy, &mut Vec::new());
    let mut namer = Namer::new(offer.naming(), server.as_str(), policy.prefix.as_deref());
    let wanted = alias::tool_of(text, server.as_str()).unwrap_or(text);
    offer.listed().iter().find_map(|tool| {
        let name: &str = tool.name();
        if name != wanted && !namer.wish(name).allows(text) {
            return None;
        }
        let why = if filter.excludes(name) {
            Why::Excluded
        } else if !filter.lets_in(name) {
            Why::NotIncluded
        } else {
            Why::Unusable(schema::light(tool.input_schema()).err()?)
        };
        Some(LeftOutTool { server: server.clone(), tool: name.to_owned(), why })
    })
}
