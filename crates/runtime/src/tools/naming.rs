//! Tool naming: the preferred name of a tool is `mcp_<server>_<tool>`, in characters that every
//! model accepts.
//!
//! It depends only on the raw names and the setting `tools.naming`. [`super::name_table`] decides
//! which of several tools gets the same preferred name.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use wharf_config::Settings;
use wharf_config::settings::SettingValue;

/// The maximum number of characters of a name.
pub(super) const MAX_NAME_LENGTH: usize = 64;

/// The number of letters of a suffix, which tells tools with the same preferred name apart.
const SUFFIX_LENGTH: usize = 6;

/// The maximum number of characters in front of a suffix.
const MAX_STEM_LENGTH: usize = MAX_NAME_LENGTH - SUFFIX_LENGTH - 1;

/// How names are made from raw names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// Letters only, joined with `_`.
    #[default]
    Classic,
    /// Letters and digits, joined with `__`.
    Precise,
}

impl From<&Settings> for Naming {
    fn from(settings: &Settings) -> Self {
        if settings.is_set_to("tools.naming", "precise") { Self::Precise } else { Self::Classic }
    }
}

/// The word of the setting, for [`wharf_config::Settings::with`].
impl From<Naming> for SettingValue {
    fn from(value: Naming) -> Self {
        Self::from(match value {
            Naming::Classic => "classic",
            Naming::Precise => "precise",
        })
    }
}

impl Naming {
    /// Returns the beginning of the names of a server's tools, such as `mcp_github_`. A prefix
    /// that is not empty replaces the server's name.
    pub fn server_part(self, server: &str, prefix: Option<&str>) -> String {
        Namer::new(self, server, prefix).name
    }

    /// Returns the part of a name behind the server, if the name can be one of that server's
    /// tools.
    pub fn tool_part<'n>(
        self,
        name: &'n str,
        server: &str,
        prefix: Option<&str>,
    ) -> Option<&'n str> {
        let head = self.server_part(server, prefix);
        name.strip_prefix(&head).filter(|tool| !tool.is_empty())
    }

    /// Tells whether the name of a server stays as it is in the names of its tools.
    pub(crate) fn keeps(self, server: &str) -> bool {
        Namer::new(self, server, None).is_exact
    }

    /// Tells whether a tool of a server could have this name.
    pub(crate) fn may_name(self, name: &str, server: &str, prefix: Option<&str>) -> bool {
        let head = self.server_part(server, prefix);
        if name.strip_prefix(&head).is_some_and(|tool| !tool.is_empty()) {
            return true;
        }
        // A long server name is cut, and a suffix follows.
        let cut = name.strip_prefix(stem(&head)).filter(|_| head.len() > MAX_STEM_LENGTH);
        cut.is_some_and(is_suffix)
    }

    fn separator(self) -> &'static str {
        match self {
            Self::Classic => "_",
            Self::Precise => "__",
        }
    }

    fn is_allowed(self, c: char) -> bool {
        c.is_ascii_lowercase() || (self == Self::Precise && c.is_ascii_digit())
    }

    /// Appends a part with allowed characters only, or `instead` if none is left.
    fn push_part(self, part: &str, instead: &str, name: &mut String) {
        let start = name.len();
        let mut has_gap = false;
        let mut push = |c: char| {
            if self.is_allowed(c) {
                if has_gap && name.len() > start {
                    name.push('_');
                }
                name.push(c);
            }
            has_gap = !self.is_allowed(c);
        };
        for c in part.chars() {
            if c.is_ascii() {
                push(c.to_ascii_lowercase());
            } else {
                // The lower case of some other characters is an ASCII letter.
                c.to_lowercase().for_each(&mut push);
            }
        }
        if name.len() == start {
            name.push_str(instead);
        }
    }
}

/// Makes the preferred names of one server's tools.
#[derive(Debug)]
pub(super) struct Namer {
    naming: Naming,
    /// `mcp_<server>_`, followed by the part of the last tool.
    name: String,
    /// The range of the server in it.
    server: std::ops::Range<usize>,
    /// The start of the tool in it.
    tool: usize,
    is_exact: bool,
}

impl Namer {
    /// Makes names for a server; a prefix replaces its name.
    pub(super) fn new(naming: Naming, server: &str, prefix: Option<&str>) -> Self {
        let mut head = format!("mcp{}", naming.separator());
        let start = head.len();
        let prefix = prefix.filter(|prefix| !prefix.is_empty());
        naming.push_part(prefix.unwrap_or(server), "server", &mut head);
        let part = start..head.len();
        let is_exact = head[part.clone()] == *server;
        head.push_str(naming.separator());
        Self { naming, tool: head.len(), name: head, server: part, is_exact }
    }

