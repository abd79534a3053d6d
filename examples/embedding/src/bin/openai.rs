//! Lets a model with an OpenAI-compatible API use the tools, until it answers.
//!
//! Needs `OPENAI_BASE_URL`, such as `http://127.0.0.1:11434/v1`, `OPENAI_API_KEY` and `MODEL`.

use std::env::var;
use std::error::Error;

use serde_json::{Value, json};
use wharf::approval::ApprovalPolicy;
use wharf::model_formats::{OpenAiApi, ToolSlice};
use wharf::{Env, Runtime};

const API: OpenAiApi = OpenAiApi::ChatCompletions;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let policy = ApprovalPolicy::new().allow("clock/now");
    let builder = Runtime::builder().env(Env::of_process()).discover(".").approver(policy);
    let runtime = builder.start().await?;
    let tools = runtime.ready().await.tools().to_openai(API);
    let mut messages = vec![json!({ "role": "user", "content": "What time is it?" })];
    for _turn in 0..10 {
        let request = json!({ "model": var("MODEL")?, "messages": messages, "tools": tools });
        let response = complete(request).await?;
        let message = &response["choices"][0]["message"];
        messages.push(message.clone());
        let Some(calls) = message["tool_calls"].as_array() else {
            println!("{}", message["content"].as_str().unwrap_or_default());
            break;
        };
        let mut images = Vec::new();
        for call in calls {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let function = &call["function"];
            let outcome =
                runtime.call(&text(&function["name"]), text(&function["arguments"])).await;
            let result = outcome.to_openai(API, &text(&call["id"]), &runtime.result_limits());
            messages.push(json!(result.item));
            images.extend(result.images.map(|message| json!(message)));
        }
        messages.extend(images);
    }
    runtime.shutdown().await;
    Ok(())
}

/// Sends one request; `ureq` blocks, so it runs on a thread for blocking calls.
async fn complete(request: Value) -> Result<Value, Box<dyn Error>> {
    let url = format!("{}/chat/completions", var("OPENAI_BASE_URL")?);
    let key = format!("Bearer {}", var("OPENAI_API_KEY")?);
    let send = move || {
        let sent = ureq::post(url).header("Authorization", key).send_json(request);
        sent?.body_mut().read_json::<Value>()
    };
    Ok(tokio::task::spawn_blocking(send).await??)
}
