//! `cargo xtask conformance`: runs the official suite against our client, for both eras.
//!
//! `scenarios` reads the list of scenarios from the suite, `run` runs each in its own process, and
//! `expected` holds the list of expected failures.

mod expected;
mod run;
mod scenarios;

use std::fs;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use self::expected::{ExpectedFailures, ScenarioOutcome};
use self::run::{ScenarioVerdict, Suite};
use self::scenarios::Scenario;
use crate::TaskOutcome;
use crate::cargo::Cargo;
use crate::program::indent;
use crate::tools::{self, PackageSet, Tools};

const SUITE: PackageSet = PackageSet {
    folder: "conformance",
    packages: &["@modelcontextprotocol/conformance@0.2.0-alpha.12"],
};

const EXPECTED: &str = "crates/testkit/conformance/expected-failures.txt";

/// Runs all scenarios, or those whose name contains one of `only`.
pub(crate) fn run(cargo: &Cargo, only: &[&str]) -> TaskOutcome {
    if let Some(why) = tools::missing_node() {
        return tools::report_skipped("the conformance suite", &why, cargo.missing_tools);
    }
    match check(cargo, only) {
        Ok(outcome) => outcome,
        Err(why) => {
            eprintln!("error: {why}");
            TaskOutcome::Failed
        }
    }
}

fn check(cargo: &Cargo, only: &[&str]) -> Result<TaskOutcome, String> {
    let started = Instant::now();
    let file = cargo.root().join(EXPECTED);
    let text =
        fs::read_to_string(&file).map_err(|why| format!("could not read {EXPECTED}: {why}"))?;
    let expected: ExpectedFailures = text.parse().map_err(|why| format!("{EXPECTED}: {why}"))?;
    let tools = Tools::open(cargo)?;
    let suite = Suite {
        node: tools::node(&tools)?,
        script: tools::install_npm(&tools, &SUITE)?
            .join("@modelcontextprotocol/conformance/dist/index.js"),
        client: cargo.build("wharf-testkit", "wharf-conformance")?,
        results: tools.empty_folder("conformance-results")?,
    };
    let listed = suite.scenarios()?;
    let unknown = expected.unknown(&listed.scenarios);
    let mut scenarios = listed.scenarios;
    if !only.is_empty() {
        scenarios.retain(|scenario| only.iter().any(|part| scenario.name.contains(part)));
    }
    if scenarios.is_empty() {
        return Err(format!("no scenario name contains `{}`", only.join("` or `")));
    }
    println!("{} scenarios, results in {}", scenarios.len(), suite.results.display());

    let mut counts = Counts::default();
    for_each(&suite, &scenarios, |scenario, verdict| {
        counts.add(report(scenario, verdict, &expected));
    });
    for entry in &unknown {
        eprintln!("error: {EXPECTED} names `{entry}`, which the suite does not have; remove it");
    }
    println!("{} in {:.1} s", counts.describe(), started.elapsed().as_secs_f64());
    let is_well = counts.failed == 0 && counts.stale == 0 && unknown.is_empty();
    Ok(if is_well { TaskOutcome::Passed } else { TaskOutcome::Failed })
}

/// Runs the scenarios, as many at a time as there are cores, and passes each verdict to `classify`.
///
/// Every scenario has a server on its own port, so they do not interfere.
fn for_each(
    suite: &Suite,
    scenarios: &[Scenario],
    mut classify: impl FnMut(&Scenario, ScenarioVerdict),
) {
    let workers = thread::available_parallelism().map_or(2, NonZero::get).min(scenarios.len());
    let next = AtomicUsize::new(0);
    let (sender, verdicts) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((scenario, suite.run(scenario))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (scenario, verdict) in verdicts {
            classify(scenario, verdict);
        }
    });
}

/// Prints one line per scenario, and the reason of a failure below it.
fn report(
    scenario: &Scenario,
    verdict: ScenarioVerdict,
    expected: &ExpectedFailures,
) -> ScenarioOutcome {
    let outcome = expected.classify(scenario, verdict.failure.is_none());
    let word = match outcome {
        ScenarioOutcome::Passed => "ok",
        ScenarioOutcome::Failed | ScenarioOutcome::NoLongerFails => "FAILED",
        ScenarioOutcome::ExpectedFailure => "expected failure",
    };
    println!("{word:<7} {:>5.1} s  {scenario}", verdict.took.as_secs_f64());
    match (outcome, verdict.failure) {
        (ScenarioOutcome::Failed, Some(why)) => print!("{}", indent(&why)),
        (ScenarioOutcome::NoLongerFails, _) => {
            print!("{}", indent(&format!("it passes now: remove `{scenario}` from {EXPECTED}")));
        }
        _ => {}
    }
    outcome
}

#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    expected: usize,
    stale: usize,
}

impl Counts {
    fn add(&mut self, outcome: ScenarioOutcome) {
        *match outcome {
            ScenarioOutcome::Passed => &mut self.passed,
            ScenarioOutcome::Failed => &mut self.failed,
            ScenarioOutcome::ExpectedFailure => &mut self.expected,
            ScenarioOutcome::NoLongerFails => &mut self.stale,
        } += 1;
    }

    fn describe(&self) -> String {
        let Self { passed, failed, expected, stale } = self;
        format!(
            "{passed} ok, {failed} failed, {expected} failed as expected, {stale} passed \
             unexpectedly"
        )
    }
}