    /// Returns the preferred name of a tool.
    pub(super) fn preferred_name(&mut self, tool: &str) -> PreferredName {
        let (name, start) = (&mut self.name, self.tool);
        name.truncate(start);
        self.naming.push_part(tool, "tool", name);
        let repeated = name[start..].strip_prefix(&name[self.server.clone()]);
        if let Some(rest) = repeated.and_then(|rest| rest.strip_prefix('_')) {
            let end = name.len() - rest.len();
            name.replace_range(start..end, "");
        }
        let is_exact = self.is_exact && name[start..] == *tool;
        let is_long = name.len() > MAX_NAME_LENGTH;
        PreferredName { stem: if is_long { stem(name) } else { name }.into(), is_long, is_exact }
    }
}

/// The name that a tool gets if no other tool has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PreferredName {
    /// The name; if it was too long, its beginning.
    pub(super) stem: Arc<str>,
    /// It was too long, so it always gets a suffix.
    pub(super) is_long: bool,
    /// It contains the raw names unchanged.
    pub(super) is_exact: bool,
}

impl PreferredName {
    /// Tells whether this is the preferred name, with or without a suffix.
    pub(super) fn allows(&self, name: &str) -> bool {
        if !self.is_long && *name == *self.stem {
            return true;
        }
        name.strip_prefix(stem(&self.stem)).is_some_and(is_suffix)
    }

    /// Returns the name with a suffix made from the raw names; `attempt` is greater than 0 if the
    /// name was taken.
    pub(super) fn with_suffix(&self, server: &str, tool: &str, attempt: u32) -> Arc<str> {
        let mut hash = Sha256::new().chain_update(server).chain_update([0]).chain_update(tool);
        if attempt > 0 {
            hash.update([0]);
            hash.update(attempt.to_string());
        }
        let mut number =
            hash.finalize().iter().take(8).fold(0_u64, |n, byte| (n << 8) | u64::from(*byte));
        let mut letters = [b'_'; SUFFIX_LENGTH + 1];
        for letter in &mut letters[1..] {
            *letter = b'a' + u8::try_from(number % 26).unwrap_or_default();
            number /= 26;
        }
        let stem = stem(&self.stem);
        let mut name = [0; MAX_NAME_LENGTH];
        let length = stem.len() + letters.len();
        name[..stem.len()].copy_from_slice(stem.as_bytes());
        name[stem.len()..length].copy_from_slice(&letters);
        String::from_utf8_lossy(&name[..length]).into()
    }
}

/// Returns the part of a name that stays in front of a suffix.
fn stem(name: &str) -> &str {
    name.get(..MAX_STEM_LENGTH).unwrap_or(name).trim_end_matches('_')
}

/// Tells whether a text is `_` followed by the letters of a suffix.
fn is_suffix(text: &str) -> bool {
    let letters = text.strip_prefix('_').unwrap_or_default();
    letters.len() == SUFFIX_LENGTH && letters.bytes().all(|letter| letter.is_ascii_lowercase())
}

