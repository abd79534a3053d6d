//! The JSON output of `wharf tools`.

use std::sync::Arc;

use serde::Serialize;
use wharf::{ServerSnapshot, Snapshot, Tool};
use wharf_config::Problem;

use crate::commands::connect::{ListingReport, ServerErrorJson};
use crate::commands::tool_usage::ToolUsage;

/// The JSON document.
#[derive(Serialize)]
pub(super) struct ToolsJson<'a> {
    tools: Vec<ToolJson<'a>>,
    servers: Vec<ToolServerJson<'a>>,
    errors: Vec<ServerErrorJson>,
    /// Problems of servers and their tools.
    problems: Vec<Problem>,
}

#[derive(Serialize)]
struct ToolJson<'a> {
    #[serde(flatten)]
    tool: &'a Tool,
    /// The usage line, if only this tool was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
}

#[derive(Serialize)]
struct ToolServerJson<'a> {
    name: &'a str,
    status: &'static str,
    tools: usize,
    /// Why the list of tools was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl<'a> ToolsJson<'a> {
    /// Creates the document from the state of the servers.
    pub(super) fn of(tools: &'a [Arc<Tool>], listed: &'a ListingReport) -> Self {
        Self {
            tools: tools.iter().map(|tool| ToolJson { tool, usage: None, example: None }).collect(),
            servers: listed.snapshot.servers().map(|server| ToolServerJson::of(server)).collect(),
            errors: listed.errors(&[]),
            problems: problems(&listed.snapshot),
        }
    }

    /// Adds the usage line and an example to the only tool.
    pub(super) fn with_usage(mut self, usage: &ToolUsage<'_>) -> Self {
        if let [tool] = &mut self.tools[..] {
            tool.usage = Some(usage.line());
            tool.example = usage.example();
        }
        self
    }
}

/// Collects the problems: colliding names, tools that were omitted, and so on.
fn problems(snapshot: &Snapshot) -> Vec<Problem> {
    let of_servers = snapshot.servers().flat_map(|server| server.problems());
    snapshot.registry().problems().iter().cloned().chain(of_servers).collect()
}

impl<'a> ToolServerJson<'a> {
    fn of(server: &'a ServerSnapshot) -> Self {
        Self {
            name: server.name.as_str(),
            status: server.status.word(),
            tools: server.tools(),
            cut: server.cut.map(|cut| cut.to_string()),
            error: server.connection_problem(),
        }
    }
}
