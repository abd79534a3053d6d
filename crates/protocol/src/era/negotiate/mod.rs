//! Finds out which era a server belongs to; a state machine without any input or output of its own.
//!
//! The caller reports signs (an answer, silence, the end of the process) and does the steps it is
//! told. Real servers do nearly everything on a question they do not know — errors with any code,
//! silence, an empty result, the end of the process — so no single sign decides alone.

use crate::Json;
use crate::envelope::{RpcError, code};

use super::{Era, Revision};

/// A question that shows what a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Probe {
    /// `server/discover`, the modern way.
    Discover(Revision),
    /// `initialize`, the legacy way.
    Initialize(Revision),
}

/// What the caller saw.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sign<'a> {
    /// The server answered a probe.
    Answered(Probe, Result<&'a Json, &'a RpcError>),
    /// HTTP turned the probe away with a status that says "not like this" (400, 404, 405 …).
    TurnedAway(Probe),
    /// HTTP failed in a way that may pass: 5xx, 408, 429, or a connection that was closed.
    Failed(Probe),
    /// Nothing came for a while.
    Silence,
    /// The process ended or closed its output.
    Gone,
}

/// What the caller does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Ask this; earlier probes may still be answered.
    Ask(Probe),
    /// Start the server anew and ask this.
    Restart(Probe),
    /// Try the HTTP+SSE transport of 2024-11-05.
    TryEventStream,
    /// Go on waiting.
    Wait,
    /// The server speaks this revision; the result is what it said about itself.
    Settled { revision: Revision, result: Json, oddity: Option<&'static str> },
    /// There is nothing left to try.
    GiveUp,
}

/// What is known about a server before it is asked anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prior {
    Nothing,
    /// The revision it spoke last time: tried first, and dropped if it fails.
    Remembered(Revision),
    /// The only revision that may be offered.
    Pinned(Revision),
}

/// Where the negotiation stands.
#[derive(Debug)]
pub(crate) struct Negotiation {
    open: Vec<Probe>,
    asked: Vec<Probe>,
    pinned: Option<Revision>,
    has_restarted: bool,
    has_repeated: bool,
    /// HTTP said no to `initialize` itself, so there may be an event stream instead.
    is_turned_away: bool,
}

impl Negotiation {
    /// Begins with what is known about the server, or with the modern probe.
    pub(crate) fn begin(prior: Prior) -> (Self, Probe) {
        let known = match prior {
            Prior::Nothing => None,
            Prior::Remembered(revision) | Prior::Pinned(revision) => Some(revision),
        };
        let probe = match known {
            Some(revision) if revision.era() == Era::Legacy => Probe::Initialize(revision),
            Some(revision) if prior == Prior::Pinned(revision) => Probe::Discover(revision),
            _ => Probe::Discover(Revision::LATEST),
        };
        let negotiation = Self {
            open: vec![probe],
            asked: vec![probe],
            pinned: known.filter(|revision| prior == Prior::Pinned(*revision)),
            has_restarted: false,
            has_repeated: false,
            is_turned_away: false,
        };
        (negotiation, probe)
    }

    /// Tells whether there is another probe to try after the server hung up on this one.
    pub(crate) fn may_go_on(&self, probe: Probe) -> bool {
        matches!(probe, Probe::Discover(_)) || (!self.has_discovered() && self.pinned.is_none())
    }

    /// Takes a sign and says what to do.
    pub(crate) fn next(&mut self, sign: Sign<'_>) -> Step {
        match sign {
            Sign::Answered(probe, answer) => {
                self.open.retain(|open| *open != probe);
                match (probe, answer) {
                    (Probe::Discover(asked), Ok(result)) => self.discovered(asked, result),
                    (Probe::Discover(asked), Err(error)) => self.discover_failed(asked, error),
                    (Probe::Initialize(asked), Ok(result)) => self.initialized(asked, result),
                    (Probe::Initialize(asked), Err(error)) => self.initialize_failed(asked, error),
                }
            }
            Sign::TurnedAway(probe) => {
                self.is_turned_away |= matches!(probe, Probe::Initialize(_));
                self.not_answered(probe)
            }
            Sign::Failed(probe) => self.not_answered(probe),
            Sign::Silence => {
                // A legacy server may be slow to start, and some exit on a question they do not
                // know, so one that is remembered as legacy is not asked the modern one.
                if self.has_initialized() || self.pinned.is_some() {
                    Step::Wait
                } else {
                    self.initialize(Revision::LATEST_LEGACY)
                }
            }
            Sign::Gone => self.gone(),
        }
    }

