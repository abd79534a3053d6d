//! Sends the probes of the revision negotiation (`server/discover`, `initialize`) and reports their
//! results to it.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::ConnectOptions;
use crate::Json;
use crate::era::{Era, Negotiation, NegotiationStep, Probe, ProbeEvent, Revision};
use crate::peer::{ClientConnection, MetaWriter, Peer, RequestOptions, ServerProfile};
use crate::session::{
    ClientHandler, ClientRequest, Deadline, Observer, RequestError, SessionCore, SessionViolation,
    is_about_request,
};
#[cfg(feature = "http")]
use crate::transport::ClientTransport;
use crate::view::send;
use crate::view::{DiscoverResult, InitializeResult};

/// The result of probing.
pub(super) enum ProbeOutcome {
    /// The revision of the server and the result of its probe.
    Settled { revision: Revision, result: Json },
    /// The process has to be started again.
    Restart(Probe),
    /// Try HTTP+SSE next; contains the error of Streamable HTTP.
    TryHttpSse(RequestError),
}

/// Sends probes, starting with `first`, until the negotiation ends.
pub(super) async fn probe(
    connection: &ClientConnection,
    negotiation: &mut Negotiation,
    first: Probe,
    options: &ConnectOptions,
) -> Result<ProbeOutcome, RequestError> {
    let mut asked = FuturesUnordered::new();
    asked.push(send_probe(connection, first, options));
    let mut is_quiet = true;
    let mut last = RequestError::InvalidResponse("no usable result".into());
    loop {
        let (step, probe) = tokio::select! {
            Some((probe, answer)) = asked.next() => {
                is_quiet = false;
                let step = match answer {
                    Ok(result) => {
                        last = RequestError::InvalidResponse("no usable result".into());
                        negotiation.next(ProbeEvent::Answered(probe, Ok(&result)))
                    }
                    Err(error) => {
                        let Some(step) = next_step(negotiation, probe, &error) else {
                            return Err(error);
                        };
                        last = error;
                        step
                    }
                };
                (step, Some(probe))
            }
            () = tokio::time::sleep(options.legacy_probe_delay), if is_quiet => {
                is_quiet = false;
                (negotiation.next(ProbeEvent::TimedOut), None)
            }
        };
        match step {
            NegotiationStep::Send(probe) => asked.push(send_probe(connection, probe, options)),
            NegotiationStep::Restart(probe) => return Ok(ProbeOutcome::Restart(probe)),
            NegotiationStep::Wait if !asked.is_empty() => {}
            NegotiationStep::TryEventStream => return Ok(ProbeOutcome::TryHttpSse(last)),
            NegotiationStep::Settled { revision, result, violation } => {
                if let Some(violation) = violation {
                    connection.core.violations.add(SessionViolation::Other(violation.into()));
                }
                #[cfg(feature = "http")]
                if let ClientTransport::StreamableHttp(http) = &connection.transport {
                    http.finish_negotiation(revision);
                }
                if probe.is_some_and(|probe| matches!(probe, Probe::Initialize(_))) {
                    send_initialized(connection, options).await?;
                }
                return Ok(ProbeOutcome::Settled { revision, result });
            }
            NegotiationStep::Wait | NegotiationStep::GiveUp => return Err(last),
        }
    }
}

/// Sends `notifications/initialized`.
///
/// Some servers read the POST but never respond to it. Only an authorization error is returned,
/// because then all other requests would fail, too.
async fn send_initialized(
    connection: &ClientConnection,
    options: &ConnectOptions,
) -> Result<(), RequestError> {
    let telling = connection.notify("notifications/initialized", None);
    match tokio::time::timeout(options.legacy_probe_delay, telling).await {
        Ok(Err(error @ (RequestError::Unauthorized { .. } | RequestError::NotRenewed { .. }))) => {
            Err(error)
        }
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => {
            connection
                .core
                .violations
                .add(SessionViolation::Other("does not accept notifications".into()));
            Ok(())
        }
    }
}

