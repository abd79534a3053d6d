//! Tests elicitation and sampling requests of servers, in both eras.

use std::time::Duration;

use serde_json::{Value, json};
use wharf::protocol::Json;
use wharf::protocol::view::send::RootEntry;
use wharf::{CallContext, ClientFeatures, Runtime};
use wharf_testkit::actor::{ActorLog, Script};

use super::fixture::{Fixture, LIMIT, call};
use super::host::{HostBehavior, TestHost, started};

const ERAS: [bool; 2] = [false, true];

/// The answer of the host's sampler.
const SAID: &str = r#"{"role":"assistant","content":{"type":"text","text":"10 tokens for fs"},"model":"m","stopReason":"endTurn"}"#;

/// Returns a fixture with one server, `fs`, of one of the eras.
fn fixture(modern: bool) -> (Fixture, ActorLog) {
    let mut fixture = Fixture::new();
    let script = Script { modern, ..Script::with_tools(["do"]) };
    let actor_log = fixture.actor("fs", &script, json!({}));
    (fixture, actor_log)
}

fn form() -> Value {
    let schema = json!({ "type": "object", "properties": { "berth": { "type": "string" } } });
    let params = json!({ "message": "Which berth?", "requestedSchema": schema });
    json!({ "method": "elicitation/create", "params": params })
}

fn page() -> Value {
    let url = "https://harbour.example/sign-in";
    let params = json!({ "mode": "url", "message": "Which berth?", "url": url,
        "elicitationId": "1" });
    json!({ "method": "elicitation/create", "params": params })
}

fn word() -> Value {
    let content = json!({ "type": "text", "text": "One word?" });
    let messages = json!([{ "role": "user", "content": content }]);
    json!({ "method": "sampling/createMessage",
        "params": { "messages": messages, "maxTokens": 10 } })
}

/// Calls a tool that sends this request, and returns the outcome.
async fn ask(runtime: &Runtime, question: Value) -> String {
    call(runtime, "mcp_fs_do", json!({ "ask": question })).await
}

/// Checks the outcome of a request in both eras. In the legacy era it is the server's response.
async fn check(host: TestHost, question: Value, legacy: &str, modern: &str) {
    for (is_modern, expected) in [(false, legacy), (true, modern)] {
        let (fixture, _) = fixture(is_modern);
        let runtime = host.start(&fixture).await;
        assert_eq!(ask(&runtime, question.clone()).await, expected, "modern: {is_modern}");
        // In any case, the server can still be used.
        assert_eq!(call(&runtime, "mcp_fs_do", json!({})).await, "done");
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn the_declared_capabilities_match_the_client_features() {
    let host = TestHost::new(HostBehavior::Declines);
    let roots = vec![RootEntry { uri: "file:///harbour".into(), name: None }];
    let all = [
        (ClientFeatures::default(), json!({})),
        (
            host.client_features(),
            json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {} }),
        ),
        (
            ClientFeatures {
                sampler: None,
                ..host.clone().with_elicitation(true, false).client_features()
            },
            json!({ "elicitation": { "form": {} } }),
        ),
        (
            ClientFeatures {
                sampler: None,
                ..host.clone().with_elicitation(false, true).client_features()
            },
            json!({ "elicitation": { "url": {} } }),
        ),
        (
            ClientFeatures {
                sampler: None,
                ..host.clone().with_elicitation(false, false).client_features()
            },
            json!({}),
        ),
        (
            ClientFeatures {
                elicitor: None,
                ..host.clone().with_sampling_tools().client_features()
            },
            json!({ "sampling": { "tools": {} } }),
        ),
        (ClientFeatures { roots, ..ClientFeatures::default() }, json!({ "roots": {} })),
    ];
    for (client_features, expected) in all {
        for modern in ERAS {
            let (fixture, actor_log) = fixture(modern);
            let runtime = started(&fixture, client_features.clone()).await;
            runtime.shutdown().await;
            assert_eq!(
                json!(actor_log.client_capabilities()),
                json!([expected]),
                "modern: {modern}"
            );
        }
    }
}

