//! Connects to a server that is started as a process.

use std::sync::Arc;
use std::time::Duration;

use super::probing::{Found, core, peer, probe};
use super::{ConnectError, ConnectOptions, StdioSpec};
use crate::era::Negotiation;
use crate::peer::{Peer, Wire};
use crate::session::{EndReason, Ended, Handler, RequestError};
use crate::transport::process::Process;
use crate::transport::{Link, stdio};

/// Starts a server and connects to it.
///
/// A server that ends on the modern question is started a second time and asked the legacy one.
/// Dropped, it ends the server with the grace of `spec`.
pub async fn connect_stdio(
    spec: &StdioSpec,
    options: &ConnectOptions,
    handler: Arc<dyn Handler>,
) -> Result<Peer, ConnectError> {
    let (mut negotiation, mut first) = Negotiation::begin(options.prior());
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
            Err(_) => late(&wire, options.timeout),
        };
        wire.close().await;
        return Err(failure);
    }
}

/// Says why there was no answer in time: a program that only chats will not answer later either.
fn late(wire: &Wire, limit: Duration) -> ConnectError {
    let stderr = wire.stderr();
    if !wire.core.heard_only_junk() {
        return ConnectError::TimedOut { limit, stderr };
    }
    let ended = Arc::new(Ended { reason: EndReason::NotMcp, stderr });
    ConnectError::failed(RequestError::Lost { ended, never_sent: false }, String::new())
}

async fn start(
    spec: &StdioSpec,
    options: &ConnectOptions,
    handler: &Arc<dyn Handler>,
) -> Result<Wire, ConnectError> {
    let core = core(options, handler);
    let unwanted = core.stop.clone().drop_guard();
    let (StdioSpec { launch, grace, log }, owner) = (spec.clone(), Arc::clone(&core));
    // A task of its own, because whoever gives up now must be able to wait for the end of a process
    // that is just being born.
    let starting = core.tasks.spawn(async move {
        let process = Process::start(launch, &owner.tasks, log).await?;
        Ok(stdio::open(&owner, process, grace))
    });
    let link = match starting.await {
        Ok(started) => started.map_err(ConnectError::Start)?,
        Err(failure) => match failure.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Nobody aborts it, so the runtime is going down, and we with it.
            Err(_) => std::future::pending().await,
        },
    };
    let wire = Wire::new(core, Link::Pipe(link));
    unwanted.disarm();
    Ok(wire)
}
