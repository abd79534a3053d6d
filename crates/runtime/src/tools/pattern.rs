//! Globs over raw names of servers and tools, for filters of entries, views and approval policies.
//!
//! A text without wildcards is a name. The usual patterns (`*`, `read_*`) are compared as text: a
//! compiled glob takes kilobytes, and a host may have thousands of views.

use std::fmt;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

/// A name, or a glob over names.
#[derive(Clone)]
pub(crate) enum NamePattern {
    Any,
    Name(Arc<str>),
    Prefix(Arc<str>),
    Glob(Arc<GlobMatcher>),
}

impl NamePattern {
    /// Reads a text with the wildcards `*`, `?`, `[ab]` and `{a,b}`.
    pub(crate) fn parse(text: &str) -> Result<Self, globset::ErrorKind> {
        let is_plain = |text: &str| !text.contains(['*', '?', '[', '{', '\\']);
        if text == "*" {
            return Ok(Self::Any);
        }
        if is_plain(text) {
            return Ok(Self::name(text));
        }
        if let Some(prefix) = text.strip_suffix('*').filter(|prefix| is_plain(prefix)) {
            return Ok(Self::Prefix(prefix.into()));
        }
        let glob = GlobBuilder::new(text).backslash_escape(true).build();
        let glob = glob.map_err(|error| error.kind().clone())?;
        Ok(Self::Glob(Arc::new(glob.compile_matcher())))
    }

    /// Makes the pattern that matches only this text.
    pub(crate) fn name(text: &str) -> Self {
        Self::Name(text.into())
    }

    /// Reads a text; one that is not a glob counts as a name.
    pub(crate) fn new(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|_| Self::name(text))
    }

    /// Tells whether it matches a name.
    pub(crate) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Name(own) => **own == *name,
            Self::Prefix(prefix) => name.starts_with(&**prefix),
            Self::Glob(glob) => glob.is_match(name),
        }
    }

    /// A name is more specific than any glob; of two globs, the one with more fixed characters is.
    pub(crate) fn specificity(&self) -> (bool, usize) {
        match self {
            Self::Any => (false, 0),
            Self::Name(_) => (true, 0),
            Self::Prefix(prefix) => (false, prefix.chars().count()),
            Self::Glob(glob) => {
                let fixed = |c: &char| !matches!(c, '*' | '?');
                (false, glob.glob().glob().chars().filter(fixed).count())
            }
        }
    }
}

/// Prints the pattern as it was written.
impl fmt::Debug for NamePattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => formatter.write_str("*"),
            Self::Name(name) => formatter.write_str(name),
            Self::Prefix(prefix) => write!(formatter, "{prefix}*"),
            Self::Glob(glob) => formatter.write_str(glob.glob().glob()),
        }
    }
}

/// A pattern over servers and their tools: `server/tool`, or `server` for all of its tools.
#[derive(Clone)]
pub(crate) struct ToolPattern {
    server: NamePattern,
    tool: NamePattern,
}

impl ToolPattern {
    /// Reads a pattern. The part before the first `/` is a glob over servers, the rest one over
    /// tools; a part that is not a glob counts as a name. `\/` is a slash in the name of a server.
    pub(crate) fn new(text: &str) -> Self {
        let (server, tool) = split(text);
        Self { server: NamePattern::new(server), tool: NamePattern::new(tool) }
    }

    /// Reads a pattern that restricts: a part that is not a glob matches everything, because with
    /// a mistake in it, the tools that it was written for must not be allowed.
    pub(crate) fn restricting(text: &str) -> Self {
        let (server, tool) = split(text);
        match (NamePattern::parse(server), NamePattern::parse(tool)) {
            (Ok(server), Ok(tool)) => Self { server, tool },
            (Ok(server), Err(_)) => Self { server, tool: NamePattern::Any },
            (Err(_), _) => Self { server: NamePattern::Any, tool: NamePattern::Any },
        }
    }

    /// Tells whether it matches a tool of a server, both by their raw names.
    pub(crate) fn matches(&self, server: &str, tool: &str) -> bool {
        self.server.matches(server) && self.tool.matches(tool)
    }

    /// Tells whether it matches at least some tools of a server.
    pub(crate) fn matches_server(&self, server: &str) -> bool {
        self.server.matches(server)
    }

    /// Tells whether it matches all tools of a server: the part for tools is missing, or `*`.
    pub(crate) fn matches_whole_server(&self, server: &str) -> bool {
        self.server.matches(server) && matches!(self.tool, NamePattern::Any)
    }
}

/// Splits a pattern at the first `/` that is not escaped.
fn split(text: &str) -> (&str, &str) {
    let mut is_escaped = false;
    let slash = text.find(|c: char| {
        let is_slash = c == '/' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_slash
    });
    slash.map_or((text, "*"), |at| (&text[..at], &text[at + 1..]))
}

impl fmt::Debug for ToolPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}/{:?}", self.server, self.tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, server: &str, tool: &str, expected: bool) {
        let pattern = ToolPattern::new(pattern);
        assert_eq!(pattern.matches(server, tool), expected, "{pattern:?} {server} {tool}");
    }

    #[test]
    fn a_pattern_matches_servers_and_tools() {
        check("docs", "docs", "read", true);
        check("docs", "docs2", "read", false);
        check("docs/read_*", "docs", "read_file", true);
        check("docs/read_*", "docs", "write", false);
        check("*/read", "any", "read", true);
        check("git{hub,lab}/?ush", "gitlab", "push", true);
        check("git[hl]/x", "gith", "x", true);
        check("docs/a/b", "docs", "a/b", true);
        check("docs/*", "docs", "a/b", true);
        check("broken[/x", "broken[", "x", true);
        check(r"team\/docs/read", "team/docs", "read", true);
        check(r"team\/docs/read", "team", "docs/read", false);
        check(r"team\/*", "team/docs", "read", true);
        check(r"docs\\/read", r"docs\", "read", true);
    }

    #[test]
    fn a_restricting_pattern_with_a_mistake_matches_more() {
        for (text, server, tool, expected) in [
            ("docs/{delete", "docs", "delete", true),
            ("docs/{delete", "docs", "read", true),
            ("docs/{delete", "other", "delete", false),
            ("{docs/delete", "other", "read", true),
            ("docs/delete_*", "docs", "read", false),
        ] {
            let pattern = ToolPattern::restricting(text);
            assert_eq!(pattern.matches(server, tool), expected, "{text} {server} {tool}");
        }
    }
}
