//! How everything stands at one moment: immutable, shared, cheap to take.
//!
//! Who holds a snapshot keeps what is in it, connections included; newer ones do not change it. The
//! names of tools are decided when somebody first asks for them, over all that is known then.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tracing::span::Id;
use wharf_config::text::clip;
use wharf_config::{Level, Problem, ServerName, Source, TransportKind};
use wharf_protocol::Peer;
use wharf_protocol::era::{Era, Revision};
use wharf_protocol::peer::ListCut;

use super::shared::Rules;
use crate::call::{CallError, Details, Reason};
use crate::gate::Ready;
use crate::resolve::Secrets;
use crate::status::{Failure, Status};
use crate::tools::Registry;
use crate::tools::left_out::{self, Why};
use crate::tools::names::Names;
use crate::tools::offer::Offer;

/// The code of the problem that something was left out.
pub(crate) const LEFT_OUT: &str = "left-out-value";

/// All servers and their tools at one moment.
pub struct Snapshot {
    servers: BTreeMap<ServerName, Arc<ServerView>>,
    pub(crate) rules: Rules,
    registry: OnceLock<Arc<Registry>>,
    names: Arc<Mutex<Names>>,
}

/// One server at one moment.
#[derive(Clone)]
pub struct ServerView {
    /// Its name.
    pub name: ServerName,
    /// The file that defines it.
    pub source: Arc<Source>,
    /// How it is reached, as far as it says.
    pub transport: Option<TransportKind>,
    /// How it stands.
    pub status: Status,
    /// Why it does not stand better.
    pub failure: Option<Arc<Failure>>,
    /// What it said about itself when it was connected.
    pub about: Option<Arc<About>>,
    /// Headless runs fail without it.
    pub is_required: bool,
    /// Why not all of its tools are listed, if they are not.
    pub cut: Option<ListCut>,
    /// What its definition gets wrong.
    pub(crate) defined: Arc<[Problem]>,
    /// What was left out when it was last connected.
    pub(crate) omissions: Arc<[Problem]>,
    pub(crate) ready: Option<Arc<Ready>>,
    pub(crate) peer: Option<Peer>,
    /// The span of the connection that `peer` belongs to.
    pub(crate) life: Option<Id>,
    pub(crate) offer: Option<Arc<Offer>>,
    /// What must not be seen in what it says.
    pub(crate) secrets: Arc<Secrets>,
}

/// What is known of a server that has been connected.
#[derive(Debug, Clone)]
pub struct About {
    /// What it calls itself: foreign text.
    pub name: String,
    /// Its version: foreign text.
    pub version: String,
    /// The revision that both sides use.
    pub revision: Revision,
    /// The transport that was found: `stdio`, `http` or `sse`.
    pub transport: &'static str,
    /// How it wants to be used: foreign text, for a model's prompt.
    pub instructions: Option<String>,
    /// How long connecting took.
    pub connect_time: Duration,
    /// How long listing its tools took.
    pub list_time: Duration,
}

impl About {
    /// Returns the era that its revision belongs to.
    pub fn era(&self) -> Era {
        self.revision.era()
    }
}

impl Snapshot {
    pub(super) fn new(
        servers: BTreeMap<ServerName, Arc<ServerView>>,
        rules: Rules,
        names: Arc<Mutex<Names>>,
    ) -> Self {
        Self { servers, rules, registry: OnceLock::new(), names }
    }

    /// Goes through all servers by name.
    pub fn servers(&self) -> impl Iterator<Item = &Arc<ServerView>> {
        self.servers.values()
    }

    /// Returns a server by its name.
    pub fn server(&self, name: &str) -> Option<&Arc<ServerView>> {
        self.servers.get(&ServerName::new(name))
    }

    /// Returns all tools under their names, live ones and cached ones.
    pub fn registry(&self) -> &Arc<Registry> {
        self.registry.get_or_init(|| {
            let offers: Vec<_> =
                self.servers.values().filter_map(|server| server.offer.clone()).collect();
            let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::new(Registry::build(&offers, &mut names))
        })
    }

