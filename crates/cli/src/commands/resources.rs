//! `wharf resources`: lists the resources and resource templates of servers.

use clap::Args;
use serde::Serialize;
use wharf::protocol::view::{Resource, ResourceTemplate};
use wharf::{CollectedList, Runtime};
use wharf_config::text::clean;
use wharf_config::{Problem, ServerName};

use super::connect::{self, CutListJson, ListingReport, ServerErrorJson, cut_lists};
use super::{Exit, Failure, Invocation, report};
use crate::ui::{Cell, Column, Table, phrase, print_json, style};

/// List the resources of your servers
///
/// Connects to all enabled servers at once and lists the resources and the resource templates of
/// each. A template is a URI pattern such as `file:///{path}`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf resources
  wharf resources --server docs
  wharf resources --json | jq -r '.resources[].uri'")]
pub(crate) struct ResourcesArgs {
    /// List only the resources of this server
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
}

#[derive(Serialize)]
struct ResourcesJson {
    resources: Vec<ResourceInfoJson>,
    templates: Vec<ResourceInfoJson>,
    /// Which lists were cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cut: Vec<CutListJson>,
    errors: Vec<ServerErrorJson>,
    /// Values that were omitted from the servers' configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceInfoJson {
    server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_template: Option<String>,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
}

/// Lists resources.
pub(crate) fn run(args: &ResourcesArgs, invocation: &Invocation) -> Result<Exit, Failure> {
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
        let (resources, templates) =
            tokio::join!(runtime.resources(server), runtime.resource_templates(server));
        (ListingReport { snapshot, unawaited, is_named: server.is_some() }, resources, templates)
    };
    connect::with_servers(invocation, &catalog, work, |(listed, resources, templates)| {
        show(&listed, &resources, &templates, invocation)
    })
}

fn show(
    listed: &ListingReport,
    resources: &CollectedList<Resource>,
    templates: &CollectedList<ResourceTemplate>,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let ui = &invocation.ui;
    if listed.has_only_failed() && !ui.json {
        return listed.outcome();
    }
    let cut = cut_lists(resources, "resources").into_iter();
    let answer = ResourcesJson {
        problems: connect::omissions(&listed.snapshot),
        cut: cut.chain(cut_lists(templates, "templates")).collect(),
        errors: listed.errors(resources.errors.iter().chain(&templates.errors)),
        resources: resources.items.iter().map(resource).collect(),
        templates: templates.items.iter().map(template).collect(),
    };
    if ui.json {
        print_json(&report::with_failure(&answer, &listed.outcome()))?;
    } else {
        ui.table(table(&answer))?;
        ui.blank_line();
    }
    listed.print_errors(resources.errors.iter().chain(&templates.errors), invocation);
    ui.problems(&resources.problems("resources"), &invocation.env);
    ui.problems(&templates.problems("templates"), &invocation.env);
    if !ui.json {
        ui.notice(&summary(&answer));
    }
    listed.outcome()
}

fn summary(answer: &ResourcesJson) -> String {
    let resources = phrase::count(answer.resources.len(), "resource");
    match answer.templates.len() {
        0 => format!("{resources}."),
        templates => format!("{resources} and {}.", phrase::count(templates, "template")),
    }
}

fn resource((server, resource): &(ServerName, Resource)) -> ResourceInfoJson {
    let text = |text: Option<bytestring::ByteString>| text.map(|text| text.to_string());
    ResourceInfoJson {
        server: server.as_str().to_owned(),
        uri: Some(resource.uri().to_string()),
        uri_template: None,
        name: resource.name().to_string(),
        title: text(resource.title()),
        description: text(resource.description()),
        mime_type: text(resource.mime_type()),
        size: resource.size(),
    }
}

fn template((server, template): &(ServerName, ResourceTemplate)) -> ResourceInfoJson {
    let text = |text: Option<bytestring::ByteString>| text.map(|text| text.to_string());
    ResourceInfoJson {
        server: server.as_str().to_owned(),
        uri: None,
        uri_template: Some(template.uri_template().to_string()),
        name: template.name().to_string(),
        title: text(template.title()),
        description: text(template.description()),
        mime_type: text(template.mime_type()),
        size: None,
    }
}

fn table(answer: &ResourcesJson) -> Table {
    let mut table = Table::new(&[
        Column::text("URI"),
        Column::text("SERVER").droppable_at(2),
        Column::text("KIND").droppable_at(0),
        Column::text("NAME").shrinking_first_to(24).droppable_at(1),
    ]);
    for item in answer.resources.iter().chain(&answer.templates) {
        let address = item.uri.as_ref().or(item.uri_template.as_ref());
        let kind = item.mime_type.as_deref().unwrap_or_default();
        table.row(vec![
            Cell::painted(clean(address.map_or("", String::as_str)), style::strong),
            Cell::plain(phrase::name(&item.server)),
            Cell::plain(clean(kind)),
            Cell::painted(clean(item.title.as_ref().unwrap_or(&item.name)), style::faint),
        ]);
    }
    table
}
