//! The output of `wharf tools` for a person. Names, descriptions and schemas are untrusted text.

use std::fmt::Write as _;
use std::sync::Arc;

use wharf::tools::{Freshness, OMITTED_TOOLS, Tool};
use wharf::{Options, Snapshot, Status, cached_tools};
use wharf_config::Problem;
use wharf_config::text::clean;

use crate::commands::Invocation;
use crate::commands::tool_usage::ToolUsage;
use crate::ui::{Cell, Column, Lines, Table, indented, phrase, style};

/// The most servers with a tool of the same name that are named.
const MOST_NAMED: usize = 3;

/// Creates the table of tools.
pub(super) fn table(tools: &[Arc<Tool>]) -> Table {
    let mut table = Table::new(&[
        Column::text("NAME"),
        Column::text("SERVER").droppable_at(0),
        Column::text("DESCRIPTION").shrinking_first_to(24).droppable_at(1),
    ]);
    for tool in tools {
        let description = tool.description().unwrap_or_default();
        table.row(vec![
            Cell::painted(clean(tool.name()), style::strong),
            Cell::plain(phrase::name(tool.server().as_str())),
            Cell::painted(phrase::first_line(&description), style::faint),
        ]);
    }
    table
}

/// Counts the tools, and names the servers whose tools come from the cache.
pub(super) fn summary(tools: &[Arc<Tool>], snapshot: &Snapshot) -> String {
    let mut servers: Vec<&str> = tools.iter().map(|tool| tool.server().as_str()).collect();
    servers.sort_unstable();
    servers.dedup();
    let mut text = format!(
        "{} from {}.",
        phrase::count(tools.len(), "tool"),
        phrase::count(servers.len(), "server")
    );
    let pending = snapshot.pending().map(|server| server.name.as_str());
    let pending: Vec<&str> = pending.filter(|name| servers.contains(name)).collect();
    if !pending.is_empty() {
        let are = if pending.len() == 1 { "is" } else { "are" };
        let list = phrase::quoted_list(pending);
        let _infallible =
            write!(text, " {list} {are} still connecting, so these tools come from the cache.");
    }
    let unknown = snapshot
        .servers()
        .filter(|server| server.status == Status::Disconnected && server.tools() == 0);
    let unknown: Vec<&str> = unknown.map(|server| server.name.as_str()).collect();
    if !unknown.is_empty() {
        let list = phrase::quoted_list(unknown);
        let _infallible =
            write!(text, " Connected only when needed: {list} (`wharf tools --fresh`).");
    }
    text
}

/// Returns the notice that no tool matches the search.
pub(super) fn nothing_found(words: &str, tools: usize) -> String {
    let count = phrase::count(tools, "tool");
    format!("No tool matches {}; there are {count}.", phrase::quoted(words))
}

/// Returns a note if the name of a server is also the name of a cached tool.
pub(super) fn also_a_tool(name: &str, invocation: &Invocation) -> Option<String> {
    let catalog = invocation.load_quietly().ok()?;
    let registry =
        cached_tools(&catalog, &Options::new(invocation.env.clone()).store_in_wharf_home());
    let same = registry.tools().iter().filter(|tool| tool.tool() == name);
    let servers: Vec<&str> = same.map(|tool| tool.server().as_str()).take(MOST_NAMED).collect();
    let path = format!("{}/{name}", servers.first()?);
    let (name, servers) = (phrase::quoted(name), phrase::quoted_list(servers));
    Some(format!("note: {name} is also a tool of {servers}: `wharf tools {}`", phrase::word(&path)))
}

/// Collects the problems of tools that were omitted.
pub(super) fn omitted_tools(snapshot: &Snapshot) -> Vec<Problem> {
    let problems = snapshot.servers().flat_map(|server| server.problems());
    problems.filter(|problem| problem.code == OMITTED_TOOLS).collect()
}

/// Describes one tool: what it is, and how to call it.
pub(super) fn describe(tool: &Tool, usage: &ToolUsage<'_>) -> String {
    let mut lines = Lines::default();
    lines.add(style::strong(&clean(tool.name())));
    let server = phrase::name(tool.server().as_str());
    lines.labelled("server", &format!("{server}  {}", style::faint(&clean(&tool.path()))));
    lines.labelled("tool", &clean(tool.tool()));
    if let Some(title) = tool.title() {
        lines.labelled("title", &clean(&title));
    }
    lines.labelled("approval", phrase::approval(tool.approval()));
    let claims = claims(tool);
    if !claims.is_empty() {
        lines.labelled("annotations", &claims.join(", "));
    }
    if tool.freshness() == Freshness::Cached {
        lines.labelled("freshness", "cached; its server has not listed it in this run");
    }
    if let Some(description) = tool.description() {
        lines.add("");
        lines.add(phrase::lines(description.trim()));
    }
    lines.add("");
    lines.add(style::strong("Usage"));
    lines.add(format!("  {}", usage.line()));
    lines.add("");
    lines.add(style::strong("Arguments"));
    usage.describe(&mut lines);
    if let Some(example) = usage.example() {
        lines.add("");
        lines.add(style::strong("Example"));
        lines.add(format!("  {example}"));
    }
    lines.into_text()
}

/// Formats the schemas of a tool.
pub(super) fn schemas(tool: &Tool) -> String {
    let mut lines = Lines::default();
    lines.add("");
    lines.add(style::strong("Schema"));
    lines.add(indented(tool.input_schema().as_str()));
    if let Some(schema) = tool.output_schema() {
        lines.add("");
        lines.add(style::strong("Structured result"));
        lines.add(indented(schema.as_str()));
    }
    lines.into_text()
}

/// Lists a tool's annotations, which are claims of its server.
fn claims(tool: &Tool) -> Vec<&'static str> {
    let hints = tool.hints();
    let claims = [
        (hints.read_only == Some(true), "read-only"),
        (hints.destructive == Some(true), "destructive"),
        (hints.idempotent == Some(true), "idempotent"),
        (hints.open_world == Some(true), "open world"),
    ];
    claims.into_iter().filter(|(is_claimed, _)| *is_claimed).map(|(_, claim)| claim).collect()
}