/// Tells whether a text is a valid name of a tool.
pub(crate) fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !text.is_empty() && text.len() <= MAX_NAME_LENGTH && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(naming: Naming, server: &str, tool: &str, expected: &str) {
        let preferred = Namer::new(naming, server, None).preferred_name(tool);
        assert_eq!(&*preferred.stem, expected, "{server}/{tool}");
    }

    #[test]
    fn names_are_made_of_letters() {
        for (server, tool, expected) in [
            ("context7", "query-docs", "mcp_context_query_docs"),
            ("puppeteer", "puppeteer_screenshot", "mcp_puppeteer_screenshot"),
            ("puppeteer", "puppeteer_puppeteer_x", "mcp_puppeteer_puppeteer_x"),
            ("echo", "echo", "mcp_echo_echo"),
            ("echo", "echo_", "mcp_echo_echo"),
            ("my-server", "a", "mcp_my_server_a"),
            ("my.server", "a", "mcp_my_server_a"),
            ("123", "bank", "mcp_server_bank"),
            ("日本", "検索", "mcp_server_tool"),
            ("GitHub", "listIssues", "mcp_github_listissues"),
            ("\u{212a}", "__x--y__", "mcp_k_x_y"),
            ("a7b", "a_b_c", "mcp_a_b_c"),
            ("", "", "mcp_server_tool"),
        ] {
            check(Naming::Classic, server, tool, expected);
        }
    }

    #[test]
    fn precise_names_keep_digits() {
        for (server, tool, expected) in [
            ("context7", "query-docs", "mcp__context7__query_docs"),
            ("puppeteer", "puppeteer_screenshot", "mcp__puppeteer__screenshot"),
            ("echo", "echo", "mcp__echo__echo"),
            ("123", "bank", "mcp__123__bank"),
            ("日本", "検索", "mcp__server__tool"),
            ("a__b", "c", "mcp__a_b__c"),
        ] {
            check(Naming::Precise, server, tool, expected);
        }
    }

    #[test]
    fn a_prefix_replaces_the_server_and_is_never_exact() {
        let preferred =
            Namer::new(Naming::Classic, "hub", Some("git hub")).preferred_name("git_hub_search");
        assert_eq!(&*preferred.stem, "mcp_git_hub_search");
        assert!(
            !Namer::new(Naming::Classic, "x", Some("github")).preferred_name("search").is_exact
        );
        assert!(Namer::new(Naming::Classic, "github", None).preferred_name("search").is_exact);
        assert!(
            !Namer::new(Naming::Classic, "github", None).preferred_name("github_search").is_exact
        );
    }

    #[test]
    fn a_name_matches_the_servers_that_could_have_it() {
        let long = "a".repeat(100);
        let cut =
            Namer::new(Naming::Classic, &long, None).preferred_name("b").with_suffix(&long, "b", 0);
        for (naming, name, server, expected) in [
            (Naming::Classic, "mcp_context_query_docs", "context7", true),
            (Naming::Precise, "mcp_context_query_docs", "context7", false),
            (Naming::Precise, "mcp__context7__query_docs", "context7", true),
            (Naming::Precise, "mcp__context7__query_docs", "context", false),
            (Naming::Classic, "mcp_fs_read", "fs", true),
            (Naming::Classic, "mcp_fs_read", "f", false),
            (Naming::Classic, "mcp_fs_read", "fs_read", false),
            (Naming::Classic, "mcp_a_b_c", "a-b", true),
            (Naming::Classic, "mcp_a_b_c", "a", true),
            (Naming::Classic, "mcp_server_bank", "123", true),
            (Naming::Classic, &cut, &long, true),
            (Naming::Classic, "mcp_a_x", &long, false),
        ] {
            assert_eq!(naming.may_name(name, server, None), expected, "{name} {server}");
        }
        assert!(Naming::Classic.may_name("mcp_hub_x", "github", Some("hub")));
        assert!(Naming::Classic.may_name("mcp_github_x", "github", Some("")));
        assert!(!Naming::Classic.may_name("mcp_github_x", "github", Some("hub")));
    }

    #[test]
    fn a_long_name_is_cut_and_gets_a_suffix() {
        let preferred =
            Namer::new(Naming::Classic, "server", None).preferred_name(&"long_".repeat(30));
        assert!(preferred.is_long);
        let name = preferred.with_suffix("server", "long", 0);
        insta::assert_snapshot!(name, @"mcp_server_long_long_long_long_long_long_long_long_long_l_sgjnpa");
        assert!(preferred.allows(&name) && !preferred.allows(&preferred.stem));
        let fits =
            Namer::new(Naming::Classic, "s", None).preferred_name(&"x".repeat(MAX_NAME_LENGTH - 6));
        assert!(!fits.is_long && fits.stem.len() == MAX_NAME_LENGTH);
        assert_eq!(fits.with_suffix("s", "x", 0).len(), MAX_NAME_LENGTH);
        assert_ne!(fits.with_suffix("s", "x", 0), fits.with_suffix("s", "x", 1));
    }

    #[test]
    fn a_name_of_another_tool_is_not_allowed() {
        let preferred = Namer::new(Naming::Classic, "a", None).preferred_name("b");
        for (name, expected) in [
            ("mcp_a_b", true),
            ("mcp_a_b_abcdef", true),
            ("mcp_a_b_abcde", false),
            ("mcp_a_b_abcdefg", false),
            ("mcp_a_b_abcde7", false),
            ("mcp_a_c", false),
            ("mcp__a__b", false),
        ] {
            assert_eq!(preferred.allows(name), expected, "{name}");
        }
    }
}
