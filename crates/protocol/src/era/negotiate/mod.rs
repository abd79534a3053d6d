//! The negotiation of the protocol revision: a state machine that does no input or output.
//!
//! The caller reports events (a response, a timeout, the end of the process) and executes the
//! returned steps. Servers react in many ways to a request that they do not know: errors with any
//! code, no response, an empty result, or exit. So the decision never depends on one event alone.

use crate::Json;
use crate::envelope::{RpcError, code};

use super::{Era, Revision};

/// A request that shows which revision a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Probe {
    /// `server/discover`, for the modern era.
    Discover(Revision),
    /// `initialize`, for the legacy era.
    Initialize(Revision),
}

/// What happened to a probe.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ProbeEvent<'a> {
    /// The server answered a probe.
    Answered(Probe, Result<&'a Json, &'a RpcError>),
    /// An HTTP status rejected the probe permanently (400, 404, 405 …).
    Rejected(Probe),
    /// A temporary HTTP failure: 5xx, 408, 429, or a closed connection.
    Failed(Probe),
    /// No answer came within the timeout.
    TimedOut,
    /// The process ended or closed its output.
    Exited,
}

/// What the caller does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NegotiationStep {
    /// Send this probe; earlier probes may still be answered.
    Send(Probe),
    /// Restart the server and send this probe.
    Restart(Probe),
    /// Try the HTTP+SSE transport of 2024-11-05.
    TryEventStream,
    /// Keep waiting for the open probes.
    Wait,
    /// The server speaks this revision; `result` answers `initialize` or `server/discover`.
    Settled { revision: Revision, result: Json, violation: Option<&'static str> },
    /// There is nothing left to try.
    GiveUp,
}

/// What is known about a server's revision before the first probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownRevision {
    None,
    /// The revision from the last connection: tried first, and dropped if it fails.
    Remembered(Revision),
    /// The only revision that may be offered.
    Pinned(Revision),
}

/// The state of the negotiation.
#[derive(Debug)]
pub(crate) struct Negotiation {
    open: Vec<Probe>,
    sent: Vec<Probe>,
    pinned: Option<Revision>,
    has_restarted: bool,
    has_repeated: bool,
    /// HTTP rejected `initialize`, so the server may use HTTP+SSE instead.
    is_initialize_rejected: bool,
}

impl Negotiation {
    /// Starts with the known revision of the server, or with the modern probe.
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

    /// Tells whether another probe can be sent after the server closed the connection on this one.
    pub(crate) fn has_next_probe(&self, probe: Probe) -> bool {
        matches!(probe, Probe::Discover(_)) || (!self.has_discovered() && self.pinned.is_none())
    }

    /// Handles an event and returns the next step.
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
                // A legacy server may be slow to start, and some exit on an unknown request, so a
                // server that is remembered as legacy gets no modern probe.
                if self.has_initialized() || self.pinned.is_some() {
                    NegotiationStep::Wait
                } else {
                    self.initialize(Revision::LATEST_LEGACY)
                }
            }
            ProbeEvent::Exited => self.handle_exit(),
        }
    }

    /// Continues after a probe that failed on the level of HTTP.
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
                    is_irregular.then_some("lists protocol revisions that are not strings");
                NegotiationStep::Settled { revision, result: result.clone(), violation }
            }
            // A server that answers `server/discover` with only unknown revisions is modern,
            // unless it lists a legacy one.
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
                    // Also if it was just refused: a gateway may support it on the second try.
                    Some(revision) if self.times_sent(Probe::Discover(revision)) < 2 => {
                        self.send(Probe::Discover(revision))
                    }
                    _ => self.initialize(
                        latest_of(&supported, Era::Legacy).unwrap_or(Revision::LATEST_LEGACY),
                    ),
                }
            }
            // Only modern servers use these codes, so the era is known although the request failed.
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
            Some(Ok(_)) => (sent, Some("answers initialize with a revision without initialize")),
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
        // A modern server whose answer to `server/discover` was lost.
        if let Some(revision) = latest_of(&supported, Era::Modern)
            && self.pinned.is_none()
            && self.times_sent(Probe::Discover(revision)) < 2
        {
            return self.send(Probe::Discover(revision));
        }
        self.repeat(sent)
    }

    /// Retries once: a few servers are not ready for the first request.
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
        // Servers with older SDKs exit if the first request is not `initialize`. A server that
        // exits on `initialize` is broken, and restarting it would use up its restart budget.
        let may_restart = self.has_discovered() && self.pinned.is_none();
        if !may_restart || std::mem::replace(&mut self.has_restarted, true) {
            return NegotiationStep::GiveUp;
        }
        let probe = Probe::Initialize(Revision::LATEST_LEGACY);
        self.record(probe);
        NegotiationStep::Restart(probe)
    }

    fn initialize(&mut self, revision: Revision) -> NegotiationStep {
        // If both probes are open and one fails, the other decides.
        if self.open.iter().any(|probe| matches!(probe, Probe::Initialize(_))) {
            return NegotiationStep::Wait;
        }
        // If HTTP rejected `initialize` with the remembered revision, it rejects any other, too.
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

    /// Sends a probe, unless the pinned revision forbids it.
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

/// Reads a list of revisions, including unknown ones, or a single one; `None` if there is neither.
///
/// A value that is not a string becomes an empty string.
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
