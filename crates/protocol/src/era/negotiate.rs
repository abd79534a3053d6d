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

/// Where the negotiation stands.
#[derive(Debug)]
pub(crate) struct Negotiation {
    open: Vec<Probe>,
    asked: Vec<Probe>,
    has_restarted: bool,
    has_repeated: bool,
}

impl Negotiation {
    /// Begins with what is remembered about the server, or with the modern probe.
    pub(crate) fn begin(remembered: Option<Revision>) -> (Self, Probe) {
        let probe = match remembered {
            Some(revision) if revision.era() == Era::Legacy => Probe::Initialize(revision),
            _ => Probe::Discover(Revision::LATEST),
        };
        let negotiation = Self {
            open: vec![probe],
            asked: vec![probe],
            has_restarted: false,
            has_repeated: false,
        };
        (negotiation, probe)
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
                self.open.retain(|open| *open != probe);
                match probe {
                    Probe::Discover(_) => self.initialize(Revision::LATEST_LEGACY),
                    Probe::Initialize(_) if !self.has_discovered() => {
                        self.ask(Probe::Discover(Revision::LATEST))
                    }
                    Probe::Initialize(_) => Step::TryEventStream,
                }
            }
            Sign::Silence => {
                if self.has_initialized() {
                    Step::Wait
                } else {
                    self.initialize(Revision::LATEST_LEGACY)
                }
            }
            Sign::Gone => self.gone(),
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
            return self.repeat(asked);
        }
        let named = result.get("protocolVersion").and_then(|version| version.to_text());
        let known = named.as_deref().map(str::parse::<Revision>);
        let (revision, oddity) = match known {
            Some(Ok(revision)) if revision.era() == Era::Legacy => (revision, None),
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
            && !self.asked.contains(&Probe::Initialize(revision))
        {
            return self.ask(Probe::Initialize(revision));
        }
        if !self.has_discovered() {
            return self.ask(Probe::Discover(Revision::LATEST));
        }
        if !self.open.is_empty() {
            return Step::Wait;
        }
        // A modern server whose answer to the first question got lost.
        if let Some(revision) = best(&supported, Era::Modern)
            && self.times_asked(Probe::Discover(revision)) < 2
        {
            return self.ask(Probe::Discover(revision));
        }
        self.repeat(asked)
    }

    /// Tries the same once more: a few servers are not ready for the first question.
    fn repeat(&mut self, asked: Revision) -> Step {
        if std::mem::replace(&mut self.has_repeated, true) {
            return if self.open.is_empty() { Step::GiveUp } else { Step::Wait };
        }
        self.ask(Probe::Initialize(asked))
    }

    fn gone(&mut self) -> Step {
        self.open.clear();
        // Servers on older SDKs end on a first question that is not `initialize`.
        if self.has_discovered() && !self.has_restarted {
            self.has_restarted = true;
            let probe = Probe::Initialize(Revision::LATEST_LEGACY);
            self.note(probe);
            return Step::Restart(probe);
        }
        Step::GiveUp
    }

    fn initialize(&mut self, revision: Revision) -> Step {
        // With both probes on their way, one refusal leaves the other to decide.
        if self.open.iter().any(|probe| matches!(probe, Probe::Initialize(_))) {
            return Step::Wait;
        }
        if self.asked.contains(&Probe::Initialize(revision)) {
            return if self.open.is_empty() { Step::GiveUp } else { Step::Wait };
        }
        self.ask(Probe::Initialize(revision))
    }

    fn ask(&mut self, probe: Probe) -> Step {
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
mod tests {
    use super::*;

    /// Plays signs, one per line, and shows the steps.
    fn check(remembered: Option<Revision>, signs: &[&str], expected: &[&str]) {
        let (mut negotiation, first) = Negotiation::begin(remembered);
        let mut steps = vec![show(&Step::Ask(first))];
        for sign in signs {
            let (kind, rest) = sign.split_once(' ').unwrap_or((sign, ""));
            let newest = |wanted: fn(&Probe) -> bool| {
                negotiation.asked.iter().rev().find(|it| wanted(it)).copied().unwrap()
            };
            let probe = if kind.starts_with('d') {
                newest(|it| matches!(it, Probe::Discover(_)))
            } else if kind.starts_with('i') {
                newest(|it| matches!(it, Probe::Initialize(_)))
            } else {
                first
            };
            let json: Option<Json> = rest.parse().ok();
            let error = json.as_ref().map(|json| RpcError {
                code: json.get("code").and_then(|code| code.to()).unwrap_or(0),
                message: String::new(),
                data: json.get("data"),
            });
            let sign = match kind {
                "silence" => Sign::Silence,
                "gone" => Sign::Gone,
                "d-away" | "i-away" => Sign::TurnedAway(probe),
                "d" | "i" => Sign::Answered(probe, Ok(json.as_ref().unwrap())),
                _ => Sign::Answered(probe, Err(error.as_ref().unwrap())),
            };
            steps.push(show(&negotiation.next(sign)));
        }
        assert_eq!(steps, expected);
    }

    fn show(step: &Step) -> String {
        match step {
            Step::Ask(Probe::Discover(revision)) => format!("discover {revision}"),
            Step::Ask(Probe::Initialize(revision)) => format!("initialize {revision}"),
            Step::Restart(_) => "restart".into(),
            Step::TryEventStream => "event stream".into(),
            Step::Wait => "wait".into(),
            Step::Settled { revision, oddity, .. } => {
                format!("{revision}{}", oddity.map(|it| format!(" ({it})")).unwrap_or_default())
            }
            Step::GiveUp => "give up".into(),
        }
    }

    const DISCOVER: &str = "discover 2026-07-28";
    const INITIALIZE: &str = "initialize 2025-11-25";

    #[test]
    fn a_modern_server_is_known_by_its_answer() {
        check(None, &[r#"d {"supportedVersions":["2026-07-28"]}"#], &[DISCOVER, "2026-07-28"]);
        check(
            None,
            &[r#"d {"supportedVersions":["2024-11-05","2026-07-28","2025-11-25"]}"#],
            &[DISCOVER, "2026-07-28"],
        );
        check(None, &[r#"d {"supportedVersions":"2026-07-28"}"#], &[DISCOVER, "2026-07-28"]);
        check(
            None,
            &[r#"d {"supportedVersions":[7,"2026-07-28"]}"#],
            &[DISCOVER, "2026-07-28 (lists protocol revisions that are no texts)"],
        );
    }

    #[test]
    fn any_other_error_leads_to_initialize() {
        for error in [r#"{"code":-32601}"#, r#"{"code":-32602}"#, r#"{"code":-32000}"#, "{}"] {
            check(
                None,
                &[&format!("d-error {error}"), r#"i {"protocolVersion":"2025-06-18"}"#],
                &[DISCOVER, INITIALIZE, "2025-06-18"],
            );
        }
    }

    #[test]
    fn an_empty_answer_leads_to_initialize() {
        check(
            None,
            &["d {}", r#"i {"protocolVersion":"2024-11-05"}"#],
            &[DISCOVER, INITIALIZE, "2024-11-05"],
        );
    }

    #[test]
    fn a_modern_server_without_the_version_says_which_it_has() {
        let legacy = r#"d-error {"code":-32022,"data":{"supported":["2025-03-26","2025-06-18"]}}"#;
        check(None, &[legacy], &[DISCOVER, "initialize 2025-06-18"]);
        let same = r#"d-error {"code":-32022,"data":{"supported":["2026-07-28"]}}"#;
        check(None, &[same, same], &[DISCOVER, DISCOVER, INITIALIZE]);
        let refused = r#"i-error {"code":-32022,"data":{"supported":["2026-07-28"]}}"#;
        let answer = r#"d {"supportedVersions":["2026-07-28"]}"#;
        check(None, &["d {}", refused, answer], &[DISCOVER, INITIALIZE, DISCOVER, "2026-07-28"]);
        let nothing = r#"d-error {"code":-32022}"#;
        check(None, &[nothing], &[DISCOVER, INITIALIZE]);
    }

    #[test]
    fn codes_of_the_modern_era_settle_it() {
        for code in [-32020, -32021] {
            let sign = format!(r#"d-error {{"code":{code}}}"#);
            check(None, &[&sign], &[DISCOVER, "2026-07-28 (refuses server/discover)"]);
        }
    }

    #[test]
    fn a_server_that_ends_is_started_again_for_initialize_once() {
        check(
            None,
            &["gone", r#"i {"protocolVersion":"2025-03-26"}"#],
            &[DISCOVER, "restart", "2025-03-26"],
        );
        check(None, &["gone", "gone"], &[DISCOVER, "restart", "give up"]);
    }

    #[test]
    fn a_silent_server_is_asked_both_and_the_first_usable_answer_wins() {
        check(
            None,
            &["silence", "silence", r#"i {"protocolVersion":"2025-11-25"}"#],
            &[DISCOVER, INITIALIZE, "wait", "2025-11-25"],
        );
        check(
            None,
            &["silence", r#"d {"supportedVersions":["2026-07-28"]}"#],
            &[DISCOVER, INITIALIZE, "2026-07-28"],
        );
        check(
            None,
            &["silence", r#"d-error {"code":-32601}"#, r#"i {"protocolVersion":"2025-11-25"}"#],
            &[DISCOVER, INITIALIZE, "wait", "2025-11-25"],
        );
        check(
            None,
            &["silence", r#"i-error {"code":-32601}"#, r#"d {"supportedVersions":["2026-07-28"]}"#],
            &[DISCOVER, INITIALIZE, "wait", "2026-07-28"],
        );
    }

    #[test]
    fn a_version_error_to_initialize_is_answered_with_a_supported_one() {
        check(
            None,
            &[
                r#"d-error {"code":-32601}"#,
                r#"i-error {"code":-32602,"data":{"supported":["2024-11-05"]}}"#,
                r#"i {"protocolVersion":"2024-11-05"}"#,
            ],
            &[DISCOVER, INITIALIZE, "initialize 2024-11-05", "2024-11-05"],
        );
    }

    #[test]
    fn odd_versions_are_survived() {
        let cases = [
            (
                r#"i {"protocolVersion":"2099-01-01"}"#,
                "2025-11-25 (names a protocol revision that does not exist)",
            ),
            (
                r#"i {"protocolVersion":"2024-10-07"}"#,
                "2024-11-05 (names a protocol revision that does not exist)",
            ),
            (r#"i {"protocolVersion":5}"#, "2025-11-25 (names no protocol revision)"),
            (
                r#"i {"protocolVersion":"2026-07-28"}"#,
                "2025-11-25 (answers initialize with a revision that has none)",
            ),
        ];
        for (sign, settled) in cases {
            check(None, &["d {}", sign], &[DISCOVER, INITIALIZE, settled]);
        }
    }

    #[test]
    fn what_is_remembered_comes_first_and_is_probed_again_when_it_fails() {
        let remembered = Some(Revision::V2025_06_18);
        check(
            remembered,
            &[r#"i {"protocolVersion":"2025-06-18"}"#],
            &["initialize 2025-06-18", "2025-06-18"],
        );
        check(
            remembered,
            &[r#"i-error {"code":-32601}"#, r#"d {"supportedVersions":["2026-07-28"]}"#],
            &["initialize 2025-06-18", DISCOVER, "2026-07-28"],
        );
    }

    #[test]
    fn http_goes_from_the_newest_way_to_the_oldest() {
        check(None, &["d-away", "i-away"], &[DISCOVER, INITIALIZE, "event stream"]);
    }

    #[test]
    fn a_server_that_was_not_ready_is_asked_once_more() {
        check(
            None,
            &["d {}", "i null", r#"i {"protocolVersion":"2025-11-25"}"#],
            &[DISCOVER, INITIALIZE, INITIALIZE, "2025-11-25"],
        );
        check(None, &["d {}", "i null", "i null"], &[DISCOVER, INITIALIZE, INITIALIZE, "give up"]);
    }
}
