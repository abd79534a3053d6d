//! The tools of one server: its list after the policy was applied, prepared once.
//!
//! An unusable tool is omitted with a problem; the others stay. Names are assigned later, for
//! the tools of all servers ([`super::Registry`]); here are only the preferred names.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use wharf_config::text::clip;
use wharf_config::{Approval, Policy, Problem, ServerName, Settings, Source};
use wharf_protocol::Json;
use wharf_protocol::view::{self, RejectedEntry};

use super::filter::ToolFilter;
use super::naming::{Namer, Naming, PreferredName};
use super::pins::PinReport;
use super::registry::NamedTools;
use super::schema::{self, Sanitize};
use super::tool::{Freshness, Visibility};

/// The maximum number of unusable tools in a message; a server may list thousands of them.
const MAX_NAMED: usize = 10;

/// The maximum length of a name or a reason in a message.
const MAX_TEXT_LENGTH: usize = 100;

/// The code of the problem for unusable tools.
pub const OMITTED_TOOLS: &str = "omitted-tools";

/// The settings for names and schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ToolSettings {
    pub(crate) naming: Naming,
    pub(crate) sanitize: Sanitize,
}

impl From<&Settings> for ToolSettings {
    fn from(settings: &Settings) -> Self {
        let is_strict = settings.is_set_to("tools.sanitize", "strict");
        Self {
            naming: Naming::from(settings),
            sanitize: if is_strict { Sanitize::Strict } else { Sanitize::Light },
        }
    }
}

/// The server that the tools belong to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolServer<'a> {
    pub(crate) name: &'a ServerName,
    pub(crate) source: &'a Arc<Source>,
    pub(crate) policy: &'a Policy,
}

/// A server's list of tools.
#[derive(Debug, Default)]
pub(crate) struct ToolList {
    pub(crate) tools: Arc<[view::ToolDefinition]>,
    /// The entries that are not tools.
    pub(crate) rejected: Vec<RejectedEntry>,
    /// The result of comparing a live list with the pins.
    pub(crate) pins: Option<PinReport>,
}

impl ToolList {
    /// Tells whether the tool matches its pin.
    pub(super) fn is_pinned_unchanged(&self, tool: &str) -> bool {
        self.pins.as_ref().is_some_and(|pins| pins.is_unchanged(tool))
    }
}

/// What all tools of one server have in common.
#[derive(Debug)]
pub(super) struct ToolOrigin {
    pub(super) server: ServerName,
    pub(super) source: Arc<Source>,
    pub(super) listed: Arc<ToolList>,
    pub(super) freshness: Freshness,
    pub(super) settings: ToolSettings,
}

/// A tool that has no assigned name yet.
#[derive(Debug)]
pub(super) struct PreparedTool {
    pub(super) index: usize,
    pub(super) preferred: PreferredName,
    pub(super) schema: Json,
    pub(super) approval: Approval,
    pub(super) visibility: Visibility,
}

/// The tools of one server that its policy includes.
#[derive(Debug)]
pub(crate) struct ServerTools {
    pub(super) origin: Arc<ToolOrigin>,
    pub(super) tools: Vec<PreparedTool>,
    problems: Vec<Problem>,
    /// The tools under their names, from the first registry they were part of.
    pub(super) named: OnceLock<NamedTools>,
}

impl ServerTools {
    /// Prepares a server's list.
    pub(crate) fn prepare(
        server: &ToolServer<'_>,
        listed: ToolList,
        freshness: Freshness,
        settings: ToolSettings,
    ) -> Self {
        let origin = ToolOrigin {
            server: server.name.clone(),
            source: server.source.clone(),
            listed: Arc::new(listed),
            freshness,
            settings,
        };
        Self::from_origin(Arc::new(origin), server.policy)
    }

    /// Returns the same list for another source, policy or settings.
    pub(crate) fn with_server(&self, server: &ToolServer<'_>, settings: ToolSettings) -> Self {
        let origin = ToolOrigin {
            server: server.name.clone(),
            source: server.source.clone(),
            listed: self.origin.listed.clone(),
            freshness: self.origin.freshness,
            settings,
        };
        Self::from_origin(Arc::new(origin), server.policy)
    }

