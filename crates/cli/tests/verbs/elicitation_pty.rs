//! Elicitation on a real terminal: a server asks the person during a call, in both eras.

#![expect(clippy::disallowed_methods, reason = "a test prepares files")]

use std::time::{Duration, Instant};

use expectrl::process::unix::WaitStatus;
use expectrl::session::OsSession;
use expectrl::{ControlCode, Eof, Expect};

use crate::connect_pty::{on_terminal, on_terminal_with_columns};
use crate::server_script::{Era, ServerScript};
use crate::world::World;

/// The shell functions and variables of the server in both eras.
const BEFORE: &str = r#"
wait_for_go() { until [ -e "$0.go" ]; do /bin/sleep 0.05; done; }
IFS= read -r question < "$0.question"
ask() { send '{"jsonrpc":"2.0","id":"'"$1"'","method":"elicitation/create","params":'"$question"'}'; }
done='"content":[{"type":"text","text":"answered"}]'
tools='"tools":[{"name":"ask","inputSchema":{"type":"object"}}]'
"#;

const LEGACY: ServerScript<'static> = ServerScript {
    list: r#"result "{$tools}""#,
    cases: r#"
    *'"method":"initialize"'*) note hello; result '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}';;
    *'"method":"tools/call"'*) call=$id; note calls; last=q1
      if [ -e "$0.late" ]; then wait_for_go; fi
      ask q1
      if [ -e "$0.back" ]; then wait_for_go; send '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q1"}}'; fi
      if [ -e "$0.twice" ]; then ask q2; last=q2; fi;;
    *'"id":"'q[12]'"'*) note answers; case $line in *'"'$last'"'*) id=$call; result "{$done}";; esac;;
    *notifications/cancelled*) note cancelled;;
"#,
    before: BEFORE,
    ..ServerScript::PLAIN
};

const MODERN: ServerScript<'static> = ServerScript {
    list: r#"result '{"resultType":"complete",'"$tools}""#,
    cases: r#"
    *'"method":"server/discover"'*) note hello; result '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}';;
    *'"inputResponses"'*) note answers; result '{"resultType":"complete",'"$done}";;
    *'"method":"tools/call"'*) result '{"resultType":"input_required","requestState":"s","inputRequests":{"q1":{"method":"elicitation/create","params":'"$question"'}}}';;
    *notifications/cancelled*) note cancelled;;
"#,
    before: BEFORE,
    ..ServerScript::PLAIN
};

const FORM: &str = r#"{"message":"Which berth?\u001b[2J","requestedSchema":{"type":"object","required":["berth","mail"],"properties":{"berth":{"type":"string","title":"Berth","enum":["north","south"]},"mail":{"type":"string","format":"email"},"days":{"type":"integer","default":3},"note":{"type":"string"}}}}"#;

const ONE_FIELD_FORM: &str = r#"{"message":"Which berth?","requestedSchema":{"type":"object","required":["berth"],"properties":{"berth":{"type":"string"}}}}"#;

const URL_ELICITATION: &str = r#"{"mode":"url","elicitationId":"1","message":"Sign in","url":"https://harbour.example/sign-in?a=b"}"#;

