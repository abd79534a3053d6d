//! The tests that do not run on Windows, each with its reason.
//!
//! A line `[absent] REASON` begins a list of tests that are not compiled on Windows, a line
//! `[skipped] REASON` one of tests that are compiled but cannot run under Wine. An entry is
//! `BINARY TEST`; `*` in the name of a test stands for any text, `#` begins a comment. An entry
//! that matches no test is an error, so the list cannot hide a test that runs again.

use std::collections::BTreeSet;
use std::str::FromStr;

/// Why a test does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExceptionKind {
    /// It is compiled only on other systems.
    Absent,
    /// It is compiled but not run.
    Skipped,
}

/// The whole list.
#[derive(Debug, Default)]
pub(super) struct Exceptions {
    entries: Vec<Exception>,
}

/// The tests of one line.
#[derive(Debug)]
struct Exception {
    kind: ExceptionKind,
    reason: String,
    binary: String,
    /// The name of the test, in parts between which any text may be.
    parts: Vec<String>,
}

/// A test that an entry names.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedException<'a> {
    /// Which entry it is.
    pub(super) entry: usize,
    pub(super) reason: &'a str,
}

impl Exceptions {
    /// Finds the first entry that names a test.
    pub(super) fn find(
        &self,
        kind: ExceptionKind,
        binary: &str,
        test: &str,
    ) -> Option<NamedException<'_>> {
        let fits = |it: &Exception| it.kind == kind && it.binary == binary && it.matches(test);
        let entry = self.entries.iter().position(fits)?;
        Some(NamedException { entry, reason: &self.entries[entry].reason })
    }

    /// Returns the entries that are not in `used`, as they are written.
    pub(super) fn unused(&self, used: &BTreeSet<usize>) -> Vec<String> {
        let unused = self.entries.iter().enumerate().filter(|(entry, _)| !used.contains(entry));
        unused.map(|(_, it)| format!("{} {}", it.binary, it.parts.join("*"))).collect()
    }
}

impl Exception {
    fn matches(&self, test: &str) -> bool {
        let [first, middle @ .., last] = &self.parts[..] else {
            return self.parts.first().is_some_and(|name| name == test);
        };
        let Some(mut rest) = test.strip_prefix(first.as_str()) else { return false };
        for part in middle {
            let Some((_, after)) = rest.split_once(part.as_str()) else { return false };
            rest = after;
        }
        rest.ends_with(last.as_str())
    }
}

impl FromStr for Exceptions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Self::default();
        let mut section = None;
        for (index, line) in text.lines().enumerate() {
            let fail = |what: &str| format!("line {}: {what}", index + 1);
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Some((kind, reason)) = line.strip_prefix('[').and_then(|it| it.split_once(']')) {
                let kind = match kind {
                    "absent" => ExceptionKind::Absent,
                    "skipped" => ExceptionKind::Skipped,
                    _ => return Err(fail("neither [absent] nor [skipped]")),
                };
                if reason.trim().is_empty() {
                    return Err(fail("there is no reason"));
                }
                section = Some((kind, reason.trim().to_owned()));
                continue;
            }
            let (kind, reason) = section.clone().ok_or_else(|| fail("an entry before a reason"))?;
            let (binary, name) = line.split_once(' ').ok_or_else(|| fail("not `BINARY TEST`"))?;
            let parts = name.trim().split('*').map(str::to_owned).collect();
            all.entries.push(Exception { kind, reason, binary: binary.to_owned(), parts });
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# a list\n[absent] modes are of Unix\na store::unix::*\na modes\n\
                        [skipped] Wine lacks it # and so\nb::c *job*end\n";

    fn found(kind: ExceptionKind, binary: &str, test: &str) -> Option<String> {
        let all: Exceptions = LIST.parse().unwrap();
        all.find(kind, binary, test).map(|it| format!("{} {}", it.entry, it.reason))
    }

    #[test]
    fn a_test_is_found_by_its_binary_and_its_name() {
        let absent = |binary, test| found(ExceptionKind::Absent, binary, test);
        assert_eq!(absent("a", "store::unix::x").as_deref(), Some("0 modes are of Unix"));
        assert_eq!(absent("a", "modes").as_deref(), Some("1 modes are of Unix"));
        for (binary, test) in [("a", "modes2"), ("a", "store::x"), ("b::c", "modes")] {
            assert_eq!(absent(binary, test), None);
        }
        let skipped = |test| found(ExceptionKind::Skipped, "b::c", test);
        assert_eq!(skipped("the job will end").as_deref(), Some("2 Wine lacks it"));
        assert_eq!((skipped("the job ended"), skipped("the end")), (None, None));
    }

    #[test]
    fn an_entry_that_matches_nothing_is_named() {
        let all: Exceptions = LIST.parse().unwrap();
        assert_eq!(all.unused(&BTreeSet::from([0, 2])), ["a modes"]);
    }

    #[test]
    fn a_malformed_line_is_named() {
        let error = |text: &str| text.parse::<Exceptions>().unwrap_err();
        assert_eq!(error("a b"), "line 1: an entry before a reason");
        assert_eq!(error("\n[absent]\n"), "line 2: there is no reason");
        assert_eq!(error("[ignored] x"), "line 1: neither [absent] nor [skipped]");
        assert_eq!(error("[absent] x\na"), "line 2: not `BINARY TEST`");
    }
}
