//! Collects all definitions of a name, and prints the explanation.

use clap::Args;
use serde::Serialize;
use wharf_config::view::CatalogServerView;
use wharf_config::{Problem, Server, ValueOrigin};

use super::{differences, explanation, ranking};
use crate::commands::invocation::find_server;
use crate::commands::start_check::StartChecker;
use crate::commands::{Exit, Failure, Invocation};
use crate::ui::print_json;

/// Explain why a server is or is not used
///
/// Shows every definition of a name by rank, which one wins and why the others do not, which
/// placeholders were expanded, what is missing, and what to do next.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf explain github
  wharf explain github --json | jq '.candidates[].why'")]
pub(crate) struct ExplainArgs {
    /// The server's name
    name: String,
}

#[derive(Serialize)]
struct ExplainJson<'a> {
    name: &'a str,
    winner: Option<CatalogServerView<'a>>,
    candidates: Vec<CandidateJson<'a>>,
    expanded: Vec<ExpansionJson<'a>>,
    problems: Vec<&'a Problem>,
}

#[derive(Serialize)]
struct CandidateJson<'a> {
    #[serde(flatten)]
    view: CatalogServerView<'a>,
    why: String,
    /// How it differs from the winner.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differs: Vec<String>,
}

#[derive(Serialize)]
struct ExpansionJson<'a> {
    field: &'a str,
    variable: &'a str,
    from: &'static str,
}

/// Explains a name.
pub(crate) fn run(args: &ExplainArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let catalog = invocation.load()?;
    let (ui, env) = (&invocation.ui, &invocation.env);
    let best = find_server(&catalog, &args.name)?;
    let winner = catalog.winner(&args.name);
    let candidates: Vec<&Server> = catalog.candidates(&args.name).collect();
    if !ui.json {
        let starts = &StartChecker::of(&catalog, env);
        let text =
            explanation::ExplanationText { best, winner, candidates: &candidates, starts, env }
                .to_text();
        ui.sentences(&text)?;
        return Ok(Exit::Success);
    }
    let uses = winner.into_iter().flat_map(|server| &server.uses);
    let explanation = ExplainJson {
        name: &args.name,
        winner: winner.map(CatalogServerView::of),
        candidates: candidates
            .iter()
            .map(|server| CandidateJson {
                view: CatalogServerView::of(server),
                why: ranking::rank_reason(server, winner, env),
                differs: winner
                    .map(|winner| differences::differences(server, winner))
                    .unwrap_or_default(),
            })
            .collect(),
        expanded: uses
            .map(|one| ExpansionJson {
                field: &one.field,
                variable: &one.used.variable,
                from: origin(one.used.from),
            })
            .collect(),
        problems: candidates.iter().flat_map(|server| &server.problems).collect(),
    };
    print_json(&explanation)?;
    Ok(Exit::Success)
}

fn origin(from: ValueOrigin) -> &'static str {
    match from {
        ValueOrigin::Environment | ValueOrigin::File => "environment",
        ValueOrigin::Default => "default",
        ValueOrigin::Missing(_) => "missing",
    }
}
