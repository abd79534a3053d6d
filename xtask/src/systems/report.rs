//! Renders what was checked on each system: linted, run, passed and skipped, with the reasons.

use std::fmt::Write as _;
use std::time::Duration;

use super::run::{BinaryReport, TestReport};

/// Whether a system passed the lints.
#[derive(Debug)]
pub(super) struct SystemReport {
    name: &'static str,
    lints: Result<(), String>,
}

impl SystemReport {
    pub(super) fn new(name: &'static str, lints: Result<(), String>) -> Self {
        Self { name, lints }
    }

    pub(super) fn is_well(&self) -> bool {
        self.lints.is_ok()
    }
}

/// Renders everything; `systems` is empty if only some tests were run.
pub(super) fn render(systems: &[SystemReport], tests: &TestReport, took: Duration) -> String {
    let mut text = String::from("=== summary\n");
    // Writing into a `String` cannot fail.
    let _ = write_systems(&mut text, systems, tests);
    let _ = write_binaries(&mut text, &tests.binaries);
    let _ = write_reasons(&mut text, tests);
    for fault in &tests.faults {
        let _ = writeln!(text, "FAILED  {fault}");
    }
    let _ = writeln!(text, "in {:.1} s", took.as_secs_f64());
    text
}

fn write_systems(
    text: &mut String,
    systems: &[SystemReport],
    tests: &TestReport,
) -> std::fmt::Result {
    writeln!(
        text,
        "{:<8} {:<8} {:>5} {:>6} {:>6} {:>7}",
        "", "checked", "run", "passed", "failed", "not run"
    )?;
    let total = Totals::of(&tests.binaries);
    for system in systems {
        let checked = if system.is_well() { "ok" } else { "FAILED" };
        write!(text, "{:<8} {checked:<8}", system.name)?;
        if system.name == "Windows" {
            let Totals { passed, failed, skipped, absent } = total;
            let (run, other) = (passed + failed, skipped + absent);
            writeln!(text, " {run:>5} {passed:>6} {failed:>6} {other:>7}  with {}", tests.wine)?;
        } else {
            writeln!(text, " {:>5}  its programs can be neither linked nor run on Linux", 0)?;
        }
        if let Err(why) = &system.lints {
            writeln!(text, "FAILED  lints for {}: {why}", system.name)?;
        }
    }
    Ok(())
}

fn write_binaries(text: &mut String, binaries: &[BinaryReport]) -> std::fmt::Result {
    writeln!(
        text,
        "\n{:<38} {:>6} {:>6} {:>7} {:>6} {:>9}",
        "Windows", "passed", "failed", "skipped", "absent", "time"
    )?;
    for it in binaries {
        let BinaryReport { id, passed, failed, skipped, absent, took } = it;
        let seconds = took.as_secs_f64();
        writeln!(
            text,
            "{id:<38} {passed:>6} {failed:>6} {skipped:>7} {absent:>6} {seconds:>7.1} s"
        )?;
    }
    Ok(())
}

fn write_reasons(text: &mut String, tests: &TestReport) -> std::fmt::Result {
    if tests.reasons.is_empty() {
        return Ok(());
    }
    writeln!(text, "\nnot run on Windows:")?;
    tests.reasons.iter().try_for_each(|(reason, count)| writeln!(text, "{count:>6}  {reason}"))
}

/// The sums over all binaries.
#[derive(Default)]
struct Totals {
    passed: usize,
    failed: usize,
    skipped: usize,
    absent: usize,
}

impl Totals {
    fn of(binaries: &[BinaryReport]) -> Self {
        binaries.iter().fold(Self::default(), |sum, it| Self {
            passed: sum.passed + it.passed,
            failed: sum.failed + it.failed,
            skipped: sum.skipped + it.skipped,
            absent: sum.absent + it.absent,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_accounts_for_every_test() {
        let binary = |id: &str, [passed, failed, skipped, absent]: [usize; 4]| BinaryReport {
            id: id.into(),
            passed,
            failed,
            skipped,
            absent,
            took: Duration::from_millis(1500),
        };
        let tests = TestReport {
            wine: "wine-8.0".into(),
            binaries: vec![binary("wharf-cli::verbs", [9, 1, 2, 3]), binary("wharf", [4, 0, 0, 1])],
            reasons: [("modes are of Unix".to_owned(), 4), ("Wine lacks it".to_owned(), 2)].into(),
            faults: vec!["wharf-cli::verbs a_test: failed".into()],
            ..TestReport::default()
        };
        let systems = [
            SystemReport::new("Windows", Ok(())),
            SystemReport::new("macOS", Err("exit status: 101".into())),
        ];
        assert_eq!(
            render(&systems, &tests, Duration::from_secs(60)),
            "\
=== summary
         checked    run passed failed not run
Windows  ok          14     13      1       6  with wine-8.0
macOS    FAILED       0  its programs can be neither linked nor run on Linux
FAILED  lints for macOS: exit status: 101

Windows                                passed failed skipped absent      time
wharf-cli::verbs                            9      1       2      3     1.5 s
wharf                                       4      0       0      1     1.5 s

not run on Windows:
     2  Wine lacks it
     4  modes are of Unix
FAILED  wharf-cli::verbs a_test: failed
in 60.0 s
"
        );
    }
}
