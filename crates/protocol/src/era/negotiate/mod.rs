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
pub(crate) enum ProbeEvent<'a> {
    /// The server answered a probe.
    Answered(Probe, Result<&'a Json, &'a RpcError>),
    /// HTTP turned the probe away with a status that says "not like this" (400, 404, 405 …).
    Rejected(Probe),
    /// HTTP failed in a way that may pass: 5xx, 408, 429, or a connection that was closed.
    Failed(Probe),
    /// Nothing came for a while.
    TimedOut,
    /// The process ended or closed its output.
    Exited,
}

/// What the caller does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NegotiationStep {
    /// Ask this; earlier probes may still be answered.
    Send(Probe),
    /// Start the server anew and ask this.
    Restart(Probe),
    /// Try the HTTP+SSE transport of 2024-11-05.
    TryEventStream,
    /// Go on waiting.
    Wait,
    /// The server speaks this revision; the result is what it said about itself.
    Settled { revision: Revision, result: Json, violation: Option<&'static str> },
    /// There is nothing left to try.
    GiveUp,
}

/// What is known about a server before it is asked anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownRevision {
    None,
    /// The revision it spoke last time: tried first, and dropped if it fails.
    Remembered(Revision),
    /// The only revision that may be offered.
    Pinned(Revision),
}

/// Where the negotiation stands.
#[derive(Debug)]
pub(crate) struct Negotiation {
    open: Vec<Probe>,
    sent: Vec<Probe>,
    pinned: Option<Revision>,
    has_restarted: bool,
    has_repeated: bool,
    /// HTTP said no to `initialize` itself, so there may be an event stream instead.
    is_initialize_rejected: bool,
}

impl Negotiation {
    /// Begins with what is known about the server, or with the modern probe.
    pub(crate) fn begin(known_revision: KnownRevision) -> (Self, Probe) {
        let known = match known_revision {
            KnownRevision::None => None,
            KnownRevision::Remembered(revision) | KnownRevision::Pinned(revision) => Some(revision),
        };
        let probe = match known {
            Some(revision) if revision.era() == Era::Legacy => Probe::Initialize(revision),
            Some(revision) if known_revision == KnownRevision::Pinned(revision) => {
                Probe::Discover(revision)
            }
            _ => Probe::Discover(Revision::LATEST),
        };
        let negotiation = Self {
            open: vec![probe],
            sent: vec![probe],
            pinned: known.filter(|revision| known_revision == KnownRevision::Pinned(*revision)),
            has_restarted: false,
            has_repeated: false,
            is_initialize_rejected: false,
        };
        (negotiation, probe)
    }

    /// Tells whether there is another probe to try after the server hung up on this one.
    pub(crate) fn has_next_probe(&self, probe: Probe) -> bool {
        matches!(probe, Probe::Discover(_)) || (!self.has_discovered() && self.pinned.is_none())
    }

    /// Takes a sign and says what to do.
    pub(crate) fn next(&mut self, event: ProbeEvent<'_>) -> NegotiationStep {
        match event {
            ProbeEvent::Answered(probe, answer) => {
                self.open.retain(|open| *open != probe);
                match (probe, answer) {
                    (Probe::Discover(sent), Ok(result)) => {
                        self.handle_discover_result(sent, result)
                    }
                    (Probe::Discover(sent), Err(error)) => self.handle_discover_error(sent, error),
                    (Probe::Initialize(sent), Ok(result)) => {
                        self.handle_initialize_result(sent, result)
                    }
                    (Probe::Initialize(sent), Err(error)) => {
                        self.handle_initialize_error(sent, error)
                    }
                }
            }
            ProbeEvent::Rejected(probe) => {
                self.is_initialize_rejected |= matches!(probe, Probe::Initialize(_));
                self.handle_failed_probe(probe)
            }
            ProbeEvent::Failed(probe) => self.handle_failed_probe(probe),
            ProbeEvent::TimedOut => {
                // A legacy server may be slow to start, and some exit on a question they do not
                // know, so one that is remembered as legacy is not asked the modern one.
                if self.has_initialized() || self.pinned.is_some() {
                    NegotiationStep::Wait
                } else {
                    self.initialize(Revision::LATEST_LEGACY)
                }
            }
            ProbeEvent::Exited => self.handle_exit(),
        }
    }

