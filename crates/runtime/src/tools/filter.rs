//! The policy of a server's tools: `includeTools`, `excludeTools` and `toolApproval`, globs over
//! raw names.
//!
//! A text without wildcards is a name. An invalid glob also counts as a name and becomes a
//! problem, so that the rest of the policy still applies.

use wharf_config::{Approval, Policy, Problem};

use super::pattern::NamePattern;

/// The compiled policy of one server.
#[derive(Debug)]
pub(super) struct ToolFilter {
    include: Option<Vec<NamePattern>>,
    exclude: Vec<NamePattern>,
    approval: Approval,
    /// The most specific pattern first.
    approvals: Vec<(NamePattern, Approval)>,
}

impl ToolFilter {
    /// Compiles the globs; invalid ones become problems.
    pub(super) fn new(policy: &Policy, problems: &mut Vec<Problem>) -> Self {
        let mut read = |field: &'static str, text: &str| read_pattern(text, field, problems);
        let include = policy.include_tools.as_ref();
        let include =
            include.map(|globs| globs.iter().map(|glob| read("includeTools", glob)).collect());
        let exclude = policy.exclude_tools.iter().map(|glob| read("excludeTools", glob)).collect();
        let approvals = policy.tool_approval.iter();
        let mut approvals: Vec<(NamePattern, Approval)> =
            approvals.map(|(glob, approval)| (read("toolApproval", glob), *approval)).collect();
        // The order of an object's members must not matter: the more specific pattern wins, and of
        // equally specific ones the stricter policy.
        approvals.sort_by_key(|(pattern, approval)| {
            (std::cmp::Reverse(pattern.specificity()), leniency(*approval))
        });
        Self { include, exclude, approval: policy.approval, approvals }
    }

    /// Tells whether `excludeTools` matches a tool.
    pub(super) fn excludes(&self, tool: &str) -> bool {
        self.exclude.iter().any(|pattern| pattern.matches(tool))
    }

    /// Tells whether a tool is included; exclusion wins over inclusion.
    pub(super) fn includes(&self, tool: &str) -> bool {
        let is_among =
            |patterns: &[NamePattern]| patterns.iter().any(|pattern| pattern.matches(tool));
        self.include.as_deref().is_none_or(is_among) && !self.excludes(tool)
    }

    /// Returns the approval policy of a tool.
    pub(super) fn approval(&self, tool: &str) -> Approval {
        let mut own = self.approvals.iter().filter(|(pattern, _)| pattern.matches(tool));
        own.next().map_or(self.approval, |(_, approval)| *approval)
    }
}

fn leniency(approval: Approval) -> u8 {
    match approval {
        Approval::Deny => 0,
        Approval::Ask => 1,
        Approval::Writes => 2,
        Approval::Never => 3,
    }
}

fn read_pattern(text: &str, field: &'static str, problems: &mut Vec<Problem>) -> NamePattern {
    NamePattern::parse(text).unwrap_or_else(|error| {
        let message = format!("\"{text}\" is not a glob: {error}; it counts as a name");
        let problem = Problem::warning("bad-glob", message).of_field(field);
        problems.push(problem.hint("write it with `*`, `?`, `[ab]` or `{a,b}`"));
        NamePattern::name(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// Checks which of some tools are included.
    fn check(include: Option<&str>, exclude: &str, expected: &str) {
        let policy = Policy {
            include_tools: include.map(words),
            exclude_tools: words(exclude),
            ..Policy::default()
        };
        let filter = ToolFilter::new(&policy, &mut Vec::new());
        let tools = ["read_file", "read_dir", "write_file", "a/b", "x["];
        let let_in: Vec<&str> = tools.into_iter().filter(|tool| filter.includes(tool)).collect();
        assert_eq!(let_in.join(" "), expected, "{include:?} {exclude}");
    }

    #[test]
    fn globs_select_tools_and_exclusion_wins() {
        check(None, "", "read_file read_dir write_file a/b x[");
        check(Some(""), "", "");
        check(Some("read_*"), "", "read_file read_dir");
        check(Some("*"), "*_file", "read_dir a/b x[");
        check(Some("{read,write}_file a*"), "read_file", "write_file a/b");
        check(None, "read_???", "read_file write_file a/b x[");
        check(Some("READ_FILE"), "", "");
    }

    #[test]
    fn a_bad_glob_counts_as_a_name_and_is_reported() {
        check(None, "x[", "read_file read_dir write_file a/b");
        let policy = Policy { exclude_tools: words("x["), ..Policy::default() };
        let mut problems = Vec::new();
        ToolFilter::new(&policy, &mut problems);
        insta::assert_debug_snapshot!(problems, @r#"
        [
            Problem {
                severity: Warning,
                code: "bad-glob",
                server: None,
                field: Some(
                    "excludeTools",
                ),
                path: None,
                line: None,
                message: "\"x[\" is not a glob: unclosed character class; missing ']'; it counts as a name",
                hint: Some(
                    "write it with `*`, `?`, `[ab]` or `{a,b}`",
                ),
            },
        ]
        "#);
    }

    #[test]
    fn the_most_specific_pattern_decides_the_approval() {
        let rules = [
            ("*", Approval::Ask),
            ("read_*", Approval::Never),
            ("read_secret", Approval::Deny),
            ("*_file", Approval::Writes),
            ("?ead_*", Approval::Deny),
        ];
        for rules in [rules.to_vec(), rules.iter().rev().copied().collect()] {
            let rules = rules.into_iter().map(|(glob, approval)| (glob.to_owned(), approval));
            let policy = Policy {
                approval: Approval::Deny,
                tool_approval: rules.collect(),
                ..Policy::default()
            };
            let filter = ToolFilter::new(&policy, &mut Vec::new());
            for (tool, expected) in [
                ("read_secret", Approval::Deny),
                ("read_dir", Approval::Never),
                ("write_file", Approval::Writes),
                ("other", Approval::Ask),
            ] {
                assert_eq!(filter.approval(tool), expected, "{tool}");
            }
        }
    }
}
