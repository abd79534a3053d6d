//! Connects to a server that is started as a process.

use std::sync::Arc;

use super::probing::{Found, peer, probe};
use super::{ConnectError, ConnectOptions, StdioSpec};
use crate::era::Negotiation;
use crate::peer::{Core, Handler, Peer, Wire};
use crate::transport::process::Process;
use crate::transport::{Link, stdio};

/// Starts a server and connects to it.
///
/// A server that ends on the modern question is started a second time and asked the legacy one.
pub async fn connect_stdio(
    spec: &StdioSpec,
    options: &ConnectOptions,
    handler: Arc<dyn Handler>,
) -> Result<Peer, ConnectError> {
    let (mut negotiation, mut first) = Negotiation::begin(options.remembered);
    let until = tokio::time::Instant::now() + options.timeout;
    loop {
        let wire = start(spec, options, &handler).await?;
        let probing = probe(&wire, &mut negotiation, first, options);
        let failure = match tokio::time::timeout_at(until, probing).await {
            Ok(Ok(Found::Settled { revision, result })) => {
                return Ok(peer(wire, revision, result, options));
            }
            Ok(Ok(Found::Restart(probe))) => {
                first = probe;
                wire.close().await;
                continue;
            }
            Ok(Ok(Found::EventStream(error)) | Err(error)) => {
                ConnectError::failed(error, wire.stderr())
            }
            Err(_) => ConnectError::TimedOut { limit: options.timeout, stderr: wire.stderr() },
        };
        wire.close().await;
        return Err(failure);
    }
}

async fn start(
    spec: &StdioSpec,
    options: &ConnectOptions,
    handler: &Arc<dyn Handler>,
) -> Result<Wire, ConnectError> {
    let core = Core::new(Arc::clone(handler), options.limits);
    let process = Process::start(spec.launch.clone(), &core.tasks, spec.log.clone()).await?;
    let link = stdio::open(&core, process, spec.grace);
    Ok(Wire::new(core, Link::Pipe(link)))
}
