//! `wharf read URI`: prints the contents of a resource.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use serde::Serialize;
use wharf::Runtime;
use wharf::protocol::Json;
use wharf::protocol::view::{ReadResult, ResourceBody, ResourceContents};
use wharf_config::Problem;
use wharf_config::text::clean;

use super::connect::{self, MatchingServers, SoughtItem};
use super::{Exit, Failure, Invocation};
use crate::ui::{phrase, print_bytes, print_json};

/// Read a resource
///
/// Prints the contents of a resource. It is named by its URI, as server/URI, or as two words.
/// Without a server, the server is used that lists the URI or has a template for it. On a terminal,
/// control characters are escaped; elsewhere text and bytes are written unchanged.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf read file:///notes.md
  wharf read docs docs://guide                 of one server
  wharf read --server docs docs://guide > guide.md
  wharf read docs://guide --json | jq -r '.contents[].mimeType'")]
pub(crate) struct ReadArgs {
    /// The URI, optionally with its server in front
    #[arg(value_name = "URI", required = true, num_args = 1..=2)]
    words: Vec<String>,
    /// The server that has it
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
}

#[derive(Serialize)]
struct ReadJson<'a> {
    server: &'a str,
    contents: Vec<Json>,
    /// Values that were omitted from the servers' configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
}

/// Reads a resource.
pub(crate) fn run(args: &ReadArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let (server, uri) = named(args, invocation)?;
    let catalog = match &server {
        Some(server) => connect::select_one(server, invocation)?,
        None => connect::select_all(invocation)?,
    };
    let work = async |runtime: &Runtime| {
        let server = match &server {
            Some(server) => server.clone(),
            None => find_server(&uri, runtime).await?,
        };
        let result = runtime.read_resource(&server, &uri).await;
        result
            .map(|result| (server, result, connect::omissions(&runtime.snapshot())))
            .map_err(connect::request_failure)
    };
    connect::with_servers(invocation, &catalog, work, |result| {
        let (server, result, problems) = result?;
        show(&server, &result, problems, invocation)
    })
}

/// Splits what was typed into the server, if one is named, and the URI.
fn named(args: &ReadArgs, invocation: &Invocation) -> Result<(Option<String>, String), Failure> {
    match (&args.words[..], &args.server) {
        ([server, uri], None) => Ok((Some(server.clone()), uri.clone())),
        ([_, _], Some(_)) => Err(Failure::Usage {
            message: "the server is named twice",
            hint: "give --server, or the server in front of the URI",
        }),
        (words, Some(server)) => Ok((Some(server.clone()), words.concat())),
        (words, None) => {
            let uri = words.concat();
            let parts = connect::split_server(&uri, invocation)?;
            Ok(parts.map_or((None, uri), |(server, uri)| (Some(server), uri)))
        }
    }
}

/// Finds the server that lists a URI, or else one with a matching template.
async fn find_server(uri: &str, runtime: &Runtime) -> Result<String, Failure> {
    let snapshot = connect::settled_except_failing(runtime).await;
    let listed = runtime.resources(None).await.items;
    let exact = listed.iter().filter(|(_, resource)| *resource.uri() == uri);
    let mut matching = MatchingServers::new(exact.map(|(server, _)| server.as_str()));
    if matching.is_empty() {
        let templates = runtime.resource_templates(None).await.items;
        let fits = templates.iter().filter(|(_, template)| may_fit(template.uri_template(), uri));
        matching = MatchingServers::new(fits.map(|(server, _)| server.as_str()));
    }
    matching.only(&SoughtItem { what: "Resource", name: uri }, &snapshot)
}

/// Tells whether a URI can match a template: it has the template's prefix and suffix.
fn may_fit(template: &str, uri: &str) -> bool {
    let (Some(open), Some(close)) = (template.find('{'), template.rfind('}')) else {
        return template == uri;
    };
    let (begin, end) = (&template[..open], template.get(close + 1..).unwrap_or_default());
    open > 0 && uri.len() >= begin.len() + end.len() && uri.starts_with(begin) && uri.ends_with(end)
}

fn show(
    server: &str,
    result: &ReadResult,
    problems: Vec<Problem>,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let ui = &invocation.ui;
    let contents = result.contents();
    if ui.json {
        let contents = contents.iter().map(|contents| contents.raw().clone()).collect();
        print_json(&ReadJson { server, contents, problems })?;
        return Ok(Exit::Success);
    }
    for contents in &contents {
        match contents.body() {
            ResourceBody::Text(text) if ui.is_data_on_terminal() => {
                ui.data(&format!("{}\n", phrase::lines(&text).trim_end_matches('\n')))?;
            }
            ResourceBody::Text(text) => print_bytes(text.as_bytes())?,
            ResourceBody::Blob(_) if ui.is_data_on_terminal() => {
                ui.data(&line(contents, "bytes"))?;
            }
            ResourceBody::Blob(data) => match STANDARD.decode(data.trim()) {
                Ok(bytes) => print_bytes(&bytes)?,
                Err(_) => ui.message(&line(contents, "not valid base64")),
            },
            ResourceBody::Missing => ui.message(&line(contents, "nothing")),
        }
    }
    if contents.is_empty() {
        ui.notice("The resource is empty.");
    }
    Ok(Exit::Success)
}

/// Describes contents that cannot be printed.
fn line(contents: &ResourceContents, what: &str) -> String {
    let uri = contents.uri().map(|uri| uri.to_string()).unwrap_or_default();
    let kind = contents.mime_type().map(|kind| format!(" {kind}")).unwrap_or_default();
    format!("[{what}: {}]\n", clean(&format!("{uri}{kind}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_matches_by_its_prefix_and_suffix() {
        let fits = [
            ("file:///{path}", "file:///a/b", true),
            ("db://{table}/rows", "db://a/rows", true),
            ("db://{table}/rows", "db://a/columns", false),
            ("db://x", "db://x", true),
            ("{anything}", "db://x", false),
            ("a{b}a", "a", false),
            ("}{", "}x", false),
        ];
        for (template, uri, expected) in fits {
            assert_eq!(may_fit(template, uri), expected, "{template} {uri}");
        }
    }
}
