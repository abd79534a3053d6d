//! The tools as programs get them.

use std::sync::Arc;

use serde::Serialize;
use wharf::ServerSnapshot;
use wharf::Snapshot;
use wharf::protocol::Json;
use wharf::tools::{Freshness, Tool};
use wharf_config::{Approval, Problem};

use crate::commands::connect::{ListingReport, ServerErrorJson};
use crate::commands::tool_usage::ToolUsage;

/// All that is known of the tools.
#[derive(Serialize)]
pub(super) struct ToolsJson<'a> {
    tools: Vec<ToolJson<'a>>,
    servers: Vec<ToolServerJson<'a>>,
    errors: Vec<ServerErrorJson>,
    /// What is not as it should be with servers and their tools.
    problems: Vec<Problem>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolJson<'a> {
    name: &'a str,
    server: &'a str,
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    description: String,
    input_schema: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Json>,
    freshness: &'static str,
    approval: Approval,
    /// How it is called, if it was asked for alone.
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
    /// Why not all of its tools are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl<'a> ToolsJson<'a> {
    /// Puts together what is known at a moment.
    pub(super) fn of(tools: &'a [Arc<Tool>], listed: &'a ListingReport) -> Self {
        Self {
            tools: tools.iter().map(|tool| ToolJson::of(tool)).collect(),
            servers: listed.snapshot.servers().map(|server| ToolServerJson::of(server)).collect(),
            errors: listed.errors(&[]),
            problems: problems(&listed.snapshot),
        }
    }

    /// Says how the only tool is called.
    pub(super) fn with_usage(mut self, usage: &ToolUsage<'_>) -> Self {
        if let [tool] = &mut self.tools[..] {
            tool.usage = Some(usage.line());
            tool.example = usage.example();
        }
        self
    }
}

/// Collects what is not as it should be: names that collide, tools that were set aside, and so on.
fn problems(snapshot: &Snapshot) -> Vec<Problem> {
    let of_servers = snapshot.servers().flat_map(|server| server.problems());
    snapshot.registry().problems().iter().cloned().chain(of_servers).collect()
}

impl<'a> ToolJson<'a> {
    fn of(tool: &'a Tool) -> Self {
        Self {
            name: tool.name(),
            server: tool.server().as_str(),
            tool: tool.tool(),
            title: tool.title().map(|title| title.to_string()),
            description: tool.description().unwrap_or_default().to_string(),
            input_schema: tool.input_schema().clone(),
            output_schema: tool.output_schema(),
            annotations: tool.annotations(),
            freshness: freshness(tool),
            approval: tool.approval(),
            usage: None,
            example: None,
        }
    }
}

/// Says whether a tool is as its server lists it now.
pub(super) fn freshness(tool: &Tool) -> &'static str {
    match tool.freshness() {
        Freshness::Live => "live",
        Freshness::Cached => "cached",
    }
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