/// What the person does after a text has appeared.
enum PersonInput {
    /// Nothing.
    Nothing,
    /// A line is typed.
    Type(&'static str),
    /// A key is pressed.
    Press(ControlCode),
}

use PersonInput::{Nothing, Press, Type};

/// A world whose server sends an elicitation when its tool is called.
fn world(era: Era, question: &str) -> World {
    let server_script = match era {
        Era::Legacy => LEGACY,
        Era::Modern => MODERN,
    };
    let world = World::new()
        .script("quay", &server_script.for_era(era))
        .own_servers(&[("quay", r#""command": "quay""#)]);
    std::fs::write(world.path("bin/quay.question"), format!("{question}\n")).unwrap();
    world
}

fn call(world: &World) -> OsSession {
    // Wide enough that no expected sentence is wrapped.
    on_terminal_with_columns(200, world.command(&["call", "quay/ask", "--timeout", "20s"]))
}

fn run_steps(session: &mut OsSession, steps: &[(&str, PersonInput)]) {
    for (seen, then) in steps {
        session.expect(*seen).unwrap_or_else(|error| panic!("{seen}: {error}"));
        match then {
            Nothing => {}
            Type(line) => session.send_line(line).unwrap(),
            Press(key) => session.send(*key).unwrap(),
        }
    }
}

/// Creates a file that the server checks for.
fn touch(world: &World, name: &str) {
    std::fs::File::create(world.path(&format!("bin/quay.{name}"))).unwrap();
}

/// Returns the responses that the server received.
fn answers(world: &World) -> Vec<String> {
    let output = std::fs::read_to_string(world.path("bin/quay.answers")).unwrap_or_default();
    let answer = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let modern = line.pointer("/params/inputResponses/q1");
        modern.or_else(|| line.get("result")).map(ToString::to_string).unwrap_or_default()
    };
    output.lines().map(answer).collect()
}

fn check(question: &str, steps: &[(&str, PersonInput)], expected: &str) {
    for era in Era::ALL {
        let world = world(era, question);
        let mut session = call(&world);
        run_steps(&mut session, steps);
        session.expect("answered\r\n").unwrap_or_else(|error| panic!("{era:?}: {error}"));
        session.expect(Eof).unwrap();
        assert_eq!(answers(&world), [expected], "{era:?}");
    }
}

#[test]
fn on_a_pty_a_form_is_filled_in_field_by_field() {
    check(
        FORM,
        &[
            ("\"quay\" requests information:\r\n  | Which berth?\\u{1b}[2J\r\n", Nothing),
            ("Berth (one of 2, required)\r\n    1  north\r\n    2  south\r\nberth: ", Type("")),
            ("an answer is required\r\nberth: ", Type("east")),
            ("it must be one of the choices, or a number from 1 to 2\r\nberth: ", Type("2")),
            ("mail: ", Type("nobody")),
            ("it must be an email address\r\nmail: ", Type("ann@harbour.example")),
            ("days (a whole number, optional)\r\ndays [3]: ", Type("")),
            ("note: ", Type("")),
            ("Send this to \"quay\"? Enter sends it, n asks again: ", Type("n")),
            ("berth: ", Type("north")),
            ("mail: ", Type("ann@harbour.example")),
            ("days [3]: ", Type("5")),
            ("note: ", Type("mind the \"gap\"")),
            ("n asks again: ", Type("")),
        ],
        r#"{"action":"accept","content":{"berth":"north","mail":"ann@harbour.example","days":5,"note":"mind the \"gap\""}}"#,
    );
}

#[test]
fn on_a_pty_an_elicitation_can_be_declined() {
    let decline = r#"{"action":"decline"}"#;
    check(ONE_FIELD_FORM, &[("berth: ", Type("!"))], decline);
    check(ONE_FIELD_FORM, &[("berth: ", Press(ControlCode::EndOfTransmission))], decline);
    check(FORM, &[("berth: ", Type("1")), ("mail: ", Type("!"))], decline);
    check(r#"{"message":"Go on?"}"#, &[("Agree? [y/N] ", Type(""))], decline);
    check(URL_ELICITATION, &[("Will you open it? [y/N] ", Type("n"))], decline);
}

#[test]
fn on_a_pty_an_elicitation_without_fields_needs_only_a_yes() {
    let accept = r#"{"action":"accept","content":{}}"#;
    check(r#"{"message":"Go on?"}"#, &[("  | Go on?\r\nAgree? [y/N] ", Type("y"))], accept);
    let seen = "open a URL on harbour.example:\r\n  | Sign in\r\n\r\n  https://harbour.example/sign-in?a=b\r\n";
    let steps = [(seen, Nothing), ("Will you open it? [y/N] ", Type("y"))];
    check(URL_ELICITATION, &steps, r#"{"action":"accept"}"#);
}

#[test]
fn on_a_pty_a_field_for_a_secret_needs_confirmation() {
    let secret = r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{"password":{"type":"string"}}}}"#;
    let ask = "servers must not ask for one this way\r\nAnswer it anyway? [y/N] ";
    check(secret, &[(ask, Type("n"))], r#"{"action":"accept","content":{}}"#);
    let required =
        secret.replace(r#""type":"object","#, r#""type":"object","required":["password"],"#);
    check(&required, &[(ask, Type(""))], r#"{"action":"decline"}"#);
    check(
        &required,
        &[(ask, Type("y")), ("password: ", Type("x"))],
        r#"{"action":"accept","content":{"password":"x"}}"#,
    );
}

#[test]
fn on_a_pty_an_unanswerable_elicitation_is_declined_with_the_reason() {
    let fields: Vec<String> =
        (0..4000).map(|it| format!(r#""f{it}":{{"type":"string"}}"#)).collect();
    let many = format!(
        r#"{{"message":"All of it","requestedSchema":{{"type":"object","properties":{{{}}}}}}}"#,
        fields.join(",")
    );
    let why = "warning: declined an elicitation from \"quay\": it has 4000 fields; at most 50 are supported";
    check(&many, &[(why, Nothing)], r#"{"action":"decline"}"#);
    let page = r#"{"mode":"url","elicitationId":"1","message":"m","url":"https://good.example@bad.example/"}"#;
    check(page, &[("which can hide the real host", Nothing)], r#"{"action":"decline"}"#);
}

#[test]
fn on_a_pty_the_call_timeout_is_paused_during_an_elicitation() {
    let worlds = Era::ALL.map(|era| world(era, ONE_FIELD_FORM));
    let line = ["call", "quay/ask", "--timeout", "3s"];
    let mut sessions = [&worlds[0], &worlds[1]].map(|world| on_terminal(world.command(&line)));
    for session in &mut sessions {
        session.expect("berth: ").unwrap();
    }
    for (session, world) in sessions.iter_mut().zip(&worlds) {
        // No progress is printed, and the call timeout is paused.
        session.set_expect_timeout(Some(Duration::from_millis(3500)));
        assert!(session.expect("\r").is_err());
        session.set_expect_timeout(Some(Duration::from_secs(20)));
        session.send_line("north").unwrap();
        session.expect("answered").unwrap();
        session.expect(Eof).unwrap();
        assert_eq!(answers(world), [r#"{"action":"accept","content":{"berth":"north"}}"#]);
    }
}

#[test]
fn on_a_pty_two_elicitations_are_asked_in_turn() {
    let world = world(Era::Legacy, ONE_FIELD_FORM);
    touch(&world, "twice");
    let mut session = call(&world);
    let first = session.expect("berth: ").unwrap();
    assert_eq!(String::from_utf8_lossy(first.before()).matches("requests information:").count(), 1);
    session.send_line("north").unwrap();
    run_steps(&mut session, &[("requests information:", Nothing), ("berth: ", Type("south"))]);
    session.expect("answered").unwrap();
    session.expect(Eof).unwrap();
    let accepted =
        |berth: &str| format!(r#"{{"action":"accept","content":{{"berth":"{berth}"}}}}"#);
    assert_eq!(answers(&world), [accepted("north"), accepted("south")]);
}

#[test]
fn on_a_pty_a_cancelled_elicitation_is_followed_by_the_next() {
    let world = world(Era::Legacy, ONE_FIELD_FORM);
    touch(&world, "back");
    touch(&world, "twice");
    let mut session = call(&world);
    session.expect("berth: ").unwrap();
    touch(&world, "go");
    session.expect("\r\nThe server cancelled the elicitation.\r\n").unwrap();
    run_steps(&mut session, &[("berth: ", Type("south"))]);
    session.expect("answered").unwrap();
    session.expect(Eof).unwrap();
    let answers = answers(&world);
    assert_eq!(answers.last().unwrap(), r#"{"action":"accept","content":{"berth":"south"}}"#);
}

#[test]
fn on_a_pty_keys_typed_before_an_elicitation_do_not_answer_it() {
    let world = world(Era::Legacy, ONE_FIELD_FORM);
    touch(&world, "late");
    let mut session = call(&world);
    let end = Instant::now() + Duration::from_secs(20);
    while !world.path("bin/quay.calls").exists() {
        assert!(Instant::now() < end, "the server was never called");
        std::thread::yield_now();
    }
    session.send_line("ahead").unwrap();
    touch(&world, "go");
    run_steps(&mut session, &[("berth: ", Type("north"))]);
    session.expect("answered").unwrap();
    session.expect(Eof).unwrap();
    assert_eq!(answers(&world), [r#"{"action":"accept","content":{"berth":"north"}}"#]);
}

#[test]
fn on_a_pty_ctrl_c_at_an_elicitation_cancels_the_call() {
    let world = world(Era::Legacy, ONE_FIELD_FORM);
    let mut session = call(&world);
    session.expect("berth: ").unwrap();
    session.send(ControlCode::EndOfText).unwrap();
    session.expect("\r\nerror: cancelled").unwrap();
    session.expect(Eof).unwrap();
    let status = session.get_process().wait().unwrap();
    assert!(matches!(status, WaitStatus::Exited(_, 130)), "{status:?}");
    assert!(world.path("bin/quay.cancelled").exists());
    assert!(answers(&world).iter().all(|answer| !answer.contains("accept")));
}

#[test]
fn the_elicitation_capability_is_declared_only_on_a_terminal() {
    for era in Era::ALL {
        let world = world(era, ONE_FIELD_FORM);
        let can_ask = || {
            let hello = world.path("bin/quay.hello");
            let output = std::fs::read_to_string(&hello).unwrap();
            std::fs::remove_file(hello).unwrap();
            output.contains(r#""elicitation":{"form":{},"url":{}}"#)
        };
        assert!(world.run("test quay").starts_with("exit 0"));
        assert!(!can_ask(), "{era:?}");
        let mut session = on_terminal(world.command(&["test", "quay"]));
        session.expect(Eof).unwrap();
        assert!(can_ask(), "{era:?}");
    }
}
