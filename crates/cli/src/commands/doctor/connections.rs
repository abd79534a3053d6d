//! Checks the connections: connects to all enabled servers at once.
//!
//! Only trusted servers are started, and none whose program is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use wharf::{Runtime, ServerSnapshot, Snapshot, Status};
use wharf_config::text::clean;
use wharf_config::{Catalog, DefinitionState, Level, Problem, Server, ServerName};

use super::check::Check;
use crate::commands::connect;
use crate::commands::failure::tip;
use crate::commands::start_check::StartChecker;
use crate::commands::{Exit, Failure, Invocation};
use crate::ui::phrase;

/// Connects to the servers of a catalog that can start, and passes the checks to `show`.
pub(super) fn with_checks(
    mut catalog: Catalog,
    invocation: &Invocation,
    show: impl FnOnce(Vec<Check>) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let starts = StartChecker::of(&catalog, &invocation.env);
    let is_worth_it = |server: &Server| {
        server.state == DefinitionState::Enabled && starts.check(server).is_usable()
    };
    connect::keep_servers(&mut catalog, is_worth_it);
    if catalog.servers.is_empty() {
        return show(Vec::new());
    }
    let known: BTreeSet<String> = catalog
        .servers
        .iter()
        .flat_map(|server| &server.problems)
        .map(|problem| problem.message.clone())
        .collect();
    let work = async |runtime: &Runtime| {
        connect::settled(runtime).await;
        // This requests all lists, so that violations in them are found.
        let violations: Violations = runtime.violations().await.into_iter().collect();
        (runtime.snapshot(), violations)
    };
    connect::with_checks(invocation, &catalog, work, |(snapshot, violations)| {
        show(checks(&snapshot, &known, &violations))
    })
}

/// The protocol violations by server.
type Violations = BTreeMap<ServerName, Vec<String>>;

fn checks(snapshot: &Snapshot, known: &BTreeSet<String>, violations: &Violations) -> Vec<Check> {
    let of_server = |server: &Arc<ServerSnapshot>| {
        let broken = violations.get(&server.name).map_or(&[][..], Vec::as_slice);
        of_server(server, known, broken)
    };
    let mut checks: Vec<Check> = snapshot.servers().flat_map(of_server).collect();
    let collisions = snapshot.registry().problems().iter();
    checks.extend(collisions.map(|problem| of_problem("tool names", problem)));
    checks
}

fn of_server(server: &ServerSnapshot, known: &BTreeSet<String>, broken: &[String]) -> Vec<Check> {
    let name = server.name.as_str();
    let mut checks = vec![connection(server)];
    let problems = server.problems();
    // Problems that were known before connecting are reported by the other checks.
    let new_problems = problems.iter().filter(|problem| !known.contains(&problem.message));
    checks.extend(new_problems.map(|problem| of_problem(name, problem)));
    for rule in broken {
        let message = format!("violates the MCP specification: {}", clean(rule));
        checks.push(Check::note(name, message));
    }
    checks
}

fn connection(server: &ServerSnapshot) -> Check {
    let name = server.name.as_str();
    match (server.status, &server.failure) {
        (Status::Connected, _) => Check::passed(name, connected(server)),
        (_, Some(failure)) => {
            let message = format!("failed to connect: {}", failure.in_one_line());
            let check = match server.source.level {
                Level::Builtin => Check::note(name, message),
                _ => Check::failed(name, message),
            };
            match tip(name, failure) {
                Some(tip) => check.hint(tip),
                None => check.hint(format!("`wharf test {}`", phrase::word(name))),
            }
        }
        (status, None) => Check::note(name, format!("is {status}")),
    }
}

fn connected(server: &ServerSnapshot) -> String {
    let tools = phrase::count(server.tools(), "tool");
    match &server.info {
        Some(about) => {
            let itself = format!("{} {}", about.name, about.version);
            format!("connects ({}, {}), {tools}", itself.trim(), about.revision)
        }
        None => format!("connects, {tools}"),
    }
}

fn of_problem(name: &str, problem: &Problem) -> Check {
    let message = problem.message.clone();
    let breaks = problem.is_error() || problem.code == OMITTED_VALUE;
    let check = if breaks { Check::failed(name, message) } else { Check::note(name, message) };
    Check { hint: problem.hint.clone(), ..check }
}

/// The problem code of values that were omitted because they could not be resolved.
const OMITTED_VALUE: &str = "omitted-value";
