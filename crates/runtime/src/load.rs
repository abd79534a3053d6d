//! One call for agents: discover all servers, connect to them, return their tools.
//!
//! It always returns a result. If discovery fails, there are no tools and one error with the path
//! `.mcp.json`; the error of a server has the path `mcp:<name>`.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use wharf_config::{Catalog, DiscoveryError, Env, LoadOptions, load};

use crate::builder::RuntimeBuilder;
use crate::connections::ServerSnapshot;
use crate::options::Options;
use crate::runtime::Runtime;
use crate::status::{FailureKind, Status};
use crate::tools::Tool;

/// The result of discovering and loading tools.
#[derive(Debug)]
pub struct LoadedTools {
    /// Live and cached tools, ordered by name.
    pub tools: Vec<Arc<Tool>>,
    /// The errors, by server.
    pub errors: Vec<LoadError>,
    /// The runtime that calls the tools; `None` only if discovery failed.
    pub runtime: Option<Runtime>,
}

/// An error of a server, or of discovery.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(rename_all = "camelCase")]
#[error("{path}: {error}")]
pub struct LoadError {
    /// `mcp:<server>`, or `.mcp.json` for discovery as a whole.
    pub path: String,
    /// The message, with the last meaningful line of the server's stderr.
    pub error: String,
    /// The kind of failure; none for discovery and for an untrusted server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<FailureKind>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The stderr output of the server since the attempt began: untrusted text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

impl LoadError {
    fn from_discovery_error(error: &DiscoveryError) -> Self {
        Self {
            path: ".mcp.json".to_owned(),
            error: error.to_string(),
            kind: None,
            hint: Some(error.hint().to_owned()),
            stderr: String::new(),
        }
    }

    fn from_server(server: &ServerSnapshot) -> Option<Self> {
        let failure = server.failure.as_deref();
        Some(Self {
            path: format!("mcp:{}", server.name),
            error: server.connection_problem()?,
            kind: failure.map(|failure| failure.kind),
            hint: failure.and_then(|failure| failure.hint.clone()),
            stderr: failure.map(|failure| failure.stderr.clone()).unwrap_or_default(),
        })
    }
}

/// Finds every server that is configured for a folder, without contacting any of them; the same as
/// [`config::load`](crate::config::load).
///
/// # Errors
/// If the working folder does not exist, or `WHARF_MCP_SERVERS` is not a JSON object.
pub fn discover_mcp_servers(env: &Env, options: LoadOptions) -> Result<Catalog, DiscoveryError> {
    load(env, options)
}

/// Finds every server that is configured for a folder, connects to all of them at once, and returns
/// their tools, at the latest as [`Runtime::ready`] does. `cwd` replaces the working folder of the
/// environment.
///
/// ```
/// use wharf::{Env, Options, Platform, discover_and_load_mcp_tools};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let env = Env::new(Platform::HOST, folder.path()).with_variable("WHARF_MCP_SERVERS", "no JSON");
/// let loaded = discover_and_load_mcp_tools(folder.path(), Options::new(env)).await;
/// assert!(loaded.tools.is_empty());
/// assert_eq!(loaded.errors[0].path, ".mcp.json");
/// # Ok(())
/// # }
/// ```
pub async fn discover_and_load_mcp_tools(cwd: &Path, options: Options) -> LoadedTools {
    let runtime = match RuntimeBuilder::from_options(options).discover(cwd).start().await {
        Ok(runtime) => runtime,
        Err(error) => {
            let errors = vec![LoadError::from_discovery_error(&error)];
            return LoadedTools { tools: Vec::new(), errors, runtime: None };
        }
    };
    let snapshot = runtime.ready().await;
    let in_trouble = snapshot.servers().filter(|server| server.status != Status::Disabled);
    let errors = in_trouble.filter_map(|server| LoadError::from_server(server)).collect();
    let tools = snapshot.registry().tools().to_vec();
    LoadedTools { tools, errors, runtime: Some(runtime) }
}
