//! Shows servers as they connect, and reacts to those that come late.

use std::time::Duration;

use wharf::{Env, Event, Runtime, StartupMode};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let builder = Runtime::builder().env(Env::of_process()).discover(".");
    let builder = builder.startup_mode(StartupMode::Background);
    // Subscribed before the start, so that no event is missed.
    let mut events = builder.events();
    let runtime = builder.start().await?;
    println!("{} servers", runtime.ready().await.servers().count());
    let watch = async {
        while let Some(event) = events.next().await {
            match event {
                Event::Status { server, status, failure } => {
                    let why = failure.map(|failure| format!(": {}", failure.message));
                    println!("{server} is {status}{}", why.unwrap_or_default());
                }
                Event::ToolsChanged { server } => {
                    let tools = runtime.tools();
                    let count = tools.iter().filter(|tool| *tool.server() == server).count();
                    println!("{server} has {count} tools");
                }
                Event::Problem { problem, .. } => println!("{}", problem.message),
                _ => {}
            }
        }
    };
    // Until Ctrl-C, or for two seconds here.
    let _ = tokio::time::timeout(Duration::from_secs(2), watch).await;
    runtime.shutdown().await;
    Ok(())
}
