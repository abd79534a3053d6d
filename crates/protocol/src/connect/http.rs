//! Connects to a server over HTTP: Streamable HTTP if possible, else HTTP+SSE.

use std::sync::Arc;
use std::time::Duration;

use super::probe::{ProbeOutcome, new_core, new_peer, probe};
use super::{ConnectError, ConnectOptions, HttpSpec, HttpTransport};
use crate::era::{Era, KnownRevision, Negotiation, Probe, Revision};
use crate::peer::{ClientConnection, Peer};
use crate::session::{ClientHandler, RequestError};
use crate::transport::http_sse::HttpSse;
use crate::transport::streamable::StreamableHttp;
use crate::transport::{AuthorizedClient, ClientTransport};

/// How long to wait for the legacy GET stream to open.
const STREAM_LIMIT: Duration = Duration::from_millis(500);

/// Connects to a server at a URL.
pub async fn connect_http(
    spec: &HttpSpec,
    options: &ConnectOptions,
    handler: Arc<dyn ClientHandler>,
) -> Result<Peer, ConnectError> {
    let connecting = async {
        match spec.http_transport {
            HttpTransport::Auto => connect_streamable(spec, options, &handler).await,
            // HTTP+SSE exists only in the legacy era.
            HttpTransport::PreferSse if is_pinned_modern(options) => {
                connect_streamable(spec, options, &handler).await
            }
            HttpTransport::PreferSse => match connect_http_sse(spec, options, &handler).await {
                Err(RequestError::Status { .. } | RequestError::InvalidResponse(_)) => {
                    connect_streamable(spec, options, &handler).await
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

async fn connect_streamable(
    spec: &HttpSpec,
    options: &ConnectOptions,
    handler: &Arc<dyn ClientHandler>,
) -> Result<Peer, RequestError> {
    let core = new_core(options, handler);
    let http = StreamableHttp::new(
        Arc::clone(&core),
        authorized_client(spec, options),
        spec.target.clone(),
    );
    let connection =
        ClientConnection::new(core, ClientTransport::StreamableHttp(Arc::clone(&http)));
    let (mut negotiation, first) = Negotiation::begin(options.known_revision());
    match probe(&connection, &mut negotiation, first, options).await {
        Ok(ProbeOutcome::Settled { revision, result }) => {
            if revision.era() == Era::Legacy {
                http.open_stream(STREAM_LIMIT).await;
            }
            Ok(new_peer(connection, revision, result, options))
        }
        Ok(ProbeOutcome::TryHttpSse(error)) => {
            connection.close().await;
            // If HTTP+SSE fails as well, the error of Streamable HTTP is returned.
            connect_http_sse(spec, options, handler).await.map_err(|older| match older {
                RequestError::EndpointOnOtherOrigin => older,
                _ => error,
            })
        }
        Ok(ProbeOutcome::Restart(_)) => Err(RequestError::StreamEnded),
        Err(error) => {
            connection.close().await;
            Err(error)
        }
    }
}

async fn connect_http_sse(
    spec: &HttpSpec,
    options: &ConnectOptions,
    handler: &Arc<dyn ClientHandler>,
) -> Result<Peer, RequestError> {
    let core = new_core(options, handler);
    let http =
        HttpSse::open(Arc::clone(&core), authorized_client(spec, options), &spec.target).await?;
    let connection = ClientConnection::new(core, ClientTransport::HttpSse(http));
    let (mut negotiation, first) = begin_legacy(options);
    match probe(&connection, &mut negotiation, first, options).await? {
        ProbeOutcome::Settled { revision, result } => {
            Ok(new_peer(connection, revision, result, options))
        }
        ProbeOutcome::Restart(_) | ProbeOutcome::TryHttpSse(_) => Err(RequestError::StreamEnded),
    }
}

/// Starts a negotiation for HTTP+SSE, which only legacy servers have.
fn begin_legacy(options: &ConnectOptions) -> (Negotiation, Probe) {
    let is_legacy = |revision: &Revision| revision.era() == Era::Legacy;
    match options.known_revision() {
        KnownRevision::Pinned(revision) if is_legacy(&revision) => {
            Negotiation::begin(KnownRevision::Pinned(revision))
        }
        _ => {
            let remembered = options.remembered.filter(is_legacy);
            let revision = remembered.unwrap_or(Revision::LATEST_LEGACY);
            Negotiation::begin(KnownRevision::Remembered(revision))
        }
    }
}

fn is_pinned_modern(options: &ConnectOptions) -> bool {
    options.pinned.is_some_and(|revision| revision.era() == Era::Modern)
}

fn authorized_client(spec: &HttpSpec, options: &ConnectOptions) -> AuthorizedClient {
    let credentials_origin = spec.target.origin().clone();
    let client = AuthorizedClient::new(
        spec.client.clone(),
        Arc::clone(&spec.authorizer),
        credentials_origin,
    );
    client.with_tracer(options.tracer.clone())
}
