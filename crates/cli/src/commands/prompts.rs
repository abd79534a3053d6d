//! `wharf prompts`: lists the prompts of servers.

use clap::Args;
use serde::Serialize;
use wharf::protocol::view::{Prompt, PromptArgument};
use wharf::{CollectedList, Runtime};
use wharf_config::text::clean;
use wharf_config::{Problem, ServerName};

use super::connect::{self, CutListJson, ListingReport, ServerErrorJson, cut_lists};
use super::{Exit, Failure, Invocation, report};
use crate::ui::{Cell, Column, Table, phrase, print_json, style};

/// List the prompts of your servers
///
/// Connects to all enabled servers at once and lists the prompts of each. A prompt is a message
/// template of a server; `wharf prompt` fills in its arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf prompts
  wharf prompts --server docs
  wharf prompts --json | jq -r '.prompts[].name'")]
pub(crate) struct PromptsArgs {
    /// List only the prompts of this server
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
}

#[derive(Serialize)]
struct PromptsJson {
    prompts: Vec<PromptInfoJson>,
    /// Which lists were cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cut: Vec<CutListJson>,
    errors: Vec<ServerErrorJson>,
    /// Values that were omitted from the servers' configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
}

#[derive(Serialize)]
struct PromptInfoJson {
    server: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    arguments: Vec<PromptArgumentJson>,
}

#[derive(Serialize)]
struct PromptArgumentJson {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    required: bool,
}

/// Lists prompts.
pub(crate) fn run(args: &PromptsArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let catalog = match &args.server {
        Some(server) => connect::select_one(server, invocation)?,
        None => connect::select_all(invocation)?,
    };
    let work = async |runtime: &Runtime| {
        let server = args.server.as_deref();
        let snapshot = match server {
            Some(_) => connect::settled(runtime).await,
            None => connect::settled_except_failing(runtime).await,
        };
        let unawaited = connect::unawaited(runtime, &snapshot);
        (
            ListingReport { snapshot, unawaited, is_named: server.is_some() },
            runtime.prompts(server).await,
        )
    };
    connect::with_servers(invocation, &catalog, work, |(listed, prompts)| {
        show(&listed, &prompts, invocation)
    })
}

fn show(
    listed: &ListingReport,
    prompts: &CollectedList<Prompt>,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let ui = &invocation.ui;
    if listed.has_only_failed() && !ui.json {
        return listed.outcome();
    }
    let answer = PromptsJson {
        problems: connect::omissions(&listed.snapshot),
        errors: listed.errors(&prompts.errors),
        cut: cut_lists(prompts, "prompts"),
        prompts: prompts.items.iter().map(prompt).collect(),
    };
    if ui.json {
        print_json(&report::with_failure(&answer, &listed.outcome()))?;
    } else {
        ui.table(table(&answer))?;
        ui.blank_line();
    }
    listed.print_errors(&prompts.errors, invocation);
    ui.problems(&prompts.problems("prompts"), &invocation.env);
    if !ui.json {
        ui.notice(&format!("{}.", phrase::count(answer.prompts.len(), "prompt")));
    }
    listed.outcome()
}

fn prompt((server, prompt): &(ServerName, Prompt)) -> PromptInfoJson {
    let text = |text: Option<bytestring::ByteString>| text.map(|text| text.to_string());
    let argument = |argument: PromptArgument| PromptArgumentJson {
        name: argument.name.to_string(),
        title: text(argument.title),
        description: text(argument.description),
        required: argument.is_required,
    };
    PromptInfoJson {
        server: server.as_str().to_owned(),
        name: prompt.name().to_string(),
        title: text(prompt.title()),
        description: text(prompt.description()),
        arguments: prompt.arguments().into_iter().map(argument).collect(),
    }
}

fn table(answer: &PromptsJson) -> Table {
    let mut table = Table::new(&[
        Column::text("NAME"),
        Column::text("SERVER").droppable_at(2),
        Column::text("ARGUMENTS").droppable_at(1),
        Column::text("DESCRIPTION").shrinking_first_to(24).droppable_at(0),
    ]);
    for prompt in &answer.prompts {
        let argument = |argument: &PromptArgumentJson| {
            let name = clean(&argument.name);
            if argument.required { name } else { format!("[{name}]") }
        };
        let arguments: Vec<String> = prompt.arguments.iter().map(argument).collect();
        let about = prompt.description.as_deref().or(prompt.title.as_deref()).unwrap_or_default();
        table.row(vec![
            Cell::painted(clean(&prompt.name), style::strong),
            Cell::plain(phrase::name(&prompt.server)),
            Cell::plain(arguments.join(" ")),
            Cell::painted(phrase::first_line(about), style::faint),
        ]);
    }
    table
}