    /// Goes on after a probe that HTTP did not bring to an answer.
    fn not_answered(&mut self, probe: Probe) -> Step {
        self.open.retain(|open| *open != probe);
        match probe {
            Probe::Discover(_) => self.initialize(Revision::LATEST_LEGACY),
            Probe::Initialize(_) if !self.has_discovered() => {
                self.ask(Probe::Discover(Revision::LATEST))
            }
            Probe::Initialize(_) => Step::TryEventStream,
        }
    }

    fn discovered(&mut self, asked: Revision, result: &Json) -> Step {
        let Some(supported) = versions(Some(result), "supportedVersions") else {
            return self.initialize(Revision::LATEST_LEGACY);
        };
        match best(&supported, Era::Modern) {
            Some(revision) => {
                let is_odd = supported.iter().any(String::is_empty);
                let oddity = is_odd.then_some("lists protocol revisions that are no texts");
                Step::Settled { revision, result: result.clone(), oddity }
            }
            // A server that answers the modern question but lists only what we do not know is
            // modern all the same if it lists nothing legacy.
            None => match best(&supported, Era::Legacy) {
                Some(revision) => self.initialize(revision),
                None => Step::Settled {
                    revision: asked,
                    result: result.clone(),
                    oddity: Some("lists no protocol revision that Wharf knows"),
                },
            },
        }
    }

    fn discover_failed(&mut self, asked: Revision, error: &RpcError) -> Step {
        match error.code {
            code::UNSUPPORTED_VERSION => {
                let supported = versions(error.data.as_ref(), "supported").unwrap_or_default();
                match best(&supported, Era::Modern) {
                    // Also when it is the revision that was just refused: a gateway may learn it.
                    Some(revision) if self.times_asked(Probe::Discover(revision)) < 2 => {
                        self.ask(Probe::Discover(revision))
                    }
                    _ => self.initialize(
                        best(&supported, Era::Legacy).unwrap_or(Revision::LATEST_LEGACY),
                    ),
                }
            }
            // Only a modern server knows these codes; it dislikes the question, not the era.
            code::HEADER_MISMATCH | code::MISSING_CAPABILITY => Step::Settled {
                revision: asked,
                result: Json::object(),
                oddity: Some("refuses server/discover"),
            },
            _ => self.initialize(Revision::LATEST_LEGACY),
        }
    }

    fn initialized(&mut self, asked: Revision, result: &Json) -> Step {
        if !result.is_object() {
            return if self.has_discovered() || self.pinned.is_some() {
                self.repeat(asked)
            } else {
                self.ask(Probe::Discover(Revision::LATEST))
            };
        }
        let named = result.get("protocolVersion").and_then(|version| version.to_text());
        let known = named.as_deref().map(str::parse::<Revision>);
        let (revision, oddity) = match known {
            Some(Ok(revision)) if revision.era() == Era::Legacy => {
                let is_other = self.pinned.is_some_and(|pinned| pinned != revision);
                (revision, is_other.then_some("answers with another revision than the pinned one"))
            }
            Some(Ok(_)) => (asked, Some("answers initialize with a revision that has none")),
            Some(Err(_)) if named.as_deref() < Some(Revision::V2024_11_05.as_str()) => {
                (Revision::V2024_11_05, Some("names a protocol revision that does not exist"))
            }
            Some(Err(_)) => (asked, Some("names a protocol revision that does not exist")),
            None => (asked, Some("names no protocol revision")),
        };
        Step::Settled { revision, result: result.clone(), oddity }
    }

