//! What is told about one visit: a line with its times, and below it what was not as expected.

use std::fmt;
use std::time::{Duration, Instant};

/// How many lines of a server's error output a failure repeats.
const LINES: usize = 15;

/// The course of one visit.
pub(crate) struct Report {
    name: String,
    facts: Vec<String>,
    times: Vec<(&'static str, Duration)>,
    complaints: Vec<String>,
    stderr: String,
    last: Instant,
}

impl Report {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            facts: Vec::new(),
            times: Vec::new(),
            complaints: Vec::new(),
            stderr: String::new(),
            last: Instant::now(),
        }
    }

    /// Notes how long something took, from the step before.
    pub(crate) fn step(&mut self, what: &'static str) {
        let now = Instant::now();
        self.times.push((what, now - self.last));
        self.last = now;
    }

    /// Notes what was found.
    pub(crate) fn fact(&mut self, fact: String) {
        self.facts.push(fact);
    }

    /// Notes something that is not as it should be.
    pub(crate) fn complain(&mut self, complaint: String) {
        self.complaints.push(complaint);
    }

    /// Complains unless both are the same.
    pub(crate) fn expect(&mut self, what: &str, expected: &str, found: &str) {
        if expected != found {
            self.complain(format!("{what}: expected {expected}, found {found}"));
        }
    }

    /// Keeps the server's error output, for the case of a failure.
    pub(crate) fn keep_stderr(&mut self, text: &str) {
        text.clone_into(&mut self.stderr);
    }

    pub(crate) fn is_well(&self) -> bool {
        self.complaints.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.is_well() { "ok" } else { "FAILED" };
        let times = self.times.iter().map(|(what, time)| format!("{what} {} ms", time.as_millis()));
        let words: Vec<String> = self.facts.iter().cloned().chain(times).collect();
        writeln!(formatter, "{word:<6} {:<24} {}", self.name, words.join(", "))?;
        for complaint in &self.complaints {
            writeln!(formatter, "    {complaint}")?;
        }
        if !self.is_well() && !self.stderr.is_empty() {
            writeln!(formatter, "    the server wrote:")?;
            let lines: Vec<&str> = self.stderr.lines().collect();
            for line in &lines[lines.len().saturating_sub(LINES)..] {
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
    fn a_failure_says_what_was_expected_and_what_the_server_wrote() {
        let mut report = Report::new("time");
        report.times = vec![("connect", Duration::from_millis(12))];
        report.fact("tools 2".to_owned());
        report.keep_stderr("a\u{1b}b");
        report.expect("era", "modern", "modern");
        insta::assert_snapshot!(report, @"ok     time                     tools 2, connect 12 ms");
        report.expect("revision", "2026-07-28", "2025-11-25");
        insta::assert_snapshot!(report, @r"
        FAILED time                     tools 2, connect 12 ms
            revision: expected 2026-07-28, found 2025-11-25
            the server wrote:
              a\u{1b}b
        ");
    }
}
