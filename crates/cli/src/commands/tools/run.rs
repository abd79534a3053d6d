//! Connects, waits for the tools as long as it makes sense, and shows them.

use std::sync::Arc;

use clap::Args;
use wharf::{Runtime, Snapshot, ToolServers};
use wharf_config::{Catalog, ServerName};

use super::shown::Answer;
use super::text;
use crate::commands::connect::{self, Listed};
use crate::commands::{Exit, Failure, Invocation};
use crate::ui::print_json;

/// List the tools of your servers
///
/// Connects to all enabled servers at once. A server that is slow does not delay the others: if
/// its tools are known from an earlier time, these are shown. With the name of a tool everything
/// about it is shown, with the schema of its arguments. A tool can also be named `server/tool`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf tools
  wharf tools --server github        one server only
  wharf tools mcp_github_search      one tool, with its schema
  wharf tools --fresh                wait until every list is new
  wharf tools --json | jq -r '.tools[].name'")]
pub(crate) struct ToolsArgs {
    /// One tool, by its name or as server/tool
    tool: Option<String>,
    /// Only the tools of this server
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Wait for lists from the servers themselves, and keep them
    #[arg(long)]
    fresh: bool,
}

/// Lists tools.
pub(crate) fn run(args: &ToolsArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let (catalog, servers) = match (&args.server, &args.tool) {
        (Some(server), _) => {
            let named = ToolServers::Named(vec![ServerName::new(server)]);
            (connect::only(server, invocation)?, named)
        }
        (None, Some(tool)) => connect::for_tool(tool, invocation)?,
        (None, None) => (connect::all(invocation)?, ToolServers::Any),
    };
    let work = async |runtime: &Runtime| wait(args, runtime).await;
    connect::with_servers(invocation, &catalog, work, |snapshot| {
        show(args, &snapshot, (&catalog, &servers), invocation)
    })
}

/// Waits until there is something to show.
async fn wait(args: &ToolsArgs, runtime: &Runtime) -> Arc<Snapshot> {
    let snapshot = match (args.fresh, &args.server, &args.tool) {
        (true, ..) => connect::settled(runtime).await,
        // Who names a tool or a server wants it, also if it is asleep.
        (false, _, Some(tool)) => runtime.listed_for(tool).await,
        (false, Some(_), None) => connect::ready(runtime).await,
        (false, None, None) => runtime.ready().await,
    };
    // A server that is required is waited for even if its tools are known.
    let required = snapshot.missing().filter(|server| server.status.is_pending());
    let required: Vec<&str> = required.map(|server| server.name.as_str()).collect();
    if required.is_empty() {
        return snapshot;
    }
    for server in required {
        // What comes of it is in the snapshot.
        drop(runtime.wait_for(server).await);
    }
    runtime.snapshot()
}

fn show(
    args: &ToolsArgs,
    snapshot: &Arc<Snapshot>,
    (catalog, servers): (&Catalog, &ToolServers),
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let registry = snapshot.registry();
    let tools = match &args.tool {
        Some(name) => vec![Arc::clone(connect::tool(name, snapshot, servers)?)],
        None => registry.tools().to_vec(),
    };
    let ui = &invocation.ui;
    let listed = Listed { snapshot: Arc::clone(snapshot), is_named: args.server.is_some() };
    if tools.is_empty() && listed.has_only_failed() && !ui.json {
        return listed.outcome();
    }
    if ui.json {
        print_json(&Answer::of(&tools, snapshot))?;
    } else if let (Some(_), [tool]) = (&args.tool, &tools[..]) {
        ui.data(&text::describe(tool))?;
    } else {
        ui.table(text::table(&tools))?;
        ui.gap();
        ui.problems(catalog.problems.iter().filter(|problem| problem.is_error()), &invocation.env);
    }
    if args.tool.is_none() {
        listed.say(&[], invocation);
        ui.problems(registry.problems(), &invocation.env);
        if !ui.json {
            ui.notice(&text::summary(&tools, snapshot));
        }
    }
    listed.outcome()
}
