//! Runs a server that is built on the `rmcp` package, as an independent peer for the client.
//!
//! `wharf-rmcp` serves on stdin and stdout. `wharf-rmcp --http 127.0.0.1:0` serves on HTTP: it
//! prints its URL as the first line, and ends when its stdin ends.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it prints its URL and errors")]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::schemars::JsonSchema;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use serde::Deserialize;
use tokio::net::TcpListener;
use wharf_testkit::server::{ServeTransport, input_ended};

/// The service.
#[derive(Debug, Clone)]
struct RmcpService;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Echo {
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Add {
    a: i64,
    b: i64,
}

#[tool_router]
impl RmcpService {
    #[tool(description = "Returns the text.")]
    fn echo(Parameters(Echo { text }): Parameters<Echo>) -> String {
        text
    }

    #[tool(description = "Adds two whole numbers.")]
    fn add(Parameters(Add { a, b }): Parameters<Add>) -> String {
        a.saturating_add(b).to_string()
    }
}

#[tool_handler]
impl ServerHandler for RmcpService {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ServeTransport::Http(address) = ServeTransport::from_arguments(&arguments)? else {
        RmcpService.serve(stdio()).await?.waiting().await?;
        return Ok(());
    };
    let service = StreamableHttpService::new(
        || Ok(RmcpService),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    tokio::select! {
        served = axum::serve(listener, Router::new().nest_service("/mcp", service)) => served?,
        ended = input_ended() => ended?,
    }
    Ok(())
}
