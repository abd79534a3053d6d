//! Runs the checks in order and prints them.

use std::time::SystemTime;

use clap::Args;
use serde::Serialize;
use wharf_config::text::clean;
use wharf_config::{Catalog, Credentials, DefinitionState, Env, Problem, Server};

use super::check::Check;
use super::{config_files, conflicts, connections, keychain, server, wharf_files};
use crate::commands::catalog_history::CatalogHistory;
use crate::commands::invocation::{DefaultsReason, defaults_reason, find_server};
use crate::commands::report::ErrorReport;
use crate::commands::server_credential::ServerCredentials;
use crate::commands::start_check::StartChecker;
use crate::commands::{Exit, Failure, Invocation, connect};
use crate::ui::{Lines, Verbosity, phrase, print_json, style, time_ago};

/// Find problems, and say how to fix them
///
/// Checks Wharf's own files, every config file, and each enabled server: whether its program and
/// folder exist, which variables are missing, which secrets other users can read. Then connects to
/// the trusted servers, unless --offline is given. The exit code is 1 if there is a problem. Checks
/// that passed are counted, and listed with -v.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf doctor
  wharf doctor github            one server only
  wharf doctor -v                also list the checks that passed
  wharf doctor --offline         start and contact nothing
  wharf doctor --json | jq '.checks[] | select(.ok | not)'")]
pub(crate) struct DoctorArgs {
    /// Check only this server
    name: Option<String>,
    /// Do not start or contact any server
    #[arg(long)]
    offline: bool,
}

#[derive(Serialize)]
struct DoctorJson<'a> {
    ok: bool,
    checks: Vec<&'a Check>,
    problems: &'a [Problem],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorReport>,
}

/// The results of all checks.
struct Findings {
    groups: Vec<CheckGroup>,
    problems: Vec<Problem>,
}

/// A group of checks with a heading.
struct CheckGroup {
    title: &'static str,
    checks: Vec<Check>,
}

/// Checks everything, or one server.
pub(crate) fn run(args: &DoctorArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let mut catalog = invocation.load()?;
    let mut findings = match &args.name {
        Some(name) => {
            let findings = check_one(name, &catalog, &invocation.env)?;
            connect::keep_servers(&mut catalog, |server| server.definition.name.as_str() == name);
            findings
        }
        None => check_all(&catalog, &invocation.env),
    };
    if args.offline {
        findings.groups.extend(last_attempts(&catalog, invocation));
        return show(&findings, invocation);
    }
    connections::with_checks(catalog, invocation, |checks| {
        let title = if args.name.is_some() { "Connection" } else { "Connections" };
        findings.groups.push(CheckGroup { title, checks });
        show(&findings, invocation)
    })
}

/// The heading of the last attempts.
const LAST_ATTEMPTS: &str = "Last attempts";

/// Reports the servers whose last attempt failed, for `--offline`.
fn last_attempts(catalog: &Catalog, invocation: &Invocation) -> Option<CheckGroup> {
    let history = CatalogHistory::load(catalog, invocation);
    let enabled =
        catalog.winners().into_iter().filter(|server| server.state == DefinitionState::Enabled);
    let failed = enabled.filter_map(|server| {
        let name = server.definition.name.as_str();
        let last = history.last_attempt(&server.definition.name)?;
        let why = last.error.as_deref()?;
        let ago = time_ago::time_ago(last.at, SystemTime::now());
        let check = Check::note(name, format!("its last attempt failed {ago}: {why}"));
        Some(check.hint(format!("`wharf test {}`", phrase::word(name))))
    });
    let checks: Vec<Check> = failed.collect();
    (!checks.is_empty()).then_some(CheckGroup { title: LAST_ATTEMPTS, checks })
}

fn check_one(name: &str, catalog: &Catalog, env: &Env) -> Result<Findings, Failure> {
    let found = find_server(catalog, name)?;
    if found.state == DefinitionState::Untrusted {
        return Err(Failure::untrusted(found));
    }
    let credentials = Credentials::load(env);
    let summaries = credentials.as_ref().ok().map(Credentials::summaries);
    let summaries = summaries.map(ServerCredentials::of);
    let of_file = config_files::check_one(&found.definition.source.path, catalog, env);
    let starts = StartChecker::of(catalog, env);
    let mut of_server = server::check(found, summaries.as_ref(), &starts, env);
    // The credential cannot be checked if the store is unreadable.
    if let (Some(_), Err(error)) = (server::credential_id(found), &credentials) {
        of_server.push(wharf_files::unusable_credentials(error));
    }
    let groups = vec![
        CheckGroup { title: "Its file", checks: of_file },
        CheckGroup { title: "Server", checks: of_server },
    ];
    Ok(Findings { groups, problems: found.problems.clone() })
}

