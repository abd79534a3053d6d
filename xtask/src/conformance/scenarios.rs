//! The list of scenarios, parsed from the output of the suite's `list`.
//!
//! Nothing is listed by hand, so the scenarios of a newer suite are run without a change here.

use std::fmt;

/// The revisions that our client conforms to; each has its own set of scenarios.
pub(super) const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The revision with which the scenarios of extensions are run.
pub(super) const NEWEST: &str = REVISIONS[1];

/// One scenario of one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scenario {
    pub(super) revision: String,
    pub(super) name: String,
}

/// The scenarios to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScenarioList {
    pub(super) scenarios: Vec<Scenario>,
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.revision, self.name)
    }
}

impl ScenarioList {
    /// Adds the client scenarios of `list --requirements <revision>`, scored or not.
    pub(super) fn add_requirements(&mut self, revision: &str, text: &str) {
        let mut of_client = false;
        for line in text.lines() {
            let Some(entry) = line.trim_start().strip_prefix("- ") else {
                if !line.trim().is_empty() && !line.starts_with(' ') {
                    of_client = line.starts_with("Client");
                }
                continue;
            };
            if let Some(name) = entry.strip_suffix(" [client]") {
                self.add(revision, name);
            } else if of_client && !entry.contains(' ') {
                self.add(revision, entry);
            }
        }
    }

    /// Adds the scenarios of extensions from `list --client`; no revision requires them.
    pub(super) fn add_extensions(&mut self, text: &str) {
        for line in text.lines() {
            let entry = line.trim_start().strip_prefix("- ");
            if let Some(name) = entry.and_then(|entry| entry.strip_suffix(" [extension]")) {
                self.add(NEWEST, name);
            }
        }
    }

    /// Adds the scenarios from `list --client` that only older revisions have, at the newest of
    /// these.
    pub(super) fn add_older(&mut self, text: &str) {
        for line in text.lines() {
            let entry = line.trim_start().strip_prefix("- ");
            let entry = entry.and_then(|entry| entry.strip_suffix(']')?.split_once(" ["));
            let Some((name, revisions)) = entry else { continue };
            let revisions = revisions.split(',').filter(|it| it.starts_with("20"));
            if revisions.clone().any(|revision| REVISIONS.contains(&revision)) {
                continue;
            }
            if let Some(newest) = revisions.max() {
                self.add(newest, name);
            }
        }
    }

    fn add(&mut self, revision: &str, name: &str) {
        let scenario = Scenario { revision: revision.to_owned(), name: name.to_owned() };
        if !self.scenarios.contains(&scenario) {
            self.scenarios.push(scenario);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(listed: &ScenarioList) -> Vec<String> {
        listed.scenarios.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_clients_scenarios_are_listed_whether_scored_or_not() {
        let mut listed = ScenarioList::default();
        listed.add_requirements(
            "2025-11-25",
            "\
Required for 2025-11-25 (4 scenarios, frozen; run at the 2025-11-25 wire):

Server scenarios (test against a server):
  - ping

Client scenarios (test against a client):
  - initialize
  - auth/metadata-default
  - sse-retry

Run and reported, but never scored:
  extension (1):
    - auth/dpop [client]
  added-after-release (2):
    - server-session-lifecycle [server]
    - json-schema-2020-12-preservation [client]
",
        );
        assert_eq!(
            names(&listed),
            [
                "2025-11-25 initialize",
                "2025-11-25 auth/metadata-default",
                "2025-11-25 sse-retry",
                "2025-11-25 auth/dpop",
                "2025-11-25 json-schema-2020-12-preservation"
            ]
        );
    }

    #[test]
    fn extensions_are_run_at_the_newest_revision() {
        let mut listed = ScenarioList::default();
        listed.add_extensions(
            "\
Client scenarios (test against a client):
  - tools_call [2025-06-18,2025-11-25,2026-07-28]
  - auth/dpop [extension]
  - sep-2640-client-no-prefetch [extension]
",
        );
        let expected = ["2026-07-28 auth/dpop", "2026-07-28 sep-2640-client-no-prefetch"];
        assert_eq!(names(&listed), expected);
    }

    #[test]
    fn scenarios_of_older_revisions_are_run_at_their_own() {
        let mut listed = ScenarioList::default();
        listed.add_older(
            "\
Client scenarios (test against a client):
  - tools_call [2025-06-18,2025-11-25,2026-07-28]
  - auth/2025-03-26-oauth-endpoint-fallback [2025-03-26]
  - auth/dpop [extension]
",
        );
        let expected = ["2025-03-26 auth/2025-03-26-oauth-endpoint-fallback"];
        assert_eq!(names(&listed), expected);
    }
}
