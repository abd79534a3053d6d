//! The report of one server: a line with facts and times, and a line per unexpected result.

use std::fmt;
use std::time::{Duration, Instant};

/// The number of stderr lines in the report of a failure.
const STDERR_LINES: usize = 15;

/// The report of one server.
pub(crate) struct ServerReport {
    name: String,
    facts: Vec<String>,
    times: Vec<(&'static str, Duration)>,
    problems: Vec<String>,
    stderr: String,
    last_step: Instant,
}

impl ServerReport {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            facts: Vec::new(),
            times: Vec::new(),
            problems: Vec::new(),
            stderr: String::new(),
            last_step: Instant::now(),
        }
    }

    /// Adds the duration of a step, since the previous step.
    pub(crate) fn add_step(&mut self, what: &'static str) {
        let now = Instant::now();
        self.times.push((what, now - self.last_step));
        self.last_step = now;
    }

    /// Adds something that was found.
    pub(crate) fn add_fact(&mut self, fact: String) {
        self.facts.push(fact);
    }

    /// Adds a problem; the test of the server fails.
    pub(crate) fn add_problem(&mut self, problem: String) {
        self.problems.push(problem);
    }

    /// Adds a problem unless both are the same.
    pub(crate) fn expect(&mut self, what: &str, expected: &str, found: &str) {
        if expected != found {
            self.add_problem(format!("{what}: expected {expected}, found {found}"));
        }
    }

    /// Keeps the server's stderr for the report of a failure.
    pub(crate) fn keep_stderr(&mut self, text: &str) {
        text.clone_into(&mut self.stderr);
    }

    pub(crate) fn passed(&self) -> bool {
        self.problems.is_empty()
    }
}

impl fmt::Display for ServerReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = if self.passed() { "ok" } else { "FAILED" };
        let times = self.times.iter().map(|(what, time)| format!("{what} {} ms", time.as_millis()));
        let details: Vec<String> = self.facts.iter().cloned().chain(times).collect();
        writeln!(formatter, "{outcome:<6} {:<24} {}", self.name, details.join(", "))?;
        for problem in &self.problems {
            writeln!(formatter, "    {problem}")?;
        }
        if !self.passed() && !self.stderr.is_empty() {
            writeln!(formatter, "    stderr of the server:")?;
            let lines: Vec<&str> = self.stderr.lines().collect();
            for line in &lines[lines.len().saturating_sub(STDERR_LINES)..] {
                writeln!(formatter, "      {}", line.escape_debug())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_shows_the_expected_values_and_the_stderr() {
        let mut report = ServerReport::new("time");
        report.times = vec![("connect", Duration::from_millis(12))];
        report.add_fact("tools 2".to_owned());
        report.keep_stderr("a\u{1b}b");
        report.expect("era", "modern", "modern");
        insta::assert_snapshot!(report, @"ok     time                     tools 2, connect 12 ms");
        report.expect("revision", "2026-07-28", "2025-11-25");
        insta::assert_snapshot!(report, @r"
        FAILED time                     tools 2, connect 12 ms
            revision: expected 2026-07-28, found 2025-11-25
            stderr of the server:
              a\u{1b}b
        ");
    }
}
