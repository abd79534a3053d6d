//! Questions of servers to the person and to a model, in both eras.

use std::time::Duration;

use serde_json::{Value, json};
use wharf::protocol::view::send::RootEntry;
use wharf::{Ports, Runtime};
use wharf_testkit::actor::{Diary, Script};

use super::host::{Host, Manner, started};
use super::world::{LIMIT, World, call};

const ERAS: [bool; 2] = [false, true];

/// What the model of the host says.
const SAID: &str = r#"{"role":"assistant","content":{"type":"text","text":"10 tokens for fs"},"model":"m","stopReason":"endTurn"}"#;

/// A world with one server, `fs`, of one of the eras.
fn world(modern: bool) -> (World, Diary) {
    let mut world = World::new();
    let script = Script { modern, ..Script::with_tools(["do"]) };
    let diary = world.actor("fs", &script, json!({}));
    (world, diary)
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

/// Has the server ask, and shows what came of its call.
async fn ask(runtime: &Runtime, question: Value) -> String {
    call(runtime, "mcp_fs_do", json!({ "ask": question })).await
}

/// Checks what comes of a question in both eras: in the legacy one, what the server was answered.
async fn check(host: Host, question: Value, legacy: &str, modern: &str) {
    for (is_modern, expected) in [(false, legacy), (true, modern)] {
        let (world, _) = world(is_modern);
        let runtime = host.start(&world).await;
        assert_eq!(ask(&runtime, question.clone()).await, expected, "modern: {is_modern}");
        // Whatever came of it, the server can still be used.
        assert_eq!(call(&runtime, "mcp_fs_do", json!({})).await, "done");
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn servers_are_told_what_somebody_would_answer() {
    let host = Host::who(Manner::Declines);
    let roots = vec![RootEntry { uri: "file:///harbour".into(), name: None }];
    let all = [
        (Ports::default(), json!({})),
        (host.ports(), json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {} })),
        (
            Ports { sampler: None, ..host.clone().asking(true, false).ports() },
            json!({ "elicitation": { "form": {} } }),
        ),
        (
            Ports { sampler: None, ..host.clone().asking(false, true).ports() },
            json!({ "elicitation": { "url": {} } }),
        ),
        (Ports { sampler: None, ..host.clone().asking(false, false).ports() }, json!({})),
        (
            Ports { elicitor: None, ..host.clone().with_tools().ports() },
            json!({ "sampling": { "tools": {} } }),
        ),
        (Ports { roots, ..Ports::default() }, json!({ "roots": {} })),
    ];
    for (ports, expected) in all {
        for modern in ERAS {
            let (world, diary) = world(modern);
            let runtime = started(&world, ports.clone()).await;
            runtime.shutdown().await;
            assert_eq!(json!(diary.hellos()), json!([expected]), "modern: {modern}");
        }
    }
}

#[tokio::test]
async fn the_answer_of_the_host_reaches_the_server() {
    let accepted = r#"{"action":"accept","content":{"berth":"north"}}"#;
    let host = || Host::who(Manner::Accepts(json!({ "berth": "north" })));
    check(host(), form(), accepted, accepted).await;
    let page_seen = r#"{"action":"accept"}"#;
    check(host(), page(), page_seen, page_seen).await;
    check(host(), word(), SAID, SAID).await;
}

#[tokio::test]
async fn a_person_may_decline_or_not_decide() {
    for (manner, answer) in [(Manner::Declines, "decline"), (Manner::Cancels, "cancel")] {
        let answer = json!({ "action": answer }).to_string();
        for question in [form(), page()] {
            check(Host::who(manner.clone()), question, &answer, &answer).await;
        }
    }
}

#[tokio::test]
async fn what_nobody_would_answer_is_refused() {
    for (modern, expected) in [
        (false, r#"{"code":-32601,"message":"Method not found: {method}"}"#),
        (
            true,
            "TERMINAL Unanswered known=false the server asked something that was not answered: Method not found: {method} (code -32601)",
        ),
    ] {
        let (world, _) = world(modern);
        let runtime = started(&world, Ports::default()).await;
        for question in [form(), page(), word(), json!({ "method": "roots/list" })] {
            let method = question["method"].as_str().unwrap();
            let said = ask(&runtime, question.clone()).await;
            assert_eq!(said, expected.replace("{method}", method));
        }
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn a_kind_of_question_that_was_not_offered_reaches_nobody() {
    let host = |form, url| Host::who(Manner::Cancels).asking(form, url);
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
            let (world, _) = world(modern);
            let runtime = host.start(&world).await;
            let said = ask(&runtime, question.clone()).await;
            assert!(said.contains("-32602"), "{question} {said}");
            runtime.shutdown().await;
        }
        assert_eq!(host.times_asked(), 0, "{question}");
    }
}

#[tokio::test]
async fn a_model_with_tools_is_offered_them() {
    let mut question = word();
    question["params"]["tools"] = json!([{ "name": "a", "inputSchema": { "type": "object" } }]);
    check(Host::who(Manner::Cancels).with_tools(), question, SAID, SAID).await;
}

#[tokio::test]
async fn an_error_of_the_host_is_told() {
    let legacy = r#"{"code":-1,"message":"the model is asleep"}"#;
    let modern = "TERMINAL Unanswered known=false the server asked something that was not answered: the model is asleep (code -1)";
    check(Host::who(Manner::Fails), word(), legacy, modern).await;
}

#[tokio::test]
async fn a_host_that_panics_costs_the_answer_and_nothing_else() {
    let legacy = r#"{"code":-32603,"message":"the client failed to answer"}"#;
    let modern = "TERMINAL Unanswered known=false the server asked something that was not answered: the client failed to answer (code -32603)";
    for question in [form(), page(), word()] {
        check(Host::who(Manner::Panics), question, legacy, modern).await;
    }
}

#[tokio::test]
async fn a_person_may_think_longer_than_a_server_may_be_silent() {
    let accepted = r#"{"action":"accept","content":{"berth":"north"}}"#;
    for modern in ERAS {
        let (mut world, _) = world(modern);
        world.change("fs", "callTimeout", json!(400));
        let runtime = Host::who(Manner::Thinks(1200)).start(&world).await;
        assert_eq!(ask(&runtime, form()).await, accepted, "modern: {modern}");
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn a_question_that_is_never_answered_holds_a_call_up_to_its_cap() {
    for modern in ERAS {
        let (world, _) = world(modern);
        world.setting("[call]\nmax_ms = 700\n");
        let host = Host::who(Manner::NeverAnswers);
        let runtime = host.start(&world).await;
        let said = ask(&runtime, form()).await;
        assert!(said.starts_with("TERMINAL TimedOut known=false"), "modern: {modern} {said}");
        runtime.shutdown().await;
        host.until_open(0).await;
    }
}

#[tokio::test]
async fn shutting_down_ends_open_questions_and_the_calls_that_wait_for_them() {
    for modern in ERAS {
        for question in [form(), page(), word()] {
            let (world, _) = world(modern);
            let host = Host::who(Manner::NeverAnswers);
            let runtime = host.start(&world).await;
            let asking = {
                let (runtime, question) = (runtime.clone(), question.clone());
                async move { ask(&runtime, question).await }
            };
            let ending = async {
                host.until_open(1).await;
                runtime.shutdown().await;
            };
            let both = tokio::time::timeout(LIMIT / 3, async { tokio::join!(asking, ending) });
            let (said, ()) = both.await.expect("both end");
            assert!(said.starts_with("TERMINAL Lost known=false"), "modern: {modern} {said}");
            host.until_open(0).await;
        }
    }
}

#[tokio::test]
async fn losing_the_server_ends_its_open_questions() {
    for modern in ERAS {
        let (world, diary) = world(modern);
        let host = Host::who(Manner::NeverAnswers);
        let runtime = host.start(&world).await;
        let losing = async {
            host.until_open(1).await;
            super::world::kill(diary.starts()[0]);
        };
        let (said, ()) = tokio::join!(ask(&runtime, form()), losing);
        assert!(said.starts_with("TERMINAL Lost known=false"), "modern: {modern} {said}");
        host.until_open(0).await;
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn a_question_that_is_taken_back_is_not_asked_any_more() {
    let (world, _) = world(false);
    let host = Host::who(Manner::NeverAnswers);
    let runtime = host.start(&world).await;
    let mut question = form();
    question["takeBack"] = true.into();
    assert_eq!(ask(&runtime, question).await, "taken back");
    host.until_open(0).await;
    runtime.shutdown().await;
}

#[tokio::test]
async fn who_gives_up_a_call_gives_up_its_question() {
    let (world, _) = world(true);
    let host = Host::who(Manner::NeverAnswers);
    let runtime = host.start(&world).await;
    {
        let asking = std::pin::pin!(ask(&runtime, form()));
        tokio::select! {
            said = asking => panic!("{said}"),
            () = host.until_open(1) => {}
        }
    }
    host.until_open(0).await;
    assert!(tokio::time::timeout(Duration::from_secs(9), runtime.shutdown()).await.is_ok());
}

#[tokio::test]
async fn a_call_that_needs_pages_is_made_again_once_they_were_visited() {
    let check = async |host: Host, arguments: Value, expected: (&str, usize, usize)| {
        let (world, diary) = world(false);
        let runtime = host.start(&world).await;
        let said = call(&runtime, "mcp_fs_do", arguments).await;
        let calls = diary.asked().iter().filter(|method| *method == "tools/call").count();
        assert_eq!((&*said, host.times_asked(), calls), expected);
        runtime.shutdown().await;
    };
    let host = || Host::who(Manner::Accepts(json!({})));
    let refused =
        "TERMINAL Refused known=true the server answered: visit a page first (code -32042)";
    check(host(), json!({ "pages": ["1", "2"] }), ("done", 2, 2)).await;
    check(host(), json!({ "pages": ["1"], "isStubborn": true }), (refused, 1, 2)).await;
    check(host(), json!({ "pages": [] }), (refused, 0, 1)).await;
    check(host(), json!({ "pages": [1, 2, 3, 4, 5, 6, 7, 8, 9] }), (refused, 0, 1)).await;
    check(host().asking(true, false), json!({ "pages": ["1"] }), (refused, 0, 1)).await;
    for manner in [Manner::Declines, Manner::Panics] {
        check(Host::who(manner), json!({ "pages": ["1", "2"] }), (refused, 1, 1)).await;
    }
}

#[tokio::test]
async fn a_page_is_only_visited_in_the_era_that_knows_that_a_call_did_not_run() {
    let (world, diary) = world(true);
    let host = Host::who(Manner::Accepts(json!({})));
    let runtime = host.start(&world).await;
    let said = call(&runtime, "mcp_fs_do", json!({ "pages": ["1"] })).await;
    assert!(said.contains("visit a page first"), "{said}");
    let calls = diary.asked().iter().filter(|method| *method == "tools/call").count();
    assert_eq!((host.times_asked(), calls), (0, 1));
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_question_about_a_page_ends_with_the_session() {
    let (world, _) = world(false);
    let host = Host::who(Manner::NeverAnswers);
    let runtime = host.start(&world).await;
    let ending = async {
        host.until_open(1).await;
        runtime.shutdown().await;
    };
    let asking = call(&runtime, "mcp_fs_do", json!({ "pages": ["1"] }));
    let both = async { tokio::join!(asking, ending).0 };
    let said = tokio::time::timeout(LIMIT, both).await.expect("the call ends");
    assert!(said.contains("visit a page first"), "{said}");
    host.until_open(0).await;
}