fn check_all(catalog: &Catalog, env: &Env) -> Findings {
    // An unreadable store is reported with Wharf's own files.
    let credentials = Credentials::load(env).ok();
    let credentials = credentials.map(|stored| ServerCredentials::of(stored.summaries()));
    let looked_at: Vec<&Server> = catalog
        .winners()
        .into_iter()
        .filter(|server| server.state != DefinitionState::Disabled)
        .collect();
    let starts = StartChecker::of(catalog, env);
    let check = |server: &&Server| server::check(server, credentials.as_ref(), &starts, env);
    let mut servers: Vec<Check> = looked_at.iter().flat_map(check).collect();
    servers.extend(conflicts::check(catalog));
    servers.extend(defaults_reason(catalog, env).map(|why| {
        match why {
            DefaultsReason::NothingConfigured => {
                Check::note("defaults", "nothing is configured yet, so these are the defaults")
                    .hint("`wharf add NAME -- COMMAND…`")
            }
            DefaultsReason::Unreadable => Check::note(
                "defaults",
                "some files could not be read and no other has servers, so these are the defaults",
            ),
        }
    }));
    let groups = vec![
        CheckGroup { title: "Wharf", checks: wharf_checks(catalog, env) },
        CheckGroup { title: "Files", checks: config_files::check(catalog, env) },
        CheckGroup { title: "Servers", checks: servers },
    ];
    let own = looked_at.iter().flat_map(|server| &server.problems);
    Findings { groups, problems: catalog.problems.iter().chain(own).cloned().collect() }
}

fn wharf_checks(catalog: &Catalog, env: &Env) -> Vec<Check> {
    wharf_files::check(catalog, env).into_iter().chain(keychain::check(catalog, env)).collect()
}

fn show(findings: &Findings, invocation: &Invocation) -> Result<Exit, Failure> {
    let Findings { groups, problems } = findings;
    let checks: Vec<&Check> = groups.iter().flat_map(|group| &group.checks).collect();
    let wrong = checks.iter().filter(|check| !check.ok).count();
    if invocation.ui.json {
        let message = || format!("{} found", phrase::count(wrong, "problem"));
        let error = (wrong > 0).then(|| ErrorReport::new("checks-failed", message()));
        print_json(&DoctorJson { ok: wrong == 0, checks, problems, error })?;
    } else {
        invocation.ui.sentences(&to_text(groups, invocation.ui.verbosity))?;
    }
    Ok(if wrong == 0 { Exit::Success } else { Exit::Negative })
}

/// Formats the checks: first those that passed (counted or listed), then notes, then problems.
fn to_text(groups: &[CheckGroup], verbosity: Verbosity) -> String {
    let mut lines = Lines::default();
    let checks = || groups.iter().flat_map(|group| &group.checks);
    let fine = checks().filter(|check| check.ok && !check.is_note).count();
    if verbosity == Verbosity::Verbose {
        for group in groups {
            let fine = group.checks.iter().filter(|check| check.ok && !check.is_note);
            add_section(&mut lines, group.title, fine, &style::good("ok"));
        }
    } else if fine > 0 {
        let about: Vec<String> = groups.iter().filter_map(CheckGroup::count_fine).collect();
        let (are, about) = (if fine == 1 { "is" } else { "are" }, about.join(", "));
        let counted = format!("{} {are} fine ({about})", phrase::count(fine, "check"));
        lines.add(format!("{}  {counted}; -v lists them", style::good("ok")));
        lines.add("");
    }
    let notes = checks().filter(|check| check.ok && check.is_note);
    add_section(&mut lines, "Notes", notes, &style::warning("--"));
    let wrong = checks().filter(|check| !check.ok).count();
    let to_correct = checks().filter(|check| !check.ok);
    add_section(&mut lines, "Problems", to_correct, &style::bad("!!"));
    lines.add(match (wrong, failed_attempts(groups)) {
        (0, None) => style::good("No problems found."),
        (0, Some(failed)) => style::warning(&format!("No problems found; {failed}.")),
        (number, _) => style::bad(&format!("{} found.", phrase::count(number, "problem"))),
    });
    lines.into_text()
}

/// Names the servers whose last attempt failed, for the last line with `--offline`.
fn failed_attempts(groups: &[CheckGroup]) -> Option<String> {
    let group = groups.iter().find(|group| group.title == LAST_ATTEMPTS)?;
    let names = phrase::quoted_list(group.checks.iter().map(|check| check.name.as_str()));
    let attempts = if group.checks.len() == 1 { "attempt" } else { "attempts" };
    Some(format!("the last {attempts} of {names} failed"))
}

/// Adds checks under a heading, if there are any.
fn add_section<'a>(
    lines: &mut Lines,
    title: &str,
    checks: impl Iterator<Item = &'a Check>,
    mark: &str,
) {
    let mut checks = checks.peekable();
    if checks.peek().is_none() {
        return;
    }
    lines.add(style::strong(title));
    for check in checks {
        lines.add(format!("  {mark}  {}: {}", clean(&check.name), clean(&check.message)));
        lines.hint("      ", check.hint.as_deref());
    }
    lines.add("");
}

impl CheckGroup {
    /// Counts its checks that passed, such as `Files 3`.
    fn count_fine(&self) -> Option<String> {
        let fine = self.checks.iter().filter(|check| check.ok && !check.is_note).count();
        (fine > 0).then(|| format!("{} {fine}", self.title))
    }
}