    fn initialize_failed(&mut self, asked: Revision, error: &RpcError) -> Step {
        let supported = versions(error.data.as_ref(), "supported").unwrap_or_default();
        if let Some(revision) = best(&supported, Era::Legacy)
            && self.pinned.is_none()
            && !self.asked.contains(&Probe::Initialize(revision))
        {
            return self.ask(Probe::Initialize(revision));
        }
        if !self.has_discovered() && self.pinned.is_none() {
            return self.ask(Probe::Discover(Revision::LATEST));
        }
        if !self.open.is_empty() {
            return Step::Wait;
        }
        // A modern server whose answer to the first question got lost.
        if let Some(revision) = best(&supported, Era::Modern)
            && self.pinned.is_none()
            && self.times_asked(Probe::Discover(revision)) < 2
        {
            return self.ask(Probe::Discover(revision));
        }
        self.repeat(asked)
    }

    /// Tries the same once more: a few servers are not ready for the first question.
    fn repeat(&mut self, asked: Revision) -> Step {
        if std::mem::replace(&mut self.has_repeated, true) {
            return self.end();
        }
        self.ask(Probe::Initialize(asked))
    }

    /// Ends, unless a probe is still open or another transport may be there.
    fn end(&self) -> Step {
        match (self.open.is_empty(), self.is_turned_away) {
            (false, _) => Step::Wait,
            (true, true) => Step::TryEventStream,
            (true, false) => Step::GiveUp,
        }
    }

    fn gone(&mut self) -> Step {
        self.open.clear();
        // Servers on older SDKs end on a first question that is not `initialize`. One that ends on
        // `initialize` is broken, and starting it twice each time would use up its starts.
        let may_restart = self.has_discovered() && self.pinned.is_none();
        if !may_restart || std::mem::replace(&mut self.has_restarted, true) {
            return Step::GiveUp;
        }
        let probe = Probe::Initialize(Revision::LATEST_LEGACY);
        self.note(probe);
        Step::Restart(probe)
    }

    fn initialize(&mut self, revision: Revision) -> Step {
        // With both probes on their way, one refusal leaves the other to decide.
        if self.open.iter().any(|probe| matches!(probe, Probe::Initialize(_))) {
            return Step::Wait;
        }
        // What was remembered was asked first; if HTTP has said no to it, it does so to any other.
        if self.is_turned_away {
            return Step::TryEventStream;
        }
        if self.asked.contains(&Probe::Initialize(revision)) {
            return if self.open.is_empty() { self.repeat(revision) } else { Step::Wait };
        }
        self.ask(Probe::Initialize(revision))
    }

    /// Asks, unless the pinned revision forbids it.
    fn ask(&mut self, probe: Probe) -> Step {
        let (Probe::Discover(revision) | Probe::Initialize(revision)) = probe;
        if self.pinned.is_some_and(|pinned| pinned != revision) {
            return self.end();
        }
        self.note(probe);
        Step::Ask(probe)
    }

    fn note(&mut self, probe: Probe) {
        self.open.push(probe);
        self.asked.push(probe);
    }

    fn times_asked(&self, probe: Probe) -> usize {
        self.asked.iter().filter(|asked| **asked == probe).count()
    }

    fn has_discovered(&self) -> bool {
        self.asked.iter().any(|probe| matches!(probe, Probe::Discover(_)))
    }

    fn has_initialized(&self) -> bool {
        self.asked.iter().any(|probe| matches!(probe, Probe::Initialize(_)))
    }
}

/// Reads a list of revisions, also unknown ones, or a single one; `None` if there is neither.
///
/// What is no text is kept as an empty one.
fn versions(object: Option<&Json>, key: &str) -> Option<Vec<String>> {
    let value = object?.get(key)?;
    let items = value.items().or_else(|| value.to_text().is_some().then(|| vec![value.clone()]))?;
    Some(items.iter().map(|item| item.to_text().unwrap_or_default()).collect())
}

fn best(supported: &[String], era: Era) -> Option<Revision> {
    let known = supported.iter().filter_map(|text| text.parse::<Revision>().ok());
    known.filter(|revision| revision.era() == era).max()
}

#[cfg(test)]
mod tests;