    /// Says why a tool is not offered although a server lists it, if that is so.
    pub fn left_out_tool(&self, text: &str) -> Option<(CallError, Details)> {
        self.servers.values().find_map(|server| {
            let (offer, ready) = (server.offer.as_ref()?, server.ready.as_ref()?);
            let found = left_out::find(offer, &ready.spec.policy, text)?;
            let (name, tool) = (clip(found.server.as_str(), 100), clip(&found.tool, 100));
            let (message, hint) = match found.why {
                Why::Excluded => (
                    format!("tool \"{tool}\" of \"{name}\" is excluded"),
                    format!("\"excludeTools\" in the entry of \"{name}\" leaves it out"),
                ),
                Why::NotIncluded => (
                    format!("tool \"{tool}\" of \"{name}\" is excluded"),
                    format!("\"includeTools\" in the entry of \"{name}\" does not name it"),
                ),
                Why::Unusable(why) => (
                    format!("tool \"{tool}\" of \"{name}\" was set aside: {why}"),
                    "tell whoever makes the server".to_owned(),
                ),
            };
            let error = CallError::not_run(Reason::LeftOut, message).with_hint(hint);
            Some((error, Details::of(&found.server, &found.tool, &server.source)))
        })
    }

    /// Goes through the servers whose first answer is still awaited.
    pub fn pending(&self) -> impl Iterator<Item = &Arc<ServerView>> {
        self.servers.values().filter(|server| server.status == Status::Connecting)
    }

    /// Goes through the servers that a headless run needs and that are not there.
    pub fn missing(&self) -> impl Iterator<Item = &Arc<ServerView>> {
        let servers = self.servers.values();
        servers.filter(|server| server.is_required && server.status != Status::Connected)
    }
}

/// Shows how it stands; what it was started with may be secret.
impl fmt::Debug for ServerView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerView({} {}, {} tools)", self.name, self.status, self.tools())
    }
}

impl ServerView {
    /// Returns how many tools of it are known.
    pub fn tools(&self) -> usize {
        self.offer.as_ref().map_or(0, |offer| offer.len())
    }

    /// Returns what is not as it should be, whether or not it keeps the server from working.
    pub fn problems(&self) -> Vec<Problem> {
        let told = self.offer.iter().flat_map(|offer| offer.problems());
        let cut = self.cut_problem();
        self.defined.iter().chain(&*self.omissions).cloned().chain(told).chain(cut).collect()
    }

    /// Says that not all of its tools are listed, if they are not.
    pub fn cut_problem(&self) -> Option<Problem> {
        self.cut.map(|cut| cut_problem(&self.name, "tools", cut))
    }

    /// Returns what kept it from being connected, in one line, with the last meaningful line of its
    /// error output.
    pub fn trouble(&self) -> Option<String> {
        match (self.status, &self.failure) {
            (Status::Untrusted, _) => Some("came with this project and is not trusted".to_owned()),
            (_, Some(failure)) if self.status != Status::Connected => Some(failure.in_one_line()),
            _ => None,
        }
    }

    /// Returns what was left out when it was last connected: headers, variables or a credential that
    /// could not be resolved.
    pub fn left_out(&self) -> Vec<Problem> {
        self.omissions.iter().filter(|problem| problem.code == LEFT_OUT).cloned().collect()
    }

    /// Tells whether it came with a project.
    pub fn is_of_project(&self) -> bool {
        self.source.level == Level::Project
    }

    /// Returns what replaces its name in the names of its tools.
    pub(crate) fn prefix(&self) -> Option<&str> {
        self.ready.as_ref()?.spec.policy.prefix.as_deref()
    }

    /// Tells whether its tools are known, if only from an earlier time.
    pub(crate) fn has_offer(&self) -> bool {
        self.offer.is_some()
    }
}

/// Says that a list is not whole.
pub(crate) fn cut_problem(server: &ServerName, what: &str, cut: ListCut) -> Problem {
    Problem::warning("list-cut", format!("its list of {what} was cut: {cut}"))
        .of_server(server.as_str())
        .hint(format!("only the {what} up to there can be used; tell the author of the server"))
}