    /// Goes on after a probe that HTTP did not bring to an answer.
    fn handle_failed_probe(&mut self, probe: Probe) -> NegotiationStep {
        self.open.retain(|open| *open != probe);
        match probe {
            Probe::Discover(_) => self.initialize(Revision::LATEST_LEGACY),
            Probe::Initialize(_) if !self.has_discovered() => {
                self.send(Probe::Discover(Revision::LATEST))
            }
            Probe::Initialize(_) => NegotiationStep::TryEventStream,
        }
    }

    fn handle_discover_result(&mut self, sent: Revision, result: &Json) -> NegotiationStep {
        let Some(supported) = read_versions(Some(result), "supportedVersions") else {
            return self.initialize(Revision::LATEST_LEGACY);
        };
        match latest_of(&supported, Era::Modern) {
            Some(revision) => {
                let is_irregular = supported.iter().any(String::is_empty);
                let violation =
                    is_irregular.then_some("lists protocol revisions that are no texts");
                NegotiationStep::Settled { revision, result: result.clone(), violation }
            }
            // A server that answers the modern question but lists only what we do not know is
            // modern all the same if it lists nothing legacy.
            None => match latest_of(&supported, Era::Legacy) {
                Some(revision) => self.initialize(revision),
                None => NegotiationStep::Settled {
                    revision: sent,
                    result: result.clone(),
                    violation: Some("lists no protocol revision that Wharf knows"),
                },
            },
        }
    }

    fn handle_discover_error(&mut self, sent: Revision, error: &RpcError) -> NegotiationStep {
        match error.code {
            code::UNSUPPORTED_VERSION => {
                let supported = read_versions(error.data.as_ref(), "supported").unwrap_or_default();
                match latest_of(&supported, Era::Modern) {
                    // Also when it is the revision that was just refused: a gateway may learn it.
                    Some(revision) if self.times_sent(Probe::Discover(revision)) < 2 => {
                        self.send(Probe::Discover(revision))
                    }
                    _ => self.initialize(
                        latest_of(&supported, Era::Legacy).unwrap_or(Revision::LATEST_LEGACY),
                    ),
                }
            }
            // Only a modern server knows these codes; it dislikes the question, not the era.
            code::HEADER_MISMATCH | code::MISSING_CAPABILITY => NegotiationStep::Settled {
                revision: sent,
                result: Json::object(),
                violation: Some("refuses server/discover"),
            },
            _ => self.initialize(Revision::LATEST_LEGACY),
        }
    }

    fn handle_initialize_result(&mut self, sent: Revision, result: &Json) -> NegotiationStep {
        if !result.is_object() {
            return if self.has_discovered() || self.pinned.is_some() {
                self.repeat(sent)
            } else {
                self.send(Probe::Discover(Revision::LATEST))
            };
        }
        let named = result.get("protocolVersion").and_then(|version| version.to_text());
        let known = named.as_deref().map(str::parse::<Revision>);
        let (revision, violation) = match known {
            Some(Ok(revision)) if revision.era() == Era::Legacy => {
                let is_other = self.pinned.is_some_and(|pinned| pinned != revision);
                (revision, is_other.then_some("answers with another revision than the pinned one"))
            }
            Some(Ok(_)) => (sent, Some("answers initialize with a revision that has none")),
            Some(Err(_)) if named.as_deref() < Some(Revision::V2024_11_05.as_str()) => {
                (Revision::V2024_11_05, Some("names a protocol revision that does not exist"))
            }
            Some(Err(_)) => (sent, Some("names a protocol revision that does not exist")),
            None => (sent, Some("names no protocol revision")),
        };
        NegotiationStep::Settled { revision, result: result.clone(), violation }
    }

