//! Requests of views other than tool calls: which servers they reach, their limit, their context.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use wharf::call::CallErrorReason;
use wharf::protocol::Json;
use wharf::protocol::envelope::RpcError;
use wharf::protocol::serve::{
    Client, DescriptionFuture, McpServer, ServerDescription, ServerInfo, Service, ServiceAnswer,
    ServiceCall,
};
use wharf::protocol::transport::BoxFuture;
use wharf::protocol::view::send::{
    CompletionRequest, ElicitationAnswer, ElicitationSupport, Reference,
};
use wharf::{
    AllowAll, CallContext, CallError, ElicitationRequest, Elicitor, Runtime, View, ViewOptions,
    in_process,
};

use super::world::LIMIT;

/// A server with two tools, resources, prompts, completions and instructions.
struct Docs;

impl Service for Docs {
    fn info(&self) -> ServerInfo {
        ServerInfo::new("docs", "1.0.0")
    }

    fn describe(self: Arc<Self>, _client: Client) -> DescriptionFuture {
        let capabilities =
            json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {} });
        let mut description = ServerDescription::new(Json::encode(&capabilities).unwrap());
        description.instructions = Some("be kind".to_owned());
        Box::pin(std::future::ready(description))
    }

    fn handle(self: Arc<Self>, call: ServiceCall) -> ServiceAnswer {
        Box::pin(async move {
            let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
            let uri = call.param("uri").and_then(|uri| uri.to_text()).unwrap_or_default();
            let result = match (call.method.as_ref(), uri.as_str()) {
                ("tools/list", _) => json!({ "tools": [tool("read_one"), tool("admin_reset")] }),
                ("resources/list", _) => {
                    json!({ "resources": [{ "uri": "d://1", "name": "one" }] })
                }
                ("resources/templates/list", _) => {
                    json!({ "resourceTemplates": [{ "uriTemplate": "d://{n}", "name": "all" }] })
                }
                ("prompts/list", _) => json!({ "prompts": [{ "name": "greet" }] }),
                ("prompts/get", _) => json!({ "messages": [] }),
                ("completion/complete", _) => json!({ "completion": { "values": ["a"] } }),
                ("resources/read", "d://never") => std::future::pending().await,
                ("resources/read", "d://asks") if call.param("inputResponses").is_none() => json!({
                    "resultType": "input_required",
                    "inputRequests": { "who": {
                        "method": "elicitation/create",
                        "params": {
                            "mode": "form",
                            "message": "Who?",
                            "requestedSchema": { "type": "object", "properties": {} },
                        },
                    } },
                }),
                ("resources/read", _) => json!({ "contents": [{ "uri": uri, "text": "secret" }] }),
                _ => return Err(RpcError::method_not_found(&call.method)),
            };
            Ok(Json::encode(&result).unwrap())
        })
    }
}

async fn start() -> Runtime {
    let builder = Runtime::builder()
        .server("docs", in_process(McpServer::new(Docs)))
        .server("other", in_process(McpServer::new(Docs)))
        .approver(AllowAll);
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    runtime
}

fn completion() -> CompletionRequest {
    CompletionRequest {
        reference: Reference::Prompt("greet".to_owned()),
        argument: "who".to_owned(),
        value: String::new(),
        known: Vec::new(),
    }
}

/// Makes every kind of request to `docs`, and returns the errors.
async fn errors(view: &View) -> Vec<CallError> {
    let completion = completion();
    let (read, prompt, completed, raw) = tokio::join!(
        view.read_resource("docs", "d://1"),
        view.get_prompt("docs", "greet", &[]),
        view.complete("docs", &completion),
        view.request("docs", "prompts/list", None),
    );
    let (resources, templates, prompts) = tokio::join!(
        view.resources(Some("docs")),
        view.resource_templates(Some("docs")),
        view.prompts(Some("docs")),
    );
    let listed = [resources.errors, templates.errors, prompts.errors].concat();
    [read.err(), prompt.err(), completed.err(), raw.err()]
        .into_iter()
        .flatten()
        .chain(listed.into_iter().map(|(_, error)| error))
        .collect()
}

