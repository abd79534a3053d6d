//! Builds the tests for Windows, runs them under Wine, and accounts for every test that did not run.
//!
//! A test binary runs in one process, because starting one takes Wine longer than most tests. Tests
//! that exist only on Linux are found by comparing the lists of both systems.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::exceptions::{ExceptionKind, Exceptions};
use super::test_list::{self, TestBinary};
use super::toolchain::CrossCargo;
use super::wine::Wine;
use crate::cargo::Cargo;
use crate::program::{FinishedProgram, indent};

/// How long one test binary may run.
const RUN_TIMEOUT: Duration = Duration::from_secs(600);

const LIST_TIMEOUT: Duration = Duration::from_secs(120);

/// What is built: everything that has tests or that tests start.
const BUILD: [&str; 13] = [
    "test",
    "--workspace",
    "--exclude",
    "wharf-benches",
    "--exclude",
    "wharf-embedding",
    "--exclude",
    "xtask",
    "--locked",
    "--no-run",
    "--lib",
    "--bins",
    "--tests",
];

/// The same tests on this machine; `cargo xtask test` has built them.
const LINUX_BUILD: [&str; 5] =
    ["test", "--workspace", "--locked", "--no-run", "--message-format=json-render-diagnostics"];

/// The tests on Windows, and which of them to run.
pub(super) struct WindowsTests<'a> {
    pub(super) cargo: &'a Cargo,
    pub(super) cross: &'a CrossCargo,
    pub(super) exceptions: &'a Exceptions,
    /// Parts of names; empty for all tests.
    pub(super) only: &'a [&'a str],
}

/// What became of all tests.
#[derive(Debug, Default)]
pub(super) struct TestReport {
    /// The version of Wine.
    pub(super) wine: String,
    pub(super) binaries: Vec<BinaryReport>,
    /// Reason → how many tests did not run.
    pub(super) reasons: BTreeMap<String, usize>,
    /// What is wrong: failed tests, tests that are missing without a reason, stale exceptions.
    pub(super) faults: Vec<String>,
    /// The exceptions that named a test.
    pub(super) used: BTreeSet<usize>,
}

/// What became of the tests of one binary.
#[derive(Debug, Default)]
pub(super) struct BinaryReport {
    pub(super) id: String,
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
    /// How many tests exist only on Linux.
    pub(super) absent: usize,
    pub(super) took: Duration,
}

impl TestReport {
    /// Tells whether every test passed or has a reason not to run.
    pub(super) fn is_well(&self) -> bool {
        self.faults.is_empty()
    }
}

