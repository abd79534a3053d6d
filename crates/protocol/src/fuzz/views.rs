//! The fuzz target for views: reads arbitrary JSON with every view, accessor and writer.
//!
//! Nothing may panic, each part must be inside the input, and the output must be valid JSON.

use std::hint::black_box;

use crate::Json;
use crate::era::Revision;
use crate::view::send::{ClientCapabilities, ClientInfo, RequestMeta, with_responses};
use crate::view::{
    Completion, ContentBlock, DiscoverResult, Elicitation, InitializeResult, InputRequest,
    ListEntry, ListPage, LogMessage, Prompt, PromptResult, ReadResult, Resource, ResourceTemplate,
    ResultType, Sampling, SubscriptionFilter, Task, ToolDefinition, ToolResult,
    UrlElicitationRequired, with_meta,
};

/// Seed inputs for mutation.
pub(super) const SAMPLES: &[&str] = &[
    r#"{"tools":[{"name":"a","title":"A","description":"d","inputSchema":{"type":"object"},"outputSchema":{},"annotations":{"readOnlyHint":true,"title":"T"},"execution":{"taskSupport":"optional"},"icons":[{"src":"s","sizes":["1x1"]}],"_meta":{}}],"nextCursor":"n","ttlMs":5,"cacheScope":"public"}"#,
    r#"{"resources":[{"uri":"a:b","name":"n","size":5,"annotations":{"audience":["user"],"priority":0.5}}],"resourceTemplates":[{"uriTemplate":"a:{b}","name":"n"}],"prompts":[{"name":"p","arguments":[{"name":"x","required":true}]}],"roots":[{"uri":"file:///a","name":"n"}],"tasks":[{"taskId":"t","status":"failed","error":{"code":-1,"message":"m","data":1}}]}"#,
    r#"{"skills":[{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"d"},"resources":[{"uri":"u","digest":"sha256:0","size":1}]}],"skill":{"uri":"u"}}"#,
    r#"{"content":[{"type":"text","text":"\u00e9\ud83d\ude00"},{"type":"image","data":"AA==","mimeType":"m"},{"type":"resource","resource":{"uri":"u","blob":"AA=="}},{"type":"resource_link","uri":"u","name":"n"},{"type":"tool_use","id":"i","name":"n","input":{}},{"type":"tool_result","toolUseId":"i","content":[{"type":"text","text":"x"}]},{"type":"new"}],"structuredContent":{"n":12345678901234567890},"isError":true,"resultType":"complete"}"#,
    r#"{"contents":[{"uri":"u","text":"t"}],"messages":[{"role":"user","content":{"type":"text","text":"t"}}],"completion":{"values":["a"],"total":1,"hasMore":false},"maxTokens":5,"modelPreferences":{"hints":[{"name":"n"}],"costPriority":0.1},"tools":[{"name":"t"}],"toolChoice":{"mode":"auto"}}"#,
    r#"{"protocolVersion":"2025-11-25","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"tasks":{"list":{},"requests":{"tools":{"call":{}}}},"extensions":{"a/b":{}}},"serverInfo":{"name":"n","version":"1"},"instructions":"i","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n"}}}"#,
    r#"{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m"}}},"requestState":"s","mode":"url","url":"u","message":"m","requestedSchema":{},"elicitations":[{"mode":"form"}]}"#,
    r#"{"level":"info","logger":"l","data":{"a":1},"progressToken":7,"progress":0.5,"total":1,"requestId":"3","reason":"r","uri":"u","notifications":{"toolsListChanged":true,"resourceSubscriptions":["u"]},"_meta":{"io.modelcontextprotocol/subscriptionId":5}}"#,
    r#"{"resultType":"task","taskId":"t","status":"input_required","pollIntervalMs":5,"ttlMs":null,"inputRequests":{"k":{"method":"roots/list"}},"task":{"taskId":"t","status":"working","pollInterval":5,"ttl":1}}"#,
];

/// Reads the bytes as every kind of message content that a server can send.
///
/// # Panics
///
/// If an invariant does not hold.
pub(super) fn views(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let Ok(json) = Json::parse(text) else { return };
    lists(&json);
    results(&json);
    input_requests(&json);
    notifications(&json);
    writers(&json);
}

