//! Tests of servers from code: every value arrives as it was given.

use super::*;
use crate::catalog::{Catalog, DefinitionState, Server};
use crate::env::{Env, Platform};
use crate::server::{ConfigValue, ServerSpec, Transport};

/// An environment in which an expansion would have an effect.
fn env() -> Env {
    Env::new(Platform::Linux, "/work")
        .with_home("/home/me")
        .with_variable("HOME", "/home/me")
        .with_variable("X", "expanded")
}

fn server(entry: impl Into<ServerEntry>) -> Server {
    Catalog::new(&env()).insert("own", entry).clone()
}

#[track_caller]
fn spec(entry: impl Into<ServerEntry>) -> ServerSpec {
    let server = server(entry);
    assert_eq!(server.problems, []);
    *server.spec.unwrap()
}

/// Compares the state and the problems of an entry.
#[track_caller]
fn check_problem(entry: impl Into<ServerEntry>, state: DefinitionState, expected: &str) {
    let server = server(entry);
    let render = |problem: &Problem| {
        assert_eq!((&problem.path, problem.line), (&None, None));
        assert_eq!(problem.server.as_deref(), Some("own"));
        assert!(problem.hint.is_some());
        format!("{:?} {}: {}", problem.severity, problem.field.as_deref().unwrap(), problem.message)
    };
    let problems: Vec<String> = server.problems.iter().map(render).collect();
    assert_eq!((server.state, problems.join("\n").as_str()), (state, expected));
    assert_eq!(server.spec.is_some(), state == DefinitionState::Enabled);
}

/// Texts that mean something in the file of some program.
const SPECIAL: [&str; 9] =
    ["HOME", "!echo", "${X}", "${X:-y}", "$X", "%X%", "{env:X}", "${workspaceFolder}", "~/x"];

#[test]
fn every_text_is_literal() {
    for text in SPECIAL {
        let entry = Stdio::new(text).arg(text).env("KEY", text).cwd(text).prefix(text);
        let spec = spec(entry);
        let Transport::Stdio(launch) = &spec.transport else { panic!("not a program") };
        let value = ConfigValue::Literal(text.into());
        assert_eq!(launch.command, text.into());
        assert_eq!(launch.args, [text.into()]);
        assert_eq!(launch.env, [("KEY".to_owned(), value.clone())]);
        assert_eq!(launch.cwd, Some(text.into()));
        assert_eq!(spec.policy.prefix.as_deref(), Some(text));

        let spec = self::spec(Http::new("https://a.example/mcp").header("X-Key", text));
        let Transport::Http(endpoint) = &spec.transport else { panic!("not an address") };
        assert_eq!(endpoint.headers, [("X-Key".to_owned(), value)]);
    }
    let spec = spec(Http::new("https://a.example/${X}?b=${HOME}"));
    let Transport::Http(endpoint) = &spec.transport else { panic!("not an address") };
    let expected = if cfg!(feature = "http") {
        "https://a.example/$%7BX%7D?b=${HOME}"
    } else {
        "https://a.example/${X}?b=${HOME}"
    };
    assert_eq!(endpoint.url.expose(), expected);
}

#[test]
fn an_entry_that_cannot_be_used_has_the_problem_of_a_file() {
    let invalid = DefinitionState::Invalid;
    check_problem(Stdio::new(""), invalid, "Error command: stdio server requires \"command\"");
    check_problem(Http::new(""), invalid, "Error url: http server requires \"url\"");
    check_problem(Http::new("").sse(), invalid, "Error url: sse server requires \"url\"");
    check_problem(
        Http::new("a.example"),
        invalid,
        "Error url: \"url\" must start with http://, https:// or unix://",
    );
    check_problem(Http::new("ws://a.example"), invalid, "Error url: WebSocket is not supported");
    check_problem(
        Stdio::new("x").protocol_version("1999-01-01"),
        DefinitionState::Enabled,
        "Warning protocolVersion: \"protocolVersion\" is not a known protocol revision; ignored",
    );
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_not_unicode_is_a_problem_of_the_server() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    check_problem(
        Stdio::new("x").cwd(OsStr::from_bytes(b"/\xff")),
        DefinitionState::Invalid,
        "Error cwd: \"cwd\" is not valid Unicode",
    );
}

