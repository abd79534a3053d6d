//! Every event in every state of the negotiation, and the resulting steps.

use super::*;

/// Sends events to the negotiation and compares the steps.
fn check(remembered: Option<Revision>, signs: &[&str], expected: &[&str]) {
    check_from(remembered.map_or(KnownRevision::None, KnownRevision::Remembered), signs, expected);
}

fn check_from(known_revision: KnownRevision, signs: &[&str], expected: &[&str]) {
    let (mut negotiation, first) = Negotiation::begin(known_revision);
    let mut steps = vec![render(&NegotiationStep::Send(first))];
    for sign in signs {
        let (kind, rest) = sign.split_once(' ').unwrap_or((sign, ""));
        let newest = |wanted: fn(&Probe) -> bool| {
            negotiation.sent.iter().rev().find(|it| wanted(it)).copied().unwrap()
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
            "silence" => ProbeEvent::TimedOut,
            "gone" => ProbeEvent::Exited,
            "d-away" | "i-away" => ProbeEvent::Rejected(probe),
            "d-busy" | "i-busy" => ProbeEvent::Failed(probe),
            "d" | "i" => ProbeEvent::Answered(probe, Ok(json.as_ref().unwrap())),
            _ => ProbeEvent::Answered(probe, Err(error.as_ref().unwrap())),
        };
        steps.push(render(&negotiation.next(sign)));
    }
    assert_eq!(steps, expected);
}

fn render(step: &NegotiationStep) -> String {
    match step {
        NegotiationStep::Send(Probe::Discover(revision)) => format!("discover {revision}"),
        NegotiationStep::Send(Probe::Initialize(revision)) => format!("initialize {revision}"),
        NegotiationStep::Restart(_) => "restart".into(),
        NegotiationStep::TryEventStream => "event stream".into(),
        NegotiationStep::Wait => "wait".into(),
        NegotiationStep::Settled { revision, violation, .. } => {
            format!("{revision}{}", violation.map(|it| format!(" ({it})")).unwrap_or_default())
        }
        NegotiationStep::GiveUp => "give up".into(),
    }
}

const DISCOVER: &str = "discover 2026-07-28";
const INITIALIZE: &str = "initialize 2025-11-25";

#[test]
fn a_discover_result_settles_the_modern_era() {
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
        &[DISCOVER, "2026-07-28 (lists protocol revisions that are not strings)"],
    );
}