#[tokio::test]
async fn a_view_of_some_tools_of_a_server_reaches_nothing_else_of_it() {
    let runtime = start().await;
    let whole = runtime.view(ViewOptions::new().tools(["docs"]));
    let views = [
        runtime.view(ViewOptions::new().tools(["docs/read_one"])),
        runtime.view(ViewOptions::new().tools(["docs/read_*", "docs/admin_reset"])),
        whole.view(ViewOptions::new().tools(["*/read_one"])),
    ];
    for view in views {
        let called = view.call("docs/read_one", ()).await.error.unwrap();
        assert_eq!(called.reason, CallErrorReason::ErrorResponse, "the call was sent");
        let errors = errors(&view).await;
        assert_eq!(errors.len(), 7);
        for error in errors {
            assert_eq!(error.reason, CallErrorReason::Denied);
            assert_eq!(
                error.message,
                "only some tools of server \"docs\" belong to this view, and nothing else of it does"
            );
        }
        assert!(view.resources(None).await.items.is_empty());
        assert!(view.instructions().is_empty());
    }
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_view_of_all_tools_of_a_server_reaches_everything_of_it_and_of_no_other() {
    let runtime = start().await;
    let all = runtime.view(ViewOptions::new());
    let views = [
        runtime.view(ViewOptions::new().tools(["docs"])),
        runtime.view(ViewOptions::new().tools(["docs/*", "other/read_one"])),
        runtime.view(ViewOptions::new().servers(["docs"])),
        all.view(ViewOptions::new().tools(["d*"])),
    ];
    for view in views {
        assert_eq!(errors(&view).await, []);
        assert!(view.read_resource("other", "d://1").await.is_err());
        let listed = view.resources(None).await.items;
        assert_eq!(listed.iter().map(|(server, _)| server.as_str()).collect::<Vec<_>>(), ["docs"]);
        assert_eq!(view.instructions().len(), 1);
    }
    assert_eq!(all.prompts(None).await.items.len(), 2);
    runtime.shutdown().await;
}

#[tokio::test]
async fn the_limit_of_a_view_counts_for_every_request() {
    let runtime = start().await;
    let view = runtime.view(ViewOptions::new().max_call(Duration::from_millis(30)));
    let reading = view.read_resource("docs", "d://never");
    let error = tokio::time::timeout(LIMIT, reading).await.unwrap().unwrap_err();
    assert_eq!((error.reason, error.outcome_known), (CallErrorReason::TimedOut, false));
    let params: Json = r#"{"uri":"d://never"}"#.parse().unwrap();
    let raw = view.request("docs", "resources/read", Some(&params));
    let error = tokio::time::timeout(LIMIT, raw).await.unwrap().unwrap_err();
    assert_eq!(error.reason, CallErrorReason::TimedOut);
    runtime.shutdown().await;
}

/// Records the contexts of elicitations.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<Option<CallContext>>>>);

impl Elicitor for Recorder {
    fn support(&self) -> ElicitationSupport {
        ElicitationSupport { form: true, url: false }
    }

    fn elicit(&self, request: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer> {
        self.0.lock().unwrap().push(request.context);
        Box::pin(std::future::ready(ElicitationAnswer::Decline))
    }
}

#[tokio::test]
async fn an_elicitation_during_a_request_has_the_context_of_the_view() {
    let recorder = Recorder::default();
    let builder = Runtime::builder()
        .server("docs", in_process(McpServer::new(Docs)))
        .elicitor(recorder.clone());
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    let context = CallContext::new("agent-7", "research");
    let view = runtime.view(ViewOptions::new().context(context.clone()));
    view.read_resource("docs", "d://asks").await.unwrap();
    runtime.read_resource("docs", "d://asks").await.unwrap();
    assert_eq!(*recorder.0.lock().unwrap(), [Some(context), None]);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_view_does_not_tell_which_tools_are_excluded_outside_of_it() {
    let entry = in_process(McpServer::new(Docs)).exclude_tools(["admin_reset"]);
    let runtime =
        Runtime::builder().server("docs", entry).approver(AllowAll).start().await.unwrap();
    runtime.settled().await;
    let outside = runtime.view(ViewOptions::new().tools(["docs/read_one"]));
    let error = outside.call("docs/admin_reset", ()).await.error.unwrap();
    let missing = outside.call("docs/admin_xxxxx", ()).await.error.unwrap();
    assert_eq!(error.reason, missing.reason);
    assert_eq!(error.message, missing.message.replace("admin_xxxxx", "admin_reset"));
    assert_eq!(error.hint, missing.hint);
    let inside = runtime.view(ViewOptions::new().tools(["docs"]));
    let error = inside.call("docs/admin_reset", ()).await.error.unwrap();
    assert_eq!(error.reason, CallErrorReason::Omitted);
    runtime.shutdown().await;
}
