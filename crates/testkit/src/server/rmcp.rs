//! A service that is built on the `rmcp` package, as an independent peer for the client.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::schemars::JsonSchema;
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde::Deserialize;

/// A service with the tools `echo` and `add`.
#[derive(Debug, Clone)]
pub struct RmcpService;

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
