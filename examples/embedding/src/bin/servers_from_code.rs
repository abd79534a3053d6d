//! Uses servers that are defined in code. No file is read, and nothing is written.

use std::time::Duration;

use serde_json::json;
use wharf::approval::AllowAll;
use wharf::{Env, Http, Runtime, Settings, Stdio};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Every text is literal: nothing in it is expanded, looked up or run.
    let clock = Stdio::new("uvx").args(["mcp-server-time", "--utc"]).env("LOG_LEVEL", "ERROR");
    let tracker = Http::new("http://127.0.0.1:1/mcp").bearer("secret token").lazy();
    let runtime = Runtime::builder()
        .env(Env::of_process())
        .server("clock", clock.call_timeout(Duration::from_secs(20)))
        .server("tracker", tracker)
        .settings(Settings::default().with("tools.naming", "precise")?)
        .approver(AllowAll)
        .start()
        .await?;
    for server in runtime.ready().await.servers() {
        println!("{}: {}", server.name, server.status);
    }
    let outcome = runtime.call("clock/set", json!({ "zone": "UTC" })).await;
    println!("{}", outcome.text);
    runtime.shutdown().await;
    Ok(())
}