    fn handle_initialize_error(&mut self, sent: Revision, error: &RpcError) -> NegotiationStep {
        let supported = read_versions(error.data.as_ref(), "supported").unwrap_or_default();
        if let Some(revision) = latest_of(&supported, Era::Legacy)
            && self.pinned.is_none()
            && !self.sent.contains(&Probe::Initialize(revision))
        {
            return self.send(Probe::Initialize(revision));
        }
        if !self.has_discovered() && self.pinned.is_none() {
            return self.send(Probe::Discover(Revision::LATEST));
        }
        if !self.open.is_empty() {
            return NegotiationStep::Wait;
        }
        // A modern server whose answer to the first question got lost.
        if let Some(revision) = latest_of(&supported, Era::Modern)
            && self.pinned.is_none()
            && self.times_sent(Probe::Discover(revision)) < 2
        {
            return self.send(Probe::Discover(revision));
        }
        self.repeat(sent)
    }

    /// Tries the same once more: a few servers are not ready for the first question.
    fn repeat(&mut self, sent: Revision) -> NegotiationStep {
        if std::mem::replace(&mut self.has_repeated, true) {
            return self.end();
        }
        self.send(Probe::Initialize(sent))
    }

    /// Ends, unless a probe is still open or another transport may be there.
    fn end(&self) -> NegotiationStep {
        match (self.open.is_empty(), self.is_initialize_rejected) {
            (false, _) => NegotiationStep::Wait,
            (true, true) => NegotiationStep::TryEventStream,
            (true, false) => NegotiationStep::GiveUp,
        }
    }

    fn handle_exit(&mut self) -> NegotiationStep {
        self.open.clear();
        // Servers on older SDKs end on a first question that is not `initialize`. One that ends on
        // `initialize` is broken, and starting it twice each time would use up its starts.
        let may_restart = self.has_discovered() && self.pinned.is_none();
        if !may_restart || std::mem::replace(&mut self.has_restarted, true) {
            return NegotiationStep::GiveUp;
        }
        let probe = Probe::Initialize(Revision::LATEST_LEGACY);
        self.record(probe);
        NegotiationStep::Restart(probe)
    }

    fn initialize(&mut self, revision: Revision) -> NegotiationStep {
        // With both probes on their way, one refusal leaves the other to decide.
        if self.open.iter().any(|probe| matches!(probe, Probe::Initialize(_))) {
            return NegotiationStep::Wait;
        }
        // What was remembered was asked first; if HTTP has said no to it, it does so to any other.
        if self.is_initialize_rejected {
            return NegotiationStep::TryEventStream;
        }
        if self.sent.contains(&Probe::Initialize(revision)) {
            return if self.open.is_empty() {
                self.repeat(revision)
            } else {
                NegotiationStep::Wait
            };
        }
        self.send(Probe::Initialize(revision))
    }

    /// Asks, unless the pinned revision forbids it.
    fn send(&mut self, probe: Probe) -> NegotiationStep {
        let (Probe::Discover(revision) | Probe::Initialize(revision)) = probe;
        if self.pinned.is_some_and(|pinned| pinned != revision) {
            return self.end();
        }
        self.record(probe);
        NegotiationStep::Send(probe)
    }

    fn record(&mut self, probe: Probe) {
        self.open.push(probe);
        self.sent.push(probe);
    }

    fn times_sent(&self, probe: Probe) -> usize {
        self.sent.iter().filter(|sent| **sent == probe).count()
    }

    fn has_discovered(&self) -> bool {
        self.sent.iter().any(|probe| matches!(probe, Probe::Discover(_)))
    }

    fn has_initialized(&self) -> bool {
        self.sent.iter().any(|probe| matches!(probe, Probe::Initialize(_)))
    }
}

/// Reads a list of revisions, also unknown ones, or a single one; `None` if there is neither.
///
/// What is no text is kept as an empty one.
fn read_versions(object: Option<&Json>, key: &str) -> Option<Vec<String>> {
    let value = object?.get(key)?;
    let items = value.items().or_else(|| value.to_text().is_some().then(|| vec![value.clone()]))?;
    Some(items.iter().map(|item| item.to_text().unwrap_or_default()).collect())
}

fn latest_of(supported: &[String], era: Era) -> Option<Revision> {
    let known = supported.iter().filter_map(|text| text.parse::<Revision>().ok());
    known.filter(|revision| revision.era() == era).max()
}

#[cfg(test)]
mod tests;
