//! Runs one scenario in one process of the suite. The process starts our client; its exit code says
//! whether all checks passed.
//!
//! The suite checks the exit code and the warnings of the client only when it runs a single
//! scenario, not when it runs a set.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::scenarios::{REVISIONS, Scenario, ScenarioList};
use crate::program::{FinishedProgram, Program};

/// How long the suite waits for our client, as an argument of the suite.
const CLIENT_MILLISECONDS: &str = "30000";

/// How long xtask waits for the suite.
const LIMIT: Duration = Duration::from_secs(60);

/// How many lines of the client's output a failure includes.
const CLIENT_LINES: usize = 40;

/// The installed suite and the client that it tests.
pub(super) struct Suite {
    pub(super) node: PathBuf,
    pub(super) script: PathBuf,
    pub(super) client: PathBuf,
    /// The folder where the suite writes its checks and the output of the client.
    pub(super) results: PathBuf,
}

/// How a scenario ended.
pub(super) struct ScenarioVerdict {
    /// The checks that failed, and the output of the client.
    pub(super) failure: Option<String>,
    pub(super) took: Duration,
}

impl Suite {
    /// Reads the list of scenarios from the suite.
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
        let all = self.program(&["list", "--client"]).succeed()?.stdout;
        listed.add_extensions(&all);
        listed.add_older(&all);
        Ok(listed)
    }

    /// Runs one scenario to its end.
    pub(super) fn run(&self, scenario: &Scenario) -> ScenarioVerdict {
        let started = Instant::now();
        let results = self.results.join(&scenario.revision);
        let finished = self
            .program(&["client", "--command", &shell_command(&self.client)])
            .args(["--scenario", &scenario.name, "--spec-version", &scenario.revision])
            // Without `--force` the suite skips scenarios of extensions, which have no revision.
            .args(["--force", "--timeout", CLIENT_MILLISECONDS, "--output-dir"])
            .args([&results])
            .capture();
        let failure = match finished {
            Ok(finished) => failure(&finished).map(|why| {
                let said = client_output(&results, &scenario.name);
                if said.is_empty() { why } else { format!("{why}\nOutput of the client:\n{said}") }
            }),
            Err(why) => Some(why),
        };
        ScenarioVerdict { failure, took: started.elapsed() }
    }

    fn program(&self, arguments: &[&str]) -> Program {
        Program::new(&self.node, LIMIT).args([&self.script]).args(arguments)
    }
}

/// Quotes the path of our client for the shell through which the suite starts it.
fn shell_command(client: &Path) -> String {
    let client = client.display().to_string();
    if cfg!(windows) {
        return format!("\"{client}\"");
    }
    // `exec` replaces the shell, so the signal of the suite after a timeout reaches the client.
    format!("exec '{}'", client.replace('\'', r"'\''"))
}

/// Returns the reason of a failure, if there is one.
fn failure(finished: &FinishedProgram) -> Option<String> {
    let verdict = finished.stderr.split("Test Results:").nth(1);
    match verdict {
        Some(_) if finished.success && finished.stderr.contains("Passed: 0/") => {
            Some("the scenario made no checks".to_owned())
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
        // A time follows the name; without this check `a` would also match the output of `a-b`.
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
            timed_out: false,
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
            Some("the scenario made no checks"),
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
