//! Connects, waits for the tools, and prints them.

use std::sync::Arc;

use clap::Args;
use wharf::tools::Tool;
use wharf::{Runtime, Snapshot, ToolServers};
use wharf_config::{Catalog, ServerName};

use super::json::ToolsJson;
use super::text;
use crate::commands::connect::{self, ListingReport};
use crate::commands::server_args::ServerArgs;
use crate::commands::tool_usage::ToolUsage;
use crate::commands::{Exit, Failure, Invocation, defaults, report};
use crate::ui::print_json;

/// List the tools of your servers
///
/// Connects to all enabled servers at once. A slow server does not delay the others if its tools
/// are cached: then the cached tools are shown. With the name of a server, only its tools are
/// listed. With the name of a tool, its usage, arguments, an example and its schema are shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf tools
  wharf tools github                 the tools of one server
  wharf tools github/search          one tool: its arguments, an example, its schema
  wharf tools --search read file     tools that match these words
  wharf tools --fresh                wait for the live lists of all servers
  wharf tools --url https://docs.example/mcp
  wharf tools -- npx -y @modelcontextprotocol/server-everything
  wharf tools --json | jq -r '.tools[].name'")]
pub(crate) struct ToolsArgs {
    /// A server, or one tool by its name or as server/tool
    #[arg(value_name = "SERVER|TOOL")]
    name: Option<String>,
    /// Only tools with all of these words in their names, titles, arguments or descriptions; the
    /// best first
    #[arg(long, value_name = "WORDS", num_args = 1..)]
    search: Vec<String>,
    /// List only the tools of this server
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Wait for the live lists of all servers, and cache them
    #[arg(long)]
    fresh: bool,
    #[command(flatten, next_help_heading = "A server that is not configured")]
    server_args: ServerArgs,
}

/// Which tools to show.
struct ToolsQuery {
    catalog: Catalog,
    /// The servers that could have the tool.
    servers: ToolServers,
    /// One tool, as it was typed.
    tool: Option<String>,
    /// Whether one server was named.
    is_one_server: bool,
}

/// Lists tools.
pub(crate) fn run(args: &ToolsArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let query = query(args, invocation)?;
    if query.tool.is_some() && !args.search.is_empty() {
        return Err(Failure::Usage {
            message: "--search cannot be combined with the name of a tool",
            hint: "name a server, or leave the name out",
        });
    }
    let work = async |runtime: &Runtime| {
        let snapshot = wait(args, &query, runtime).await;
        let unawaited = connect::unawaited(runtime, &snapshot);
        ListingReport { snapshot, unawaited, is_named: query.is_one_server }
    };
    connect::with_servers(invocation, &query.catalog, work, |listed| {
        show(args, &query, &listed, invocation)
    })
}

fn query(args: &ToolsArgs, invocation: &Invocation) -> Result<ToolsQuery, Failure> {
    if let Some(catalog) = connect::one_off::catalog(&args.server_args, invocation)? {
        let (catalog, servers) = connect::one_off::only_server(catalog);
        return Ok(ToolsQuery { catalog, servers, tool: args.name.clone(), is_one_server: true });
    }
    if let Some(server) = &args.server {
        return one_server(server, args.name.clone(), invocation);
    }
    let Some(name) = &args.name else {
        let (catalog, servers) = (connect::select_all(invocation)?, ToolServers::Any);
        return Ok(ToolsQuery { catalog, servers, tool: None, is_one_server: false });
    };
    if connect::is_server(name, invocation)? {
        return one_server(name, None, invocation);
    }
    let (catalog, servers) = connect::select_for_tool(name, invocation)?;
    Ok(ToolsQuery { catalog, servers, tool: Some(name.clone()), is_one_server: false })
}

fn one_server(
    name: &str,
    tool: Option<String>,
    invocation: &Invocation,
) -> Result<ToolsQuery, Failure> {
    let catalog = connect::select_one(name, invocation)?;
    let servers = ToolServers::Named(vec![ServerName::new(name)]);
    Ok(ToolsQuery { catalog, servers, tool, is_one_server: true })
}

/// Waits until the tools are listed.
async fn wait(args: &ToolsArgs, query: &ToolsQuery, runtime: &Runtime) -> Arc<Snapshot> {
    let snapshot = match (args.fresh, &query.tool, query.is_one_server) {
        (true, ..) => connect::settled(runtime).await,
        // A named tool or server is connected even if it is lazy.
        (false, Some(tool), _) => {
            connect::ready(runtime).await;
            runtime.listed_for(tool).await
        }
        (false, None, true) => connect::ready(runtime).await,
        (false, None, false) => runtime.ready().await,
    };
    // A required server is waited for even if its tools are cached.
    let required = snapshot.missing_required().filter(|server| server.status.is_pending());
    let required: Vec<&str> = required.map(|server| server.name.as_str()).collect();
    if required.is_empty() {
        return snapshot;
    }
    for server in required {
        // The result is in the snapshot.
        drop(runtime.wait_for(server).await);
    }
    runtime.snapshot()
}

fn show(
    args: &ToolsArgs,
    query: &ToolsQuery,
    listed: &ListingReport,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let snapshot = &listed.snapshot;
    if let Some(name) = &query.tool {
        let tool = connect::find_tool(name, snapshot, &query.servers)?;
        return show_one(tool, query, listed, invocation);
    }
    let registry = snapshot.registry();
    let words = args.search.join(" ");
    let tools = match words.trim() {
        "" => registry.tools().to_vec(),
        words => registry.search(words).into_iter().cloned().collect(),
    };
    let ui = &invocation.ui;
    if registry.tools().is_empty() && listed.has_only_failed() && !ui.json {
        return listed.outcome();
    }
    if ui.json {
        let answer = ToolsJson::of(&tools, listed);
        print_json(&report::with_failure(&answer, &listed.outcome()))?;
    } else {
        ui.table(text::table(&tools))?;
        ui.blank_line();
        let errors = query.catalog.problems.iter().filter(|problem| problem.is_error());
        ui.problems(errors, &invocation.env);
    }
    listed.print_errors(&[], invocation);
    if let Some(name) = args.name.as_deref().filter(|_| query.is_one_server) {
        text::also_a_tool(name, invocation).inspect(|note| ui.notice(note));
    }
    let cut: Vec<_> = snapshot.servers().filter_map(|it| it.cut_problem()).collect();
    ui.problems(&cut, &invocation.env);
    ui.problems(registry.problems(), &invocation.env);
    ui.problems(&text::omitted_tools(snapshot), &invocation.env);
    if !ui.json && tools.is_empty() && !words.is_empty() {
        ui.notice(&text::nothing_found(&words, registry.tools().len()));
    } else if !ui.json {
        ui.notice(&text::summary(&tools, snapshot));
        defaults::print_download_notice(&query.catalog, &invocation.env, ui);
    }
    listed.outcome()
}

fn show_one(
    tool: &Arc<Tool>,
    query: &ToolsQuery,
    listed: &ListingReport,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let snapshot = &listed.snapshot;
    let after = connect::one_off::repeated_args(&query.catalog);
    let usage = ToolUsage::of(tool, snapshot.registry(), after);
    if invocation.ui.json {
        print_json(&ToolsJson::of(std::slice::from_ref(tool), listed).with_usage(&usage))?;
    } else {
        invocation.ui.sentences(&text::describe(tool, &usage))?;
        // JSON is not wrapped, so that it can be copied.
        invocation.ui.data(&text::schemas(tool))?;
    }
    listed.outcome()
}
