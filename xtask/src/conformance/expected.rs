//! The list of expected failures, which may only get shorter.
//!
//! One line per entry, `<revision> <scenario>`; `#` starts a comment. A listed scenario that passes
//! is an error, so that a failure cannot return unnoticed; `MAX_EXPECTED` prevents new entries.

use std::str::FromStr;

use super::scenarios::Scenario;

/// The maximum number of entries. Lower it when an entry is removed; never raise it.
const MAX_EXPECTED: usize = 0;

/// The expected failures.
#[derive(Debug, Default)]
pub(super) struct ExpectedFailures(Vec<String>);

/// The result of a scenario, compared with what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScenarioOutcome {
    Passed,
    Failed,
    ExpectedFailure,
    NoLongerFails,
}

impl ExpectedFailures {
    pub(super) fn classify(&self, scenario: &Scenario, passed: bool) -> ScenarioOutcome {
        match (self.0.contains(&scenario.to_string()), passed) {
            (false, true) => ScenarioOutcome::Passed,
            (false, false) => ScenarioOutcome::Failed,
            (true, false) => ScenarioOutcome::ExpectedFailure,
            (true, true) => ScenarioOutcome::NoLongerFails,
        }
    }

    /// Returns the entries that match no scenario.
    pub(super) fn unknown(&self, scenarios: &[Scenario]) -> Vec<&str> {
        let known: Vec<String> = scenarios.iter().map(ToString::to_string).collect();
        self.0.iter().filter(|entry| !known.contains(entry)).map(String::as_str).collect()
    }

    fn read(text: &str, at_most: usize) -> Result<Self, String> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let entries: Vec<String> =
            lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
        if entries.len() > at_most {
            let count = entries.len();
            return Err(format!("more entries than before ({count}, not {at_most})"));
        }
        Ok(Self(entries))
    }
}

impl FromStr for ExpectedFailures {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::read(text, MAX_EXPECTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(name: &str) -> Scenario {
        Scenario { revision: "2025-11-25".into(), name: name.into() }
    }

    #[test]
    fn a_failure_is_expected_only_if_it_is_listed() {
        let expected = ExpectedFailures::read("# why\n2025-11-25 sse-retry # slow\n\n", 1).unwrap();
        let (listed, other) = (scenario("sse-retry"), scenario("initialize"));
        assert_eq!(expected.classify(&listed, false), ScenarioOutcome::ExpectedFailure);
        assert_eq!(expected.classify(&listed, true), ScenarioOutcome::NoLongerFails);
        assert_eq!(expected.classify(&other, false), ScenarioOutcome::Failed);
        assert_eq!(expected.classify(&other, true), ScenarioOutcome::Passed);
    }

    #[test]
    fn an_entry_without_a_scenario_is_found() {
        let expected = ExpectedFailures::read("2025-11-25 gone\n2025-11-25 sse-retry", 2).unwrap();
        assert_eq!(expected.unknown(&[scenario("sse-retry")]), ["2025-11-25 gone"]);
    }

    #[test]
    fn a_longer_list_is_refused() {
        assert_eq!(
            ExpectedFailures::read("2025-11-25 a\n2025-11-25 b", 1).unwrap_err(),
            "more entries than before (2, not 1)"
        );
    }
}
