//! Connects to a server over HTTP: Streamable HTTP if it can, else HTTP+SSE.

use std::sync::Arc;
use std::time::Duration;

use super::probing::{Found, core, peer, probe};
use super::{ConnectError, ConnectOptions, HttpFlavor, HttpSpec};
use crate::era::{Era, Negotiation, Prior, Probe, Revision};
use crate::peer::{Peer, Wire};
use crate::session::{Handler, RequestError};
use crate::transport::http_sse::HttpSse;
use crate::transport::streamable::Streamable;
use crate::transport::{Door, Link};

/// How long the legacy stream may take to stand before we go on without waiting for it.
const STREAM: Duration = Duration::from_millis(500);

/// Connects to a server at a URL.
pub async fn connect_http(
    spec: &HttpSpec,
    options: &ConnectOptions,
    handler: Arc<dyn Handler>,
) -> Result<Peer, ConnectError> {
    let connecting = async {
        match spec.flavor {
            HttpFlavor::Any => streamable_first(spec, options, &handler).await,
            // The event stream belongs to the legacy era.
            HttpFlavor::EventStream if is_pinned_modern(options) => {
                streamable_first(spec, options, &handler).await
            }
            HttpFlavor::EventStream => match event_stream(spec, options, &handler).await {
                Err(RequestError::Status { .. } | RequestError::Nonsense(_)) => {
                    streamable_first(spec, options, &handler).await
                }
                other => other,
            },
        }
    };
    match tokio::time::timeout(options.timeout, connecting).await {
        Ok(Ok(peer)) => Ok(peer),
        Ok(Err(error)) => Err(ConnectError::failed(error, String::new())),
        Err(_) => Err(ConnectError::TimedOut { limit: options.timeout, stderr: String::new() }),
    }
}

async fn streamable_first(
    spec: &HttpSpec,
    options: &ConnectOptions,
    handler: &Arc<dyn Handler>,
) -> Result<Peer, RequestError> {
    let core = core(options, handler);
    let http = Streamable::new(Arc::clone(&core), door(spec, options), spec.target.clone());
    let wire = Wire::new(core, Link::Streamable(Arc::clone(&http)));
    let (mut negotiation, first) = Negotiation::begin(options.prior());
    match probe(&wire, &mut negotiation, first, options).await {
        Ok(Found::Settled { revision, result }) => {
            if revision.era() == Era::Legacy {
                http.open_stream(STREAM).await;
            }
            Ok(peer(wire, revision, result, options))
        }
        Ok(Found::EventStream(error)) => {
            wire.close().await;
            // If that is not there either, the newer transport's reason is the one to show.
            event_stream(spec, options, handler).await.map_err(|older| match older {
                RequestError::Elsewhere => older,
                _ => error,
            })
        }
        Ok(Found::Restart(_)) => Err(RequestError::Cut),
        Err(error) => {
            wire.close().await;
            Err(error)
        }
    }
}

async fn event_stream(
    spec: &HttpSpec,
    options: &ConnectOptions,
    handler: &Arc<dyn Handler>,
) -> Result<Peer, RequestError> {
    let core = core(options, handler);
    let http = HttpSse::open(Arc::clone(&core), door(spec, options), &spec.target).await?;
    let wire = Wire::new(core, Link::EventStream(http));
    let (mut negotiation, first) = legacy(options);
    match probe(&wire, &mut negotiation, first, options).await? {
        Found::Settled { revision, result } => Ok(peer(wire, revision, result, options)),
        Found::Restart(_) | Found::EventStream(_) => Err(RequestError::Cut),
    }
}

/// Only legacy servers have this transport.
fn legacy(options: &ConnectOptions) -> (Negotiation, Probe) {
    let is_legacy = |revision: &Revision| revision.era() == Era::Legacy;
    match options.prior() {
        Prior::Pinned(revision) if is_legacy(&revision) => {
            Negotiation::begin(Prior::Pinned(revision))
        }
        _ => {
            let remembered = options.remembered.filter(is_legacy);
            let revision = remembered.unwrap_or(Revision::LATEST_LEGACY);
            Negotiation::begin(Prior::Remembered(revision))
        }
    }
}

fn is_pinned_modern(options: &ConnectOptions) -> bool {
    options.pinned.is_some_and(|revision| revision.era() == Era::Modern)
}

fn door(spec: &HttpSpec, options: &ConnectOptions) -> Door {
    let home = spec.target.origin().clone();
    let door = Door::new(spec.client.clone(), Arc::clone(&spec.authorizer), home);
    door.traced(options.tracer.clone())
}