/// Reports a failed probe to the negotiation; `None` if the error says nothing about the era.
fn next_step(
    negotiation: &mut Negotiation,
    probe: Probe,
    error: &RequestError,
) -> Option<NegotiationStep> {
    match error {
        // An HTTP+SSE address refuses every POST, and some servers do that in JSON.
        RequestError::Inconclusive { error, status: Some(status) }
            if !is_discover(probe) && is_about_request(*status) && error.data.is_none() =>
        {
            Some(negotiation.next(ProbeEvent::Rejected(probe)))
        }
        RequestError::ErrorResponse(error) | RequestError::Inconclusive { error, .. } => {
            Some(negotiation.next(ProbeEvent::Answered(probe, Err(error))))
        }
        RequestError::Status { status, .. } if is_about_request(*status) => {
            Some(negotiation.next(ProbeEvent::Rejected(probe)))
        }
        RequestError::Status { .. } => Some(negotiation.next(ProbeEvent::Failed(probe))),
        // Some servers close the connection on an unknown method. That counts as a failed probe,
        // also for `initialize` if the server is only remembered as legacy.
        RequestError::StreamEnded if negotiation.has_next_probe(probe) => {
            Some(negotiation.next(ProbeEvent::Failed(probe)))
        }
        error if error.is_connection_closed() && negotiation.has_next_probe(probe) => {
            Some(negotiation.next(ProbeEvent::Failed(probe)))
        }
        RequestError::InvalidResponse(_) => {
            Some(negotiation.next(ProbeEvent::Answered(probe, Ok(&Json::null()))))
        }
        RequestError::Lost { .. } => Some(negotiation.next(ProbeEvent::Exited)),
        _ => None,
    }
}

fn is_discover(probe: Probe) -> bool {
    matches!(probe, Probe::Discover(_))
}

async fn send_probe(
    connection: &ClientConnection,
    probe: Probe,
    options: &ConnectOptions,
) -> (Probe, Result<Json, RequestError>) {
    let (method, revision, params) = match probe {
        Probe::Discover(revision) => ("server/discover", revision, None),
        Probe::Initialize(revision) => {
            let params = send::initialize(revision, &options.capabilities, &options.client);
            ("initialize", revision, Some(params))
        }
    };
    let id = connection.core.next_id();
    let meta_writer = meta_writer(revision, options);
    let request = ClientRequest {
        id,
        method,
        params: params.as_ref(),
        message: meta_writer.request(id, method, params.as_ref(), &RequestOptions::default()),
        deadline: Deadline::never(),
        observer: Observer::None,
        cause: None,
        headers: &[],
    };
    (probe, connection.send_request(request).await)
}

fn meta_writer(revision: Revision, options: &ConnectOptions) -> MetaWriter {
    MetaWriter::new(revision, &options.capabilities, &options.client)
}

/// Creates the session state of a connection.
pub(super) fn new_core(
    options: &ConnectOptions,
    handler: &Arc<dyn ClientHandler>,
) -> Arc<SessionCore> {
    let (tasks, tracer) = (options.tasks.clone(), options.tracer.clone());
    SessionCore::with_tracer(Arc::clone(handler), options.limits, tasks, tracer)
}

/// Creates the peer from the result of the successful probe.
pub(super) fn new_peer(
    connection: ClientConnection,
    revision: Revision,
    result: Json,
    options: &ConnectOptions,
) -> Peer {
    let profile = match revision.era() {
        Era::Modern => {
            let view = DiscoverResult::read(result.clone());
            ServerProfile {
                revision,
                server: view.server_info(),
                capabilities: view.capabilities(),
                instructions: view.instructions(),
                raw: result,
            }
        }
        Era::Legacy => {
            let view = InitializeResult::read(result.clone());
            ServerProfile {
                revision,
                server: view.server_info(),
                capabilities: view.capabilities(),
                instructions: view.instructions(),
                raw: result,
            }
        }
    };
    Peer::new(connection, profile, meta_writer(revision, options))
}
