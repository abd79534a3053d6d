//! One scenario in one process of the suite, which starts our client and says by its exit code
//! whether all checks passed.
//!
//! Run this way the suite also counts the client's exit code and its warnings, which it does not do
//! when it runs a whole set at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::scenarios::{REVISIONS, Scenario, ScenarioList};
use crate::program::{FinishedProgram, Program};

/// How long the suite waits for our client, in its own words.
const CLIENT_MILLISECONDS: &str = "30000";

/// How long we wait for the suite.
const LIMIT: Duration = Duration::from_secs(60);

/// The most of the client's own words that a failure repeats.
const CLIENT_LINES: usize = 40;

/// The installed suite and the client that it tests.
pub(super) struct Suite {
    pub(super) node: PathBuf,
    pub(super) script: PathBuf,
    pub(super) client: PathBuf,
    /// Where the suite keeps every check and the client's output.
    pub(super) results: PathBuf,
}

/// How a scenario ended.
pub(super) struct ScenarioVerdict {
    /// The checks that failed, and what the client said.
    pub(super) failure: Option<String>,
    pub(super) took: Duration,
}

impl Suite {
    /// Asks the suite what there is.
    pub(super) fn scenarios(&self) -> Result<ScenarioList, String> {
        let mut listed = ScenarioList::default();
        for revision in REVISIONS {
            let before = listed.scenarios.len();
            let text = self.program(&["list", "--requirements", revision]).succeed()?.stdout;
            listed.add_requirements(revision, &text);
            if listed.scenarios.len() == before {
                return Err(format!("the suite lists nothing for {revision}:\n{text}"));
            }
        }
        listed.add_extensions(&self.program(&["list", "--client"]).succeed()?.stdout);
        Ok(listed)
    }

    /// Runs one scenario to its end.
    pub(super) fn run(&self, scenario: &Scenario) -> ScenarioVerdict {
        let started = Instant::now();
        let results = self.results.join(&scenario.revision);
        let finished = self
            .program(&["client", "--command", &shell_command(&self.client)])
            .args(["--scenario", &scenario.name, "--spec-version", &scenario.revision])
            // Scenarios of extensions belong to no revision and would be left out.
            .args(["--force", "--timeout", CLIENT_MILLISECONDS, "--output-dir"])
            .args([&results])
            .capture();
        let failure = match finished {
            Ok(finished) => failure(&finished).map(|why| {
                let said = client_output(&results, &scenario.name);
                if said.is_empty() { why } else { format!("{why}\nThe client said:\n{said}") }
            }),
            Err(why) => Some(why),
        };
        ScenarioVerdict { failure, took: started.elapsed() }
    }

    fn program(&self, arguments: &[&str]) -> Program {
        Program::new(&self.node, LIMIT).args([&self.script]).args(arguments)
    }
}

/// Writes our client as the shell, which the suite hands it to, must see it.
fn shell_command(client: &Path) -> String {
    let client = client.display().to_string();
    if cfg!(windows) {
        return format!("\"{client}\"");
    }
    // `exec` leaves no shell in between, so the suite's signal at the end of time reaches us.
    format!("exec '{}'", client.replace('\'', r"'\''"))
}

/// Returns what went wrong, if anything did.
fn failure(finished: &FinishedProgram) -> Option<String> {
    let verdict = finished.stderr.split("Test Results:").nth(1);
    match verdict {
        Some(_) if finished.success && finished.stderr.contains("Passed: 0/") => {
            Some("no check was made, so nothing was shown".to_owned())
        }
        Some(_) if finished.success => None,
        Some(checks) => Some(without_blank_lines(checks)),
        None => {
            let FinishedProgram { status, stdout, stderr, .. } = finished;
            Some(format!("the suite itself failed ({status})\n{stdout}{stderr}"))
        }
    }
}

fn without_blank_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.join("\n")
}

/// Reads the end of what the client wrote to its error stream.
fn client_output(results: &Path, scenario: &str) -> String {
    let prefix = format!("{scenario}-");
    let folders = fs::read_dir(results).into_iter().flatten().flatten();
    let of_scenario = |name: &str| {
        // Behind the name stands the time, so that `a` does not get the output of `a-b`.
        name.strip_prefix(&prefix)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let text = folders
        .filter(|entry| of_scenario(&entry.file_name().to_string_lossy()))
        .find_map(|entry| fs::read_to_string(entry.path().join("stderr.txt")).ok())
        .unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(CLIENT_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(success: bool, stderr: &str, expected: Option<&str>) {
        let finished = FinishedProgram {
            success,
            status: "exit status: 1".into(),
            stdout: String::new(),
            stderr: stderr.into(),
        };
        assert_eq!(failure(&finished).as_deref(), expected);
    }

    #[test]
    fn a_scenario_passes_if_checks_were_made_and_all_passed() {
        check(true, "Checks:\n…\nTest Results:\nPassed: 2/2, 0 failed, 0 warnings\n", None);
    }

    #[test]
    fn a_scenario_without_checks_fails() {
        check(
            true,
            "Test Results:\nPassed: 0/0, 0 failed, 0 warnings\n",
            Some("no check was made, so nothing was shown"),
        );
    }

    #[test]
    fn a_failure_shows_the_checks_that_failed() {
        check(
            false,
            "Checks:\nlong list\n\nTest Results:\nPassed: 0/1\n\nFailed Checks:\n  - Tool: missing\n",
            Some("Passed: 0/1\nFailed Checks:\n  - Tool: missing"),
        );
    }

    #[test]
    fn a_crash_of_the_suite_is_a_failure() {
        check(
            true,
            "SKIPPED: not applicable\n",
            Some("the suite itself failed (exit status: 1)\nSKIPPED: not applicable\n"),
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_path_with_a_space_and_a_quote_survives_the_shell() {
        let command = shell_command(Path::new("/a b/it's"));
        assert_eq!(command, r"exec '/a b/it'\''s'");
    }
}
