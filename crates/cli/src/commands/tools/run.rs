//! Connects, waits for the tools as long as it makes sense, and shows them.

use std::sync::Arc;

use clap::Args;
use wharf::tools::Tool;
use wharf::{Runtime, Snapshot, ToolServers};
use wharf_config::{Catalog, ServerName};

use super::shown::Answer;
use super::text;
use crate::commands::connect::{self, Listed};
use crate::commands::server_words::ServerWords;
use crate::commands::usage::Usage;
use crate::commands::{Exit, Failure, Invocation, defaults, report};
use crate::ui::print_json;

/// List the tools of your servers
///
/// Connects to all enabled servers at once. A server that is slow does not delay the others: if
/// its tools are known from an earlier time, these are shown. With the name of a server only its
/// tools are listed. With the name of a tool everything about it is shown: how it is called, its
/// arguments, an example to copy, and its schema.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf tools
  wharf tools github                 the tools of one server
  wharf tools github/search          one tool: its arguments, an example, its schema
  wharf tools --search read file     tools that have to do with these words
  wharf tools --fresh                wait until every list is new
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
    /// Only the tools of this server
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Wait for lists from the servers themselves, and keep them
    #[arg(long)]
    fresh: bool,
    #[command(flatten, next_help_heading = "A server that is configured nowhere")]
    given: ServerWords,
}

/// What is to be shown.
struct Wanted {
    catalog: Catalog,
    /// The servers that could have it.
    servers: ToolServers,
    /// One tool, as it was typed.
    tool: Option<String>,
    /// Whether one server was named.
    is_one_server: bool,
}

/// Lists tools.
pub(crate) fn run(args: &ToolsArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let wanted = wanted(args, invocation)?;
    if wanted.tool.is_some() && !args.search.is_empty() {
        return Err(Failure::Usage {
            message: "--search lists tools, and one tool is named",
            hint: "name a server, or nothing",
        });
    }
    let work = async |runtime: &Runtime| {
        let snapshot = wait(args, &wanted, runtime).await;
        let late = connect::late(runtime, &snapshot);
        Listed { snapshot, late, is_named: wanted.is_one_server }
    };
    connect::with_servers(invocation, &wanted.catalog, work, |listed| {
        show(args, &wanted, &listed, invocation)
    })
}

fn wanted(args: &ToolsArgs, invocation: &Invocation) -> Result<Wanted, Failure> {
    if let Some(catalog) = connect::one_off::given(&args.given, invocation)? {
        let (catalog, servers) = connect::one_off::alone(catalog);
        return Ok(Wanted { catalog, servers, tool: args.name.clone(), is_one_server: true });
    }
    if let Some(server) = &args.server {
        return one_server(server, args.name.clone(), invocation);
    }
    let Some(name) = &args.name else {
        let (catalog, servers) = (connect::all(invocation)?, ToolServers::Any);
        return Ok(Wanted { catalog, servers, tool: None, is_one_server: false });
    };
    if connect::is_server(name, invocation)? {
        return one_server(name, None, invocation);
    }
    let (catalog, servers) = connect::for_tool(name, invocation)?;
    Ok(Wanted { catalog, servers, tool: Some(name.clone()), is_one_server: false })
}

fn one_server(
    name: &str,
    tool: Option<String>,
    invocation: &Invocation,
) -> Result<Wanted, Failure> {
    let catalog = connect::only(name, invocation)?;
    let servers = ToolServers::Named(vec![ServerName::new(name)]);
    Ok(Wanted { catalog, servers, tool, is_one_server: true })
}

/// Waits until there is something to show.
async fn wait(args: &ToolsArgs, wanted: &Wanted, runtime: &Runtime) -> Arc<Snapshot> {
    let snapshot = match (args.fresh, &wanted.tool, wanted.is_one_server) {
        (true, ..) => connect::settled(runtime).await,
        // Who names a tool or a server wants it, also if it is asleep.
        (false, Some(tool), _) => {
            connect::ready(runtime).await;
            runtime.listed_for(tool).await
        }
        (false, None, true) => connect::ready(runtime).await,
        (false, None, false) => runtime.ready().await,
    };
    // A server that is required is waited for even if its tools are known.
    let required = snapshot.missing_required().filter(|server| server.status.is_pending());
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
    wanted: &Wanted,
    listed: &Listed,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let snapshot = &listed.snapshot;
    if let Some(name) = &wanted.tool {
        let tool = connect::tool(name, snapshot, &wanted.servers)?;
        return show_one(tool, (wanted, listed), invocation);
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
        let answer = Answer::of(&tools, listed);
        print_json(&report::beside(&answer, &listed.outcome()))?;
    } else {
        ui.table(text::table(&tools))?;
        ui.gap();
        let errors = wanted.catalog.problems.iter().filter(|problem| problem.is_error());
        ui.problems(errors, &invocation.env);
    }
    listed.say(&[], invocation);
    if let Some(name) = args.name.as_deref().filter(|_| wanted.is_one_server) {
        text::also_a_tool(name, invocation).inspect(|note| ui.notice(note));
    }
    let cut: Vec<_> = snapshot.servers().filter_map(|it| it.cut_problem()).collect();
    ui.problems(&cut, &invocation.env);
    ui.problems(registry.problems(), &invocation.env);
    ui.problems(&text::set_aside(snapshot), &invocation.env);
    if !ui.json && tools.is_empty() && !words.is_empty() {
        ui.notice(&text::nothing_found(&words, registry.tools().len()));
    } else if !ui.json {
        ui.notice(&text::summary(&tools, snapshot));
        defaults::say_what_they_download(&wanted.catalog, &invocation.env, ui);
    }
    listed.outcome()
}

fn show_one(
    tool: &Arc<Tool>,
    (wanted, listed): (&Wanted, &Listed),
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let snapshot = &listed.snapshot;
    let after = connect::one_off::words_again(&wanted.catalog);
    let usage = Usage::of(tool, snapshot.registry(), after);
    if invocation.ui.json {
        print_json(&Answer::of(std::slice::from_ref(tool), listed).with_usage(&usage))?;
    } else {
        invocation.ui.sentences(&text::describe(tool, &usage))?;
        // JSON is not wrapped, so that it can be copied.
        invocation.ui.data(&text::schemas(tool))?;
    }
    listed.outcome()
}