#[test]
fn every_option_arrives() {
    let entry = Stdio::new("x")
        .args(["a", "b"])
        .inherit_env()
        .pass_env(["DISPLAY"])
        .approval(Approval::Never)
        .tool_approval("delete_*", Approval::Deny)
        .include_tools(["a*", "b"])
        .exclude_tools(["ab"])
        .connect_timeout(Duration::from_secs(5))
        .call_timeout(Duration::from_nanos(1))
        .list_timeout(Duration::from_secs(2))
        .max_list_entries(100)
        .max_message_bytes(1 << 20)
        .lazy()
        .required()
        .strict()
        .without_instructions()
        .retry_on_hints()
        .protocol_version("2025-06-18");
    let spec = spec(entry);
    let rendered = format!("{:?}\n{:?}\n{:?}", spec.timeouts, spec.limits, spec.policy);
    insta::assert_snapshot!(rendered.replace(", ", "\n"), @r#"
    Timeouts { both: None
    connect: Some(5000)
    call: Some(1)
    list: Some(2000) }
    ServerLimits { list_entries: Some(100)
    message_bytes: Some(1048576) }
    Policy { approval: Never
    tool_approval: [("delete_*"
    Deny)]
    prefix: None
    include_tools: Some(["a*"
    "b"])
    exclude_tools: ["ab"]
    inherit_env: true
    pass_env: ["DISPLAY"]
    strict: true
    retry_on_hints: true
    lazy: true
    required: true
    without_instructions: true
    protocol_version: Some("2025-06-18") }
    "#);
}

#[test]
fn a_later_value_of_the_same_name_replaces_the_earlier_one() {
    let spec = spec(Stdio::new("x").env("A", "1").env("a", "2").env("A", "3"));
    let Transport::Stdio(launch) = &spec.transport else { panic!("not a program") };
    let names: Vec<_> = launch.env.iter().map(|(name, value)| (&**name, value.text())).collect();
    assert_eq!(names, [("a", &"2".into()), ("A", &"3".into())]);

    let entry = Http::new("https://a.example").bearer("old").header("authorization", "new").sse();
    let spec = self::spec(entry);
    let Transport::Sse(endpoint) = &spec.transport else { panic!("not SSE") };
    let value = ConfigValue::Literal("new".into());
    assert_eq!(endpoint.headers, [("authorization".to_owned(), value)]);
}

#[test]
fn a_token_is_sent_as_a_header() {
    let spec = spec(Http::new("https://a.example").bearer("hunter2"));
    let Transport::Http(endpoint) = &spec.transport else { panic!("not an address") };
    let value = ConfigValue::Literal("Bearer hunter2".into());
    assert_eq!(endpoint.headers, [("Authorization".to_owned(), value)]);
}

#[test]
fn no_debug_output_has_a_secret() {
    let secret = "hunter2";
    let url = format!("https://me:{secret}@a.example?key={secret}");
    let http = Http::new(url).bearer(secret).header("X", secret);
    let stdio = Stdio::new("x").arg(secret).env("KEY", secret);
    let mut catalog = Catalog::new(&env());
    catalog.insert("http", http.clone());
    catalog.insert("stdio", stdio.clone());
    let rendered = format!("{http:?} {stdio:?} {catalog:?}");
    assert!(!rendered.contains(secret), "{rendered}");
}

#[test]
fn an_own_transport_is_carried_and_compared_by_its_handle() {
    let transport = CustomTransport::new(std::sync::Arc::new("own"), CustomTransport::IN_PROCESS);
    let server = server(transport.clone());
    assert_eq!(server.state, DefinitionState::Enabled);
    assert_eq!(server.transport.unwrap().word(), "in-process");
    let entry = ServerEntry::custom(transport.clone()).approval(Approval::Never);
    let spec = spec(entry);
    assert_eq!(spec.transport, Transport::Custom(transport.clone()));
    assert_eq!(spec.policy.approval, Approval::Never);
    assert_ne!(spec.transport, Transport::Custom(transport.with_identity("another")));
    let other = CustomTransport::new(std::sync::Arc::new("own"), CustomTransport::IN_PROCESS);
    assert_ne!(spec.transport, Transport::Custom(other));
    assert_eq!(format!("{:?}", spec.transport), "Custom(CustomTransport(\"in-process\"))");
}

#[test]
fn timeouts_are_rounded_up_to_milliseconds() {
    assert_eq!(milliseconds(Duration::ZERO), 0);
    assert_eq!(milliseconds(Duration::from_nanos(1)), 1);
    assert_eq!(milliseconds(Duration::from_millis(7)), 7);
    assert_eq!(milliseconds(Duration::MAX), u64::MAX);
}