impl WindowsTests<'_> {
    /// Builds and runs.
    pub(super) fn run(&self) -> Result<TestReport, String> {
        println!("\n=== tests for Windows");
        let json = [&BUILD[..], &["--message-format=json-render-diagnostics"]].concat();
        let built = self.cross.windows(&json).output()?;
        let binaries = test_list::binaries(&built);
        let mut on_linux = self.list_on_linux()?;
        let wine = Wine::start(self.cross.target_folder(), self.cargo.root())?;
        let mut report = TestReport { wine: wine.version(), ..TestReport::default() };
        for binary in &binaries {
            let linux = on_linux.remove(&binary.id).unwrap_or_default();
            self.run_binary(&wine, binary, &linux, &mut report)?;
        }
        for (id, linux) in on_linux {
            let mut own = BinaryReport { id, ..BinaryReport::default() };
            self.account_for_absent(&mut own, linux.iter(), &mut report);
            report.binaries.push(own);
        }
        if self.only.is_empty() {
            let stale = self.exceptions.unused(&report.used);
            report.faults.extend(
                stale
                    .into_iter()
                    .map(|entry| format!("the exception `{entry}` names no such test; remove it")),
            );
        }
        Ok(report)
    }

    /// Returns the names of all tests on this machine, by binary.
    fn list_on_linux(&self) -> Result<BTreeMap<String, BTreeSet<String>>, String> {
        let built = self.cargo.output(&LINUX_BUILD)?;
        let list = |binary: TestBinary| {
            let program = crate::program::Program::new(&binary.program, LIST_TIMEOUT);
            let listing = program.args(["--list", "--format=terse"]).folder(&binary.folder);
            Ok((binary.id, test_list::names(&listing.succeed()?.stdout)))
        };
        test_list::binaries(&built).into_iter().map(list).collect()
    }

    fn run_binary(
        &self,
        wine: &Wine,
        binary: &TestBinary,
        on_linux: &BTreeSet<String>,
        report: &mut TestReport,
    ) -> Result<(), String> {
        let started = Instant::now();
        let program = &binary.program;
        let arguments = ["--list", "--format=terse"];
        let listing = wine.capture(program, &arguments, &binary.folder, LIST_TIMEOUT)?;
        if !listing.success {
            return Err(format!("{} could not list its tests: {}", binary.id, listing.status));
        }
        let names = test_list::names(&listing.stdout);
        let mut own = BinaryReport { id: binary.id.clone(), ..BinaryReport::default() };
        self.account_for_absent(&mut own, on_linux.difference(&names), report);
        let mut selected: Vec<&str> = Vec::new();
        for name in names.iter().filter(|name| self.is_selected(&binary.id, name)) {
            match self.exceptions.find(ExceptionKind::Skipped, &binary.id, name) {
                Some(exception) => {
                    own.skipped += 1;
                    report.used.insert(exception.entry);
                    *report.reasons.entry(exception.reason.to_owned()).or_default() += 1;
                }
                None => selected.push(name),
            }
        }
        if !selected.is_empty() {
            let skipped: Vec<&String> =
                names.iter().filter(|name| !selected.contains(&name.as_str())).collect();
            let skip = skipped.iter().flat_map(|name| ["--skip", name.as_str()]);
            let arguments: Vec<&str> = ["--exact"].into_iter().chain(skip).collect();
            let finished = wine.capture(program, &arguments, &binary.folder, RUN_TIMEOUT)?;
            judge(&mut own, &selected, &finished, report);
        }
        own.took = started.elapsed();
        println!(
            "{:>7.1} s  {} passed, {} failed  {}",
            own.took.as_secs_f64(),
            own.passed,
            own.failed,
            own.id
        );
        report.binaries.push(own);
        Ok(())
    }

    fn account_for_absent<'n>(
        &self,
        own: &mut BinaryReport,
        names: impl Iterator<Item = &'n String>,
        report: &mut TestReport,
    ) {
        for name in names.filter(|name| self.is_selected(&own.id, name)) {
            own.absent += 1;
            match self.exceptions.find(ExceptionKind::Absent, &own.id, name) {
                Some(exception) => {
                    report.used.insert(exception.entry);
                    *report.reasons.entry(exception.reason.to_owned()).or_default() += 1;
                }
                None => report.faults.push(format!(
                    "{} {name}: it exists on Linux but not on Windows, and no exception names it",
                    own.id
                )),
            }
        }
    }

    fn is_selected(&self, binary: &str, test: &str) -> bool {
        let name = format!("{binary} {test}");
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part))
    }
}

/// Counts what a test binary has printed. A test without a verdict has not passed.
fn judge(
    own: &mut BinaryReport,
    selected: &[&str],
    finished: &FinishedProgram,
    report: &mut TestReport,
) {
    let passed = passed_tests(&finished.stdout);
    let failed: Vec<&str> =
        selected.iter().filter(|name| !passed.contains(*name)).copied().collect();
    own.passed = selected.len() - failed.len();
    own.failed = failed.len();
    report.faults.extend(failed.iter().map(|name| format!("{} {name}: failed", own.id)));
    if !failed.is_empty() || !finished.success {
        println!(
            "{} ({})\n{}{}",
            own.id,
            finished.status,
            indent(&finished.stdout),
            indent(&finished.stderr)
        );
    }
    if failed.is_empty() && !finished.success {
        report.faults.push(format!("{}: {}", own.id, finished.status));
    }
}

/// Returns the tests of which libtest says that they passed.
fn passed_tests(output: &str) -> BTreeSet<&str> {
    let lines = output.lines().map(str::trim_end);
    lines.filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... ok")).collect()
}
