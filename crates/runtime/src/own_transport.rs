//! Servers in this process, and transports of the program: pipes to a server that it opens itself.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use wharf_config::{CustomTransport, ServerEntry};
#[cfg(feature = "serve")]
use wharf_protocol::serve::McpServer;
use wharf_protocol::transport::PipeOpener;

/// Defines a server that runs in this process: no other process and no socket.
///
/// Each connection gets its own pipe in memory. A panic while it answers a call fails that call.
///
/// What is stored about it (cached tools, pins, permanent approvals) is found again for a server of
/// the same name in the catalog that declares the same name; `.identity(…)` replaces the latter.
///
/// ```
/// use wharf::approval::AllowAll;
/// use wharf::protocol::serve::{FunctionTool, ToolReply, ToolService};
/// use wharf::{Runtime, in_process};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let now = FunctionTool::new("now", async |_| Ok(ToolReply::text("noon")));
/// let clock = ToolService::new("clock", "1.0.0").tool(now.description("Returns the hour."));
/// let builder = Runtime::builder().server("clock", in_process(clock.into_server()));
/// let runtime = builder.approver(AllowAll).start().await?;
/// runtime.ready().await;
/// assert_eq!(runtime.call("clock/now", ()).await.text, "noon");
/// runtime.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "serve")]
pub fn in_process(server: McpServer) -> ServerEntry {
    let declared = server.info().get("name").and_then(|name| name.to::<String>());
    let entry = entry(Arc::new(server), CustomTransport::IN_PROCESS);
    entry.identity(declared.unwrap_or_default())
}

/// Defines a server behind a transport of the program, such as SSH or the pipe into a container.
///
/// [`PipeOpener`] shows how to write one. The pipe is opened again when the connection was lost.
///
/// The library cannot know what is behind the pipe. Therefore nothing of the server is stored beyond
/// the runtime: its tools are not cached, and pins and approvals count until the runtime ends or the
/// catalog has another opener. `.identity("ssh staging.example")` changes that: it says what is
/// behind the pipe, and two openers with the same text are the same server.
pub fn custom_transport(opener: impl PipeOpener) -> ServerEntry {
    entry(Arc::new(opener), CustomTransport::CUSTOM)
}

fn entry(opener: Arc<dyn PipeOpener>, word: &'static str) -> ServerEntry {
    // A random number tells this opener apart from others; its address may be used again.
    let number = RandomState::new().build_hasher().finish();
    ServerEntry::custom(CustomTransport::new(Arc::new(OwnTransport { opener, number }), word))
}

/// What the handle in a catalog is made of.
struct OwnTransport {
    opener: Arc<dyn PipeOpener>,
    number: u64,
}

/// Returns how to open the pipe of such a server; `None` if the handle is of another type.
pub(crate) fn opener(transport: &CustomTransport) -> Option<Arc<dyn PipeOpener>> {
    Some(Arc::clone(&transport.downcast::<OwnTransport>()?.opener))
}

/// Returns a number that only this opener has; `None` if the handle is of another type.
pub(crate) fn number(transport: &CustomTransport) -> Option<u64> {
    Some(transport.downcast::<OwnTransport>()?.number)
}

impl fmt::Debug for OwnTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OwnTransport").finish_non_exhaustive()
    }
}
