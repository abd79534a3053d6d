//! The type of a rule, and the message for its violations.

use std::fmt;

use crate::tree::Tree;

/// A rule of `ARCHITECTURE.md` that is checked by a test.
pub(crate) struct Rule {
    /// The rule, as a sentence.
    pub(crate) says: &'static str,
    /// What to do about a violation.
    pub(crate) fix: &'static str,
    /// Finds every violation.
    pub(crate) find: fn(&Tree) -> Vec<Violation>,
}

/// One violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl Rule {
    /// Returns the message: the rule, its violations and the fix.
    pub(crate) fn message(&self, violations: &[Violation]) -> String {
        let places: Vec<String> = violations.iter().map(|place| format!("  {place}")).collect();
        format!("rule violated: {}\n{}\nhint: {}", self.says, places.join("\n"), self.fix)
    }

    /// Applies the rule to a tree in memory and compares its violations, as `path:line: what`.
    #[track_caller]
    pub(crate) fn check(&self, files: &[(&str, &str)], expected: &[&str]) {
        let found = (self.find)(&Tree::in_memory(files));
        let found: Vec<String> = found.iter().map(Violation::to_string).collect();
        assert_eq!(found, expected);
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

#[test]
fn a_message_names_the_rule_the_places_and_the_fix() {
    let rule = Rule { says: "no cats", fix: "feed them elsewhere", find: |_| Vec::new() };
    let violation = Violation { path: "src/a.rs".into(), line: 3, what: "a cat".into() };
    assert_eq!(
        rule.message(&[violation]),
        "rule violated: no cats\n  src/a.rs:3: a cat\nhint: feed them elsewhere"
    );
}