    /// Returns the server.
    pub(crate) fn server(&self) -> &ServerName {
        &self.origin.server
    }

    /// Returns the naming of its tools.
    pub(super) fn naming(&self) -> Naming {
        self.origin.settings.naming
    }

    /// Returns the number of listed tools.
    pub(crate) fn len(&self) -> usize {
        let is_listed = |tool: &&PreparedTool| tool.visibility == Visibility::Listed;
        self.tools.iter().filter(is_listed).count()
    }

    /// Returns the problems: unusable or changed tools, and invalid globs.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let pins = self.origin.listed.pins.as_ref();
        let changed = pins.map(|pins| pins.problems(self.origin.server.as_str()));
        self.problems.iter().cloned().chain(changed.unwrap_or_default()).collect()
    }

    /// Tells whether the other list is equal and equally fresh.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (own, new) = (&self.origin, &other.origin);
        own.freshness == new.freshness && own.listed.tools == new.listed.tools
    }

    /// Returns all tools that the server listed, also excluded and unusable ones.
    pub(crate) fn listed(&self) -> &[view::ToolDefinition] {
        &self.origin.listed.tools
    }

    fn from_origin(origin: Arc<ToolOrigin>, policy: &Policy) -> Self {
        let mut problems = Vec::new();
        let filter = ToolFilter::new(policy, &mut problems);
        let server = origin.server.as_str();
        let mut namer = Namer::new(origin.settings.naming, server, policy.prefix.as_deref());
        let mut omitted = OmittedTools::default();
        for rejected in &origin.listed.rejected {
            omitted.add(|| {
                format!(
                    "an entry that is not a tool ({})",
                    clip(&rejected.why.to_string(), MAX_TEXT_LENGTH)
                )
            });
        }
        let mut seen = HashSet::with_capacity(origin.listed.tools.len());
        let mut tools = Vec::with_capacity(origin.listed.tools.len());
        for (index, tool) in origin.listed.tools.iter().enumerate() {
            let name: &str = tool.name();
            if !filter.includes(name) {
                continue;
            }
            if !seen.insert(name) {
                omitted.add(|| format!("\"{}\" (listed twice)", clip(name, MAX_TEXT_LENGTH)));
                continue;
            }
            let schema = match schema::light(tool.input_schema()) {
                Ok(schema) => schema,
                Err(why) => {
                    omitted.add(|| format!("\"{}\" ({why})", clip(name, MAX_TEXT_LENGTH)));
                    continue;
                }
            };
            let approval = filter.approval(name);
            let visibility = visibility(&origin.listed, name, approval);
            let preferred = namer.preferred_name(name);
            tools.push(PreparedTool { index, preferred, schema, approval, visibility });
        }
        problems.extend(omitted.into_problem());
        for problem in &mut problems {
            problem.server = Some(server.to_owned());
        }
        Self { origin, tools, problems, named: OnceLock::new() }
    }
}

fn visibility(listed: &ToolList, tool: &str, approval: Approval) -> Visibility {
    if approval == Approval::Deny {
        Visibility::Denied
    } else if listed.pins.as_ref().is_some_and(|pins| pins.withholds(tool)) {
        Visibility::Withheld
    } else {
        Visibility::Listed
    }
}

/// The unusable tools: some by name with the reason, the rest as a number.
#[derive(Default)]
struct OmittedTools {
    named: Vec<String>,
    more: usize,
}

impl OmittedTools {
    fn add(&mut self, tool: impl FnOnce() -> String) {
        if self.named.len() < MAX_NAMED {
            self.named.push(tool());
        } else {
            self.more += 1;
        }
    }

    /// Returns one problem for all of them.
    fn into_problem(self) -> Option<Problem> {
        let count = self.named.len() + self.more;
        let was = if count == 1 { "tool was" } else { "tools were" };
        let mut message = format!("{count} {was} omitted: {}", self.named.join(", "));
        if self.more > 0 {
            message = format!("{message} and {} more", self.more);
        }
        let problem = Problem::warning(OMITTED_TOOLS, message);
        (count > 0)
            .then(|| problem.hint("its other tools work; report this to the author of the server"))
    }
}