fn lists(json: &Json) {
    list::<Resource>(json, |it| drop(black_box((it.name(), it.title(), it.size()))));
    list::<ResourceTemplate>(json, |it| drop(black_box((it.name(), it.mime_type()))));
    list::<Prompt>(json, |it| drop(black_box((it.title(), it.description(), it.arguments()))));
    #[cfg(feature = "skills")]
    list::<crate::view::Skill>(json, |it| {
        drop(black_box((it.name(), it.description(), it.files())));
    });
    list::<Task>(json, read_task);
    list::<ToolDefinition>(json, |it| {
        drop(black_box((it.title(), it.description(), it.hints())));
        let schema = it.input_schema();
        assert!(schema.is_none_or(|schema| schema.is_object()), "a schema is an object");
    });
}

fn list<T: ListEntry>(json: &Json, look: impl Fn(&T)) {
    let page: ListPage<T> = ListPage::read(json);
    for item in &page.items {
        look(item);
        black_box(item.violations());
    }
    for rejected in &page.rejected {
        assert!(json.as_str().contains(rejected.raw.as_str()), "the raw entry is unchanged");
    }
    if let Ok(single) = T::read(json.clone()) {
        look(&single);
    }
}

fn read_task(task: &Task) {
    black_box((task.status(), task.poll_interval(), task.result()));
    black_box((task.error(), task.requests(), task.status_message()));
}

fn results(json: &Json) {
    let result = ToolResult::read(json.clone());
    for block in result.content() {
        read_block(&block);
    }
    read_block(&ContentBlock::read(json.clone()));
    black_box((result.violations(), result.structured(), ResultType::of(json)));

    let read = ReadResult::read(json.clone());
    let bodies: Vec<_> = read.contents().iter().map(|it| (it.uri(), it.body())).collect();
    black_box(bodies);
    let prompt = PromptResult::read(json.clone());
    let blocks: Vec<_> = prompt.messages().iter().map(|it| (it.role(), it.content())).collect();
    black_box((blocks, prompt.description()));
    let completion = Completion::read(json.clone());
    black_box(completion.values());

    let first = InitializeResult::read(json.clone());
    black_box((first.server_info().version(), first.all_violations()));
    let discovered = DiscoverResult::read(json.clone());
    let capabilities = discovered.capabilities();
    black_box((discovered.instructions(), discovered.all_violations()));
    black_box((capabilities.tools(), capabilities.extension("a/b")));
    black_box(Task::from_result(json));
}

fn read_block(block: &ContentBlock) {
    black_box((block.as_text(), block.violations()));
}

fn input_requests(json: &Json) {
    let state = json.get("requestState").filter(|state| !state.is_null());
    let keys: Vec<_> =
        InputRequest::list(json).into_iter().map(|it| String::from(it.key)).collect();
    let answers: Vec<_> = keys.into_iter().map(|key| (key, Json::object())).collect();
    let again = with_responses(json, &answers, state.as_ref());
    let echoed = again.get("requestState");
    assert!(state.is_none() || echoed == state, "the request state is sent back unchanged");

    let elicitation = Elicitation::read(json.clone());
    black_box((elicitation.mode(), elicitation.message()));
    black_box(UrlElicitationRequired::read(json.clone()).elicitations());
    let sampling = Sampling::read(json.clone());
    black_box((sampling.messages(), sampling.model_preferences(), sampling.tools()));
    black_box((sampling.max_tokens(), sampling.tool_choice()));
}

fn notifications(json: &Json) {
    let log = LogMessage::read(json.clone());
    black_box((log.level(), log.text(), SubscriptionFilter::acknowledged(json)));
}

fn writers(json: &Json) {
    let info = ClientInfo::new("fuzz", "1");
    let meta = RequestMeta::new(Revision::LATEST, &ClientCapabilities::default(), &info);
    for written in [with_meta(Some(json), &[("a", "1")]), meta.apply(Some(json), &[("b", "{}")])] {
        assert!(Json::parse(written.as_str()).is_ok(), "the output is valid JSON");
        let entries = written.get("_meta").is_some_and(|meta| meta.is_object());
        assert!(entries, "the output has `_meta`");
        let kept = json
            .members()
            .map_or(0, |members| members.iter().filter(|(key, _)| *key != "_meta").count());
        let others = written
            .members()
            .map_or(0, |members| members.iter().filter(|(key, _)| *key != "_meta").count());
        assert_eq!(kept, others, "only `_meta` is added");
    }
}