#[tokio::test]
async fn the_answer_of_the_host_reaches_the_server() {
    let accepted = r#"{"action":"accept","content":{"berth":"north"}}"#;
    let host = || TestHost::new(HostBehavior::Accepts(json!({ "berth": "north" })));
    check(host(), form(), accepted, accepted).await;
    let page_seen = r#"{"action":"accept"}"#;
    check(host(), page(), page_seen, page_seen).await;
    check(host(), word(), SAID, SAID).await;
}

/// Calls a tool that sends this request, with a context.
async fn ask_in_context(runtime: &Runtime, question: &Value, context: &str) {
    let arguments: Json = json!({ "ask": question }).to_string().parse().unwrap();
    let call = runtime.call("mcp_fs_do", &arguments).context(CallContext::new(context, context));
    let outcome = tokio::time::timeout(LIMIT, call.into_future()).await.expect("a call ends");
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
}

#[tokio::test]
async fn the_context_of_a_call_reaches_the_elicitor_and_the_sampler() {
    for modern in ERAS {
        let (fixture, _) = fixture(modern);
        let host = TestHost::new(HostBehavior::Accepts(json!({ "berth": "north" })));
        let runtime = host.start(&fixture).await;
        for (question, context) in [(form(), "a"), (page(), "b"), (word(), "c")] {
            ask_in_context(&runtime, &question, context).await;
        }
        ask(&runtime, form()).await;
        assert_eq!(host.contexts(), ["-", "a", "b", "c"], "modern: {modern}");
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn concurrent_calls_of_a_modern_server_keep_their_contexts() {
    let (fixture, _) = fixture(true);
    let host = TestHost::new(HostBehavior::AnswersAfter(50));
    let runtime = host.start(&fixture).await;
    let (one, other) = (form(), form());
    tokio::join!(
        ask_in_context(&runtime, &one, "a"),
        ask_in_context(&runtime, &other, "b"),
        async { host.until_open(2).await }
    );
    assert_eq!(host.contexts(), ["a", "b"]);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_person_may_decline_or_cancel() {
    for (behavior, answer) in
        [(HostBehavior::Declines, "decline"), (HostBehavior::Cancels, "cancel")]
    {
        let answer = json!({ "action": answer }).to_string();
        for question in [form(), page()] {
            check(TestHost::new(behavior.clone()), question, &answer, &answer).await;
        }
    }
}

#[tokio::test]
async fn requests_without_a_client_feature_are_rejected() {
    for (modern, expected) in [
        (false, r#"{"code":-32601,"message":"Method not found: {method}"}"#),
        (
            true,
            "TERMINAL Unanswered known=false the server requires input, and the client answered with an error: Method not found: {method} (code -32601)",
        ),
    ] {
        let (fixture, _) = fixture(modern);
        let runtime = started(&fixture, ClientFeatures::default()).await;
        for question in [form(), page(), word(), json!({ "method": "roots/list" })] {
            let method = question["method"].as_str().unwrap();
            let said = ask(&runtime, question.clone()).await;
            assert_eq!(said, expected.replace("{method}", method));
        }
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn an_undeclared_kind_of_request_does_not_reach_the_host() {
    let host = |form, url| TestHost::new(HostBehavior::Cancels).with_elicitation(form, url);
    let mut telepathy = form();
    telepathy["params"]["mode"] = "telepathy".into();
    let mut no_page = page();
    no_page["params"]["url"] = Value::Null;
    let mut tools = word();
    tools["params"]["tools"] = json!([]);
    let mut choice = word();
    choice["params"]["toolChoice"] = json!({ "mode": "none" });
    let nonsense = json!({ "method": "sampling/createMessage", "params": { "maxTokens": 1 } });
    for (host, question) in [
        (host(true, false), page()),
        (host(false, true), form()),
        (host(true, true), telepathy),
        (host(true, true), no_page),
        (host(true, true), tools),
        (host(true, true), choice),
        (host(true, true), nonsense),
    ] {
        for modern in ERAS {
            let (fixture, _) = fixture(modern);
            let runtime = host.start(&fixture).await;
            let said = ask(&runtime, question.clone()).await;
            assert!(said.contains("-32602"), "{question} {said}");
            runtime.shutdown().await;
        }
        assert_eq!(host.times_asked(), 0, "{question}");
    }
}

#[tokio::test]
async fn a_sampler_with_tool_support_gets_the_tools() {
    let mut question = word();
    question["params"]["tools"] = json!([{ "name": "a", "inputSchema": { "type": "object" } }]);
    check(TestHost::new(HostBehavior::Cancels).with_sampling_tools(), question, SAID, SAID).await;
}

#[tokio::test]
async fn an_error_of_the_sampler_reaches_the_server() {
    let legacy = r#"{"code":-1,"message":"the model is asleep"}"#;
    let modern = "TERMINAL Unanswered known=false the server requires input, and the client answered with an error: the model is asleep (code -1)";
    check(TestHost::new(HostBehavior::Fails), word(), legacy, modern).await;
}

#[tokio::test]
async fn a_host_that_panics_fails_only_the_answer() {
    let legacy = r#"{"code":-32603,"message":"the client failed to answer"}"#;
    let modern = "TERMINAL Unanswered known=false the server requires input, and the client answered with an error: the client failed to answer (code -32603)";
    for question in [form(), page(), word()] {
        check(TestHost::new(HostBehavior::Panics), question, legacy, modern).await;
    }
}

#[tokio::test]
async fn an_elicitation_may_take_longer_than_the_idle_timeout() {
    let accepted = r#"{"action":"accept","content":{"berth":"north"}}"#;
    for modern in ERAS {
        let (mut fixture, _) = fixture(modern);
        fixture.change("fs", "callTimeout", json!(400));
        let runtime = TestHost::new(HostBehavior::AnswersAfter(1200)).start(&fixture).await;
        assert_eq!(ask(&runtime, form()).await, accepted, "modern: {modern}");
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn an_unanswered_elicitation_delays_a_call_up_to_its_cap() {
    for modern in ERAS {
        let (fixture, _) = fixture(modern);
        fixture.setting("[call]\nmax_ms = 700\n");
        let host = TestHost::new(HostBehavior::NeverAnswers);
        let runtime = host.start(&fixture).await;
        let said = ask(&runtime, form()).await;
        assert!(said.starts_with("TERMINAL TimedOut known=false"), "modern: {modern} {said}");
        runtime.shutdown().await;
        host.until_open(0).await;
    }
}

#[tokio::test]
async fn shutdown_ends_open_requests_and_the_calls_that_wait_for_them() {
    for modern in ERAS {
        for question in [form(), page(), word()] {
            let (fixture, _) = fixture(modern);
            let host = TestHost::new(HostBehavior::NeverAnswers);
            let runtime = host.start(&fixture).await;
            let answer = {
                let (runtime, question) = (runtime.clone(), question.clone());
                async move { ask(&runtime, question).await }
            };
            let ending = async {
                host.until_open(1).await;
                runtime.shutdown().await;
            };
            let both = tokio::time::timeout(LIMIT / 3, async { tokio::join!(answer, ending) });
            let (said, ()) = both.await.expect("both end");
            assert!(said.starts_with("TERMINAL Lost known=false"), "modern: {modern} {said}");
            host.until_open(0).await;
        }
    }
}

#[tokio::test]
async fn losing_the_server_ends_its_open_requests() {
    for modern in ERAS {
        let (fixture, actor_log) = fixture(modern);
        let host = TestHost::new(HostBehavior::NeverAnswers);
        let runtime = host.start(&fixture).await;
        let losing = async {
            host.until_open(1).await;
            super::fixture::kill(actor_log.starts()[0]);
        };
        let (said, ()) = tokio::join!(ask(&runtime, form()), losing);
        assert!(said.starts_with("TERMINAL Lost known=false"), "modern: {modern} {said}");
        host.until_open(0).await;
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn an_elicitation_that_the_server_cancels_is_dropped() {
    let (fixture, _) = fixture(false);
    let host = TestHost::new(HostBehavior::NeverAnswers);
    let runtime = host.start(&fixture).await;
    let mut question = form();
    question["takeBack"] = true.into();
    assert_eq!(ask(&runtime, question).await, "taken back");
    host.until_open(0).await;
    runtime.shutdown().await;
}

#[tokio::test]
async fn dropping_a_call_drops_its_elicitation() {
    let (fixture, _) = fixture(true);
    let host = TestHost::new(HostBehavior::NeverAnswers);
    let runtime = host.start(&fixture).await;
    {
        let answer = std::pin::pin!(ask(&runtime, form()));
        tokio::select! {
            said = answer => panic!("{said}"),
            () = host.until_open(1) => {}
        }
    }
    host.until_open(0).await;
    assert!(tokio::time::timeout(Duration::from_secs(9), runtime.shutdown()).await.is_ok());
}

#[tokio::test]
async fn a_call_that_requires_urls_is_sent_again_after_they_were_visited() {
    let check = async |host: TestHost, arguments: Value, expected: (&str, usize, usize)| {
        let (fixture, actor_log) = fixture(false);
        let runtime = host.start(&fixture).await;
        let said = call(&runtime, "mcp_fs_do", arguments).await;
        let calls =
            actor_log.request_methods().iter().filter(|method| *method == "tools/call").count();
        assert_eq!((&*said, host.times_asked(), calls), expected);
        runtime.shutdown().await;
    };
    let host = || TestHost::new(HostBehavior::Accepts(json!({})));
    let refused =
        "TERMINAL ErrorResponse known=true the server answered: visit a page first (code -32042)";
    check(host(), json!({ "pages": ["1", "2"] }), ("done", 2, 2)).await;
    check(host(), json!({ "pages": ["1"], "isStubborn": true }), (refused, 1, 2)).await;
    check(host(), json!({ "pages": [] }), (refused, 0, 1)).await;
    check(host(), json!({ "pages": [1, 2, 3, 4, 5, 6, 7, 8, 9] }), (refused, 0, 1)).await;
    check(host().with_elicitation(true, false), json!({ "pages": ["1"] }), (refused, 0, 1)).await;
    for behavior in [HostBehavior::Declines, HostBehavior::Panics] {
        check(TestHost::new(behavior), json!({ "pages": ["1", "2"] }), (refused, 1, 1)).await;
    }
}

#[tokio::test]
async fn required_urls_are_opened_only_in_the_era_that_defines_them() {
    let (fixture, actor_log) = fixture(true);
    let host = TestHost::new(HostBehavior::Accepts(json!({})));
    let runtime = host.start(&fixture).await;
    let said = call(&runtime, "mcp_fs_do", json!({ "pages": ["1"] })).await;
    assert!(said.contains("visit a page first"), "{said}");
    let calls = actor_log.request_methods().iter().filter(|method| *method == "tools/call").count();
    assert_eq!((host.times_asked(), calls), (0, 1));
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_url_elicitation_ends_with_the_session() {
    let (fixture, _) = fixture(false);
    let host = TestHost::new(HostBehavior::NeverAnswers);
    let runtime = host.start(&fixture).await;
    let ending = async {
        host.until_open(1).await;
        runtime.shutdown().await;
    };
    let answer = call(&runtime, "mcp_fs_do", json!({ "pages": ["1"] }));
    let both = async { tokio::join!(answer, ending).0 };
    let said = tokio::time::timeout(LIMIT, both).await.expect("the call ends");
    assert!(said.contains("visit a page first"), "{said}");
    host.until_open(0).await;
}
