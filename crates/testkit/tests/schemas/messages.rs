//! Every message that the builders can make, for each revision that has it.

use std::time::Duration;

use wharf_protocol::Json;
use wharf_protocol::era::{Era, Revision};
use wharf_protocol::view::send::{
    self, ClientCapabilities, ClientInfo, CompletionRequest, ElicitationAnswer, ElicitationSupport,
    Object, Reference, RootEntry, RootsSupport, SamplingAnswer, SamplingSupport, TasksSupport,
};
use wharf_protocol::view::{LogLevel, SubscriptionFilter};

/// The method and the parameters of a message.
pub(crate) struct MessageSample {
    pub(crate) method: &'static str,
    pub(crate) params: Option<Json>,
}

fn sample(method: &'static str, params: Json) -> MessageSample {
    MessageSample { method, params: Some(params) }
}

fn bare(method: &'static str) -> MessageSample {
    MessageSample { method, params: None }
}

/// A client with all descriptive fields.
pub(crate) fn client_info() -> ClientInfo {
    ClientInfo {
        title: Some("A client".into()),
        description: Some("Says everything".into()),
        website_url: Some("https://client.example".into()),
        ..ClientInfo::new("client", "1.0")
    }
}

/// All capabilities of a client.
pub(crate) fn capabilities() -> ClientCapabilities {
    let settings = || Object::try_from(r#"{"a":[1,"b"]}"#.parse::<Json>().unwrap()).unwrap();
    ClientCapabilities {
        roots: Some(RootsSupport { list_changed: true }),
        sampling: Some(SamplingSupport { tools: true, context: true }),
        elicitation: Some(ElicitationSupport { form: true, url: true }),
        tasks: Some(TasksSupport { list: true, cancel: true, sampling: true, elicitation: true }),
        experimental: vec![("x".into(), settings())],
        extensions: vec![("example/extension".into(), settings())],
    }
}

fn arguments() -> Object {
    let text = r#"{"n":10000000000000000000001,"list":[{}],"null":null}"#;
    Object::try_from(text.parse::<Json>().unwrap()).unwrap()
}

/// Requests of a client.
pub(crate) fn requests(revision: Revision) -> Vec<MessageSample> {
    let known = vec![("other".to_owned(), "value".to_owned())];
    let completion = |reference| CompletionRequest {
        reference,
        argument: "a".into(),
        value: "v".into(),
        known: known.clone(),
    };
    let prompt = completion(Reference::Prompt("p".into()));
    let template = completion(Reference::ResourceTemplate("file:///{path}".into()));
    let mut all = vec![
        sample("tools/list", send::page(None)),
        sample("tools/list", send::page(Some("cursor"))),
        sample("resources/list", send::page(Some("cursor"))),
        sample("resources/templates/list", send::page(None)),
        sample("prompts/list", send::page(None)),
        sample("tools/call", send::call_tool("t", None, None)),
        sample("tools/call", send::call_tool("t", Some(&arguments()), None)),
        sample("resources/read", send::resource("file:///a%20b")),
        sample("prompts/get", send::get_prompt("p", &[])),
        sample("prompts/get", send::get_prompt("p", &known)),
        sample("completion/complete", send::complete(&prompt, revision)),
        sample("completion/complete", send::complete(&template, revision)),
    ];
    match revision.era() {
        Era::Legacy => all.extend(legacy_requests(revision)),
        Era::Modern => all.extend(modern_requests()),
    }
    if revision == Revision::V2025_11_25 {
        let minute = Some(Duration::from_secs(60));
        all.push(sample("tools/call", send::call_tool("t", None, minute)));
        all.extend(
            ["tasks/get", "tasks/result", "tasks/cancel"].map(|it| sample(it, send::task("id"))),
        );
        all.push(sample("tasks/list", send::page(Some("cursor"))));
    }
    all
}

fn legacy_requests(revision: Revision) -> Vec<MessageSample> {
    let nothing = ClientCapabilities::default();
    vec![
        sample("initialize", send::initialize(revision, &capabilities(), &client_info())),
        sample("initialize", send::initialize(revision, &nothing, &ClientInfo::new("c", "1"))),
        bare("ping"),
        bare("tools/list"),
        sample("logging/setLevel", send::set_level(LogLevel::Emergency)),
        sample("resources/subscribe", send::resource("file:///a")),
        sample("resources/unsubscribe", send::resource("file:///a")),
    ]
}

fn modern_requests() -> Vec<MessageSample> {
    let everything = SubscriptionFilter {
        tools_list_changed: true,
        prompts_list_changed: true,
        resources_list_changed: true,
        resource_subscriptions: vec!["file:///a".into()],
        task_ids: Vec::new(),
    };
    let answers = [("k".to_owned(), send::roots_result(&[]))];
    vec![
        bare("server/discover"),
        sample("subscriptions/listen", send::listen(&everything)),
        sample("subscriptions/listen", send::listen(&SubscriptionFilter::default())),
        sample("tasks/get", send::task("id")),
        sample("tasks/cancel", send::task("id")),
        sample("tasks/update", send::update_task("id", &answers)),
        sample("skills/list", send::page(None)),
        sample("skills/get", send::resource("skill://a/SKILL.md")),
        sample("resources/directory/read", send::directory("skill://a", None)),
    ]
}

/// Notifications of a client.
pub(crate) fn notifications(revision: Revision) -> Vec<MessageSample> {
    let mut all = vec![
        sample("notifications/cancelled", send::cancelled(7, None)),
        sample("notifications/cancelled", send::cancelled(7, Some("no longer wanted"))),
    ];
    if revision.era() == Era::Legacy {
        all.push(bare("notifications/initialized"));
        all.push(bare("notifications/roots/list_changed"));
    }
    all
}

/// Results of a client: the definition, the method of the request, and the result.
pub(crate) fn results(revision: Revision) -> Vec<(&'static str, &'static str, Json)> {
    let said = |content: Vec<Json>| {
        let answer =
            SamplingAnswer { model: "m".into(), content, stop_reason: Some("endTurn".into()) };
        send::sampling_result(&answer, revision).unwrap()
    };
    let roots = [
        RootEntry { uri: "file:///a".into(), name: Some("a".into()) },
        RootEntry { uri: "file:///b".into(), name: None },
    ];
    let text = send::text_block("hello");
    let mut all = vec![
        ("ListRootsResult", "roots/list", send::roots_result(&roots)),
        ("ListRootsResult", "roots/list", send::roots_result(&[])),
        ("CreateMessageResult", "sampling/createMessage", said(vec![text.clone()])),
    ];
    if revision >= Revision::V2025_11_25 {
        let wish: Json = r#"{"type":"tool_use","id":"1","name":"t","input":{}}"#.parse().unwrap();
        all.push(("CreateMessageResult", "sampling/createMessage", said(vec![text, wish])));
    }
    if revision >= Revision::V2025_06_18 {
        let form = r#"{"text":"a","number":5,"flag":true}"#.parse::<Json>().unwrap();
        let form = Object::try_from(form).unwrap();
        all.extend(
            [
                ElicitationAnswer::Accept(Some(form)),
                ElicitationAnswer::Accept(None),
                ElicitationAnswer::Decline,
                ElicitationAnswer::Cancel,
            ]
            .map(|answer| {
                ("ElicitResult", "elicitation/create", send::elicitation_result(&answer))
            }),
        );
    }
    all
}