#[test]
fn an_unrelated_discover_error_leads_to_initialize() {
    for error in [r#"{"code":-32601}"#, r#"{"code":-32602}"#, r#"{"code":-32000}"#, "{}"] {
        check(
            None,
            &[&format!("d-error {error}"), r#"i {"protocolVersion":"2025-06-18"}"#],
            &[DISCOVER, INITIALIZE, "2025-06-18"],
        );
    }
}

#[test]
fn an_empty_discover_result_leads_to_initialize() {
    check(
        None,
        &["d {}", r#"i {"protocolVersion":"2024-11-05"}"#],
        &[DISCOVER, INITIALIZE, "2024-11-05"],
    );
}

#[test]
fn an_unsupported_version_error_leads_to_a_supported_version() {
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
fn error_codes_of_the_modern_era_settle_it() {
    for code in [-32020, -32021] {
        let sign = format!(r#"d-error {{"code":{code}}}"#);
        check(None, &[&sign], &[DISCOVER, "2026-07-28 (refuses server/discover)"]);
    }
}

#[test]
fn a_server_that_exits_on_discover_is_restarted_once_for_initialize() {
    check(
        None,
        &["gone", r#"i {"protocolVersion":"2025-03-26"}"#],
        &[DISCOVER, "restart", "2025-03-26"],
    );
    check(None, &["gone", "gone"], &[DISCOVER, "restart", "give up"]);
}

#[test]
fn after_a_timeout_both_probes_are_open_and_the_first_usable_answer_wins() {
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
fn invalid_protocol_versions_are_handled() {
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
            "2025-11-25 (answers initialize with a revision without initialize)",
        ),
    ];
    for (sign, settled) in cases {
        check(None, &["d {}", sign], &[DISCOVER, INITIALIZE, settled]);
    }
}

#[test]
fn a_remembered_revision_is_tried_first_and_probed_again_when_it_fails() {
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
fn http_tries_discover_then_initialize_then_an_event_stream() {
    check(None, &["d-away", "i-away"], &[DISCOVER, INITIALIZE, "event stream"]);
}

#[test]
fn an_unusable_initialize_result_is_retried_once() {
    check(
        None,
        &["d {}", "i null", r#"i {"protocolVersion":"2025-11-25"}"#],
        &[DISCOVER, INITIALIZE, INITIALIZE, "2025-11-25"],
    );
    check(None, &["d {}", "i null", "i null"], &[DISCOVER, INITIALIZE, INITIALIZE, "give up"]);
}

/// The ways in which a server can fail a probe.
const FAILURES: [&str; 6] = ["away", "busy", "error {\"code\":-32601}", " null", "silence", "gone"];

/// Fails every probe in the same way until the negotiation ends; returns the steps.
fn fail_all_probes(known_revision: KnownRevision, failure: &str) -> String {
    let (mut negotiation, first) = Negotiation::begin(known_revision);
    let mut steps = vec![render(&NegotiationStep::Send(first))];
    let mut probe = first;
    let error = RpcError::new(-32601, "");
    loop {
        let sign = match failure {
            "away" => ProbeEvent::Rejected(probe),
            "busy" => ProbeEvent::Failed(probe),
            " null" => ProbeEvent::Answered(probe, Ok(&Json::null())),
            "silence" => ProbeEvent::TimedOut,
            "gone" => ProbeEvent::Exited,
            _ => ProbeEvent::Answered(probe, Err(&error)),
        };
        let step = negotiation.next(sign);
        steps.push(render(&step));
        assert!(steps.len() < 10, "the negotiation does not end: {steps:?}");
        match step {
            NegotiationStep::Send(next) | NegotiationStep::Restart(next) => probe = next,
            _ => return steps.join(", ").replace("2025-11-25", "newest legacy"),
        }
    }
}

#[test]
fn every_failure_ends_the_same_for_every_remembered_revision() {
    let mut table = Vec::new();
    for failure in FAILURES {
        let name = failure.split(' ').find(|word| !word.is_empty()).unwrap();
        table.push(name.to_owned());
        for (label, known_revision) in [
            ("nothing", KnownRevision::None),
            ("2026-07-28", KnownRevision::Remembered(Revision::V2026_07_28)),
            ("2025-11-25", KnownRevision::Remembered(Revision::V2025_11_25)),
            ("2025-06-18", KnownRevision::Remembered(Revision::V2025_06_18)),
            ("2025-03-26", KnownRevision::Remembered(Revision::V2025_03_26)),
            ("2024-11-05", KnownRevision::Remembered(Revision::V2024_11_05)),
        ] {
            table.push(format!("  {label}: {}", fail_all_probes(known_revision, failure)));
        }
    }
    insta::assert_snapshot!(table.join("\n"), @"
    away
      nothing: discover 2026-07-28, initialize newest legacy, event stream
      2026-07-28: discover 2026-07-28, initialize newest legacy, event stream
      2025-11-25: initialize newest legacy, discover 2026-07-28, event stream
      2025-06-18: initialize 2025-06-18, discover 2026-07-28, event stream
      2025-03-26: initialize 2025-03-26, discover 2026-07-28, event stream
      2024-11-05: initialize 2024-11-05, discover 2026-07-28, event stream
    busy
      nothing: discover 2026-07-28, initialize newest legacy, event stream
      2026-07-28: discover 2026-07-28, initialize newest legacy, event stream
      2025-11-25: initialize newest legacy, discover 2026-07-28, initialize newest legacy, event stream
      2025-06-18: initialize 2025-06-18, discover 2026-07-28, initialize newest legacy, event stream
      2025-03-26: initialize 2025-03-26, discover 2026-07-28, initialize newest legacy, event stream
      2024-11-05: initialize 2024-11-05, discover 2026-07-28, initialize newest legacy, event stream
    error
      nothing: discover 2026-07-28, initialize newest legacy, initialize newest legacy, give up
      2026-07-28: discover 2026-07-28, initialize newest legacy, initialize newest legacy, give up
      2025-11-25: initialize newest legacy, discover 2026-07-28, initialize newest legacy, give up
      2025-06-18: initialize 2025-06-18, discover 2026-07-28, initialize newest legacy, initialize newest legacy, give up
      2025-03-26: initialize 2025-03-26, discover 2026-07-28, initialize newest legacy, initialize newest legacy, give up
      2024-11-05: initialize 2024-11-05, discover 2026-07-28, initialize newest legacy, initialize newest legacy, give up
    null
      nothing: discover 2026-07-28, initialize newest legacy, initialize newest legacy, give up
      2026-07-28: discover 2026-07-28, initialize newest legacy, initialize newest legacy, give up
      2025-11-25: initialize newest legacy, discover 2026-07-28, initialize newest legacy, give up
      2025-06-18: initialize 2025-06-18, discover 2026-07-28, initialize newest legacy, initialize newest legacy, give up
      2025-03-26: initialize 2025-03-26, discover 2026-07-28, initialize newest legacy, initialize newest legacy, give up
      2024-11-05: initialize 2024-11-05, discover 2026-07-28, initialize newest legacy, initialize newest legacy, give up
    silence
      nothing: discover 2026-07-28, initialize newest legacy, wait
      2026-07-28: discover 2026-07-28, initialize newest legacy, wait
      2025-11-25: initialize newest legacy, wait
      2025-06-18: initialize 2025-06-18, wait
      2025-03-26: initialize 2025-03-26, wait
      2024-11-05: initialize 2024-11-05, wait
    gone
      nothing: discover 2026-07-28, restart, give up
      2026-07-28: discover 2026-07-28, restart, give up
      2025-11-25: initialize newest legacy, give up
      2025-06-18: initialize 2025-06-18, give up
      2025-03-26: initialize 2025-03-26, give up
      2024-11-05: initialize 2024-11-05, give up
    ");
}

#[test]
fn a_pinned_revision_is_the_only_one_offered() {
    let mut table = Vec::new();
    for failure in FAILURES {
        let name = failure.split(' ').find(|word| !word.is_empty()).unwrap();
        for revision in [Revision::V2026_07_28, Revision::V2025_06_18] {
            table.push(format!(
                "{name} {}",
                fail_all_probes(KnownRevision::Pinned(revision), failure)
            ));
        }
    }
    insta::assert_snapshot!(table.join("\n"), @"
    away discover 2026-07-28, give up
    away initialize 2025-06-18, event stream
    busy discover 2026-07-28, give up
    busy initialize 2025-06-18, give up
    error discover 2026-07-28, give up
    error initialize 2025-06-18, initialize 2025-06-18, give up
    null discover 2026-07-28, give up
    null initialize 2025-06-18, initialize 2025-06-18, give up
    silence discover 2026-07-28, wait
    silence initialize 2025-06-18, wait
    gone discover 2026-07-28, give up
    gone initialize 2025-06-18, give up
    ");
    let pinned = KnownRevision::Pinned(Revision::V2025_06_18);
    let asked = "initialize 2025-06-18";
    check_from(pinned, &[r#"i {"protocolVersion":"2025-06-18"}"#], &[asked, "2025-06-18"]);
    check_from(
        pinned,
        &[r#"i {"protocolVersion":"2025-11-25"}"#],
        &[asked, "2025-11-25 (answers with another revision than the pinned one)"],
    );
    let other = r#"i-error {"code":-32602,"data":{"supported":["2024-11-05"]}}"#;
    check_from(pinned, &[other, other], &[asked, asked, "give up"]);
}

#[test]
fn an_event_stream_is_tried_after_any_failure_of_discover() {
    for remembered in Revision::ALL.into_iter().filter(|it| it.era() == Era::Legacy) {
        for discover in ["d-away", "d-busy", r#"d-error {"code":-32601}"#, "d {}"] {
            let first = format!("initialize {remembered}");
            let steps = [first.as_str(), DISCOVER, "event stream"];
            check(Some(remembered), &["i-away", discover], &steps);
        }
    }
}

#[test]
fn a_temporary_failure_of_initialize_is_retried() {
    let remembered = Some(Revision::V2025_11_25);
    for discover in ["d-away", "d-busy", r#"d-error {"code":-32601}"#, "d {}"] {
        check(
            remembered,
            &["i-busy", discover, r#"i {"protocolVersion":"2025-11-25"}"#],
            &[INITIALIZE, DISCOVER, INITIALIZE, "2025-11-25"],
        );
    }
}
