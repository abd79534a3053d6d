//! `wharf get NAME`: shows one entry as written, or with its expanded values.

use clap::Args;
use serde::Serialize;
use wharf_config::text::clean;
use wharf_config::trust::Trust;
use wharf_config::view::{CatalogServerView, NamedValues};
use wharf_config::{DefinitionState, Env, Server};

use super::catalog_history::CatalogHistory;
use super::invocation::find_server;
use super::{Exit, Failure, Invocation};
use crate::ui::{Lines, phrase, print_json, style};

/// Show one server's entry
///
/// Shows the winning entry of a name as written in its file, with secrets redacted: values of
/// variables and headers, the query of a URL, and the value of a flag such as --token. With
/// --reveal the values are expanded and shown, except for the output of `!command` values. Wharf
/// does not connect: "tools known" is the number of tools at the last connection.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf get github
  wharf get github --reveal      with the values it would get
  wharf get github --json")]
pub(crate) struct GetArgs {
    /// The server's name
    name: String,
    /// Show secrets: every value as the server would get it
    #[arg(long)]
    reveal: bool,
}

#[derive(Serialize)]
struct GetJson<'a> {
    server: CatalogServerView<'a>,
}

/// Shows a server.
pub(crate) fn run(args: &GetArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let catalog = invocation.load()?;
    let server = find_server(&catalog, &args.name)?;
    if args.reveal && !server.trust.allows_use() {
        // An untrusted definition is never expanded, not even to be shown.
        return Err(Failure::untrusted(server));
    }
    let mut view = if args.reveal {
        CatalogServerView::revealed(server, &invocation.env)
    } else {
        CatalogServerView::of(server)
    };
    view.tools_known = CatalogHistory::load(&catalog, invocation).tools(&view);
    let ui = &invocation.ui;
    if ui.json {
        print_json(&GetJson { server: view })?;
        return Ok(Exit::Success);
    }
    ui.sentences(&describe(server, &view, &invocation.env))?;
    if args.reveal && server.spec.is_none() {
        ui.notice(&format!(
            "note: the server is {}, so its values are not expanded",
            server.state.word()
        ));
    }
    ui.problems(&server.problems, &invocation.env);
    Ok(Exit::Success)
}

fn describe(server: &Server, view: &CatalogServerView<'_>, env: &Env) -> String {
    let mut lines = Lines::default();
    lines.add(style::strong(&phrase::name(view.name.as_str())));
    let state = style::state_colour(server.state)(view.state);
    let because = reason(server, env).map(|why| format!(" ({why})")).unwrap_or_default();
    lines.labelled("state", &format!("{state}{because}"));
    let place = phrase::place(view.source, view.line, env);
    lines.labelled("source", &format!("{}  {}", phrase::source(view.source), style::faint(&place)));
    if !view.source.also_read_by.is_empty() {
        lines.labelled("also read by", &clean(&view.source.also_read_by.join(", ")));
    }
    lines.labelled("transport", view.transport);
    if view.command.is_some() {
        lines.labelled("command", &phrase::command_or_url(view));
    }
    add_optional(&mut lines, "cwd", view.cwd.as_deref());
    add_optional(&mut lines, "url", view.url.as_deref());
    add_pairs(&mut lines, "env", view.env.as_ref(), "=");
    add_pairs(&mut lines, "headers", view.headers.as_ref(), ": ");
    lines.labelled("timeout", &phrase::duration(view.timeout_ms));
    add_optional(
        &mut lines,
        "connecting",
        view.connect_timeout_ms.map(phrase::duration).as_deref(),
    );
    add_optional(&mut lines, "calls", view.call_timeout_ms.map(phrase::duration).as_deref());
    lines.labelled("approval", phrase::approval(view.approval));
    add_optional(&mut lines, "prefix", view.prefix);
    add_optional(
        &mut lines,
        "only tools",
        view.include_tools.map(|tools| tools.join(", ")).as_deref(),
    );
    add_list(&mut lines, "without tools", view.exclude_tools);
    add_list(&mut lines, "passes on", view.pass_env);
    let pinned = view.protocol_version.map(|version| format!("{version} (pinned)"));
    add_optional(&mut lines, "protocol", pinned.as_deref());
    let known = view.tools_known.map(|number| format!("{number}, at the last connection"));
    add_optional(&mut lines, "tools known", known.as_deref());
    add_list(&mut lines, "ignored", view.hints);
    lines.into_text()
}

/// Returns why a server is in its state, if the state alone does not say it.
fn reason(server: &Server, env: &Env) -> Option<String> {
    match server.state {
        DefinitionState::Disabled => server.reason.as_deref().map(clean),
        DefinitionState::Untrusted => Some(match server.trust {
            Trust::Changed(_) => "it has changed since you trusted it".to_owned(),
            Trust::Refused => "you refused it".to_owned(),
            _ => "it came with this project, and you have not trusted it yet".to_owned(),
        }),
        DefinitionState::Shadowed => {
            let by = server.shadowed_by.as_deref()?;
            Some(format!("by {}", phrase::path(&by.path, env)))
        }
        DefinitionState::Duplicate => {
            let original = server.duplicate_of.as_ref()?;
            Some(format!("of {}", phrase::quoted(original.as_str())))
        }
        DefinitionState::Enabled | DefinitionState::Invalid | DefinitionState::Native => None,
    }
}

fn add_optional(lines: &mut Lines, label: &str, value: Option<&str>) {
    if let Some(value) = value {
        lines.labelled(label, &clean(value));
    }
}

fn add_list(lines: &mut Lines, label: &str, values: &[String]) {
    if !values.is_empty() {
        lines.labelled(label, &clean(&values.join(", ")));
    }
}

fn add_pairs(lines: &mut Lines, label: &str, pairs: Option<&NamedValues>, between: &str) {
    for (index, (name, value)) in pairs.into_iter().flat_map(NamedValues::iter).enumerate() {
        let label = if index == 0 { label } else { "" };
        lines.labelled(label, &format!("{}{between}{}", clean(name), clean(value)));
    }
}
