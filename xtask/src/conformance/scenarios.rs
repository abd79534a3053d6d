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

/// The scenarios to run, and those that need OAuth and are not run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScenarioList {
    pub(super) scenarios: Vec<Scenario>,
    pub(super) need_oauth: Vec<Scenario>,
}

impl Scenario {
    fn needs_oauth(&self) -> bool {
        self.name.starts_with("auth/")
    }
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

    fn add(&mut self, revision: &str, name: &str) {
        let scenario = Scenario { revision: revision.to_owned(), name: name.to_owned() };
        let list = if scenario.needs_oauth() { &mut self.need_oauth } else { &mut self.scenarios };
        if !list.contains(&scenario) {
            list.push(scenario);
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
                "2025-11-25 sse-retry",
                "2025-11-25 json-schema-2020-12-preservation"
            ]
        );
        assert_eq!(listed.need_oauth.len(), 2);
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
        assert_eq!(names(&listed), ["2026-07-28 sep-2640-client-no-prefetch"]);
    }
}
