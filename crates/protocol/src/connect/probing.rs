//! Asks the probes that the negotiation wants and reports what came of them.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::StatusCode;

use super::ConnectOptions;
use crate::Json;
use crate::envelope;
use crate::era::{Era, Negotiation, Probe, Revision, Sign, Step};
use crate::peer::{Dialect, Peer, Profile, Wire};
use crate::session::{Core, Deadline, Handler, Observer, Question, RequestError, Warning};
use crate::transport::{HttpError, Link};
use crate::view::send;
use crate::view::{DiscoverResult, InitializeResult};

/// What probing came to.
pub(super) enum Found {
    /// The server's revision and its first words.
    Settled { revision: Revision, result: Json },
    /// The process has to be started again.
    Restart(Probe),
    /// The last transport to try is HTTP+SSE; this is why the others failed.
    EventStream(RequestError),
}

/// Probes over `wire`, beginning with `first`.
pub(super) async fn probe(
    wire: &Wire,
    negotiation: &mut Negotiation,
    first: Probe,
    options: &ConnectOptions,
) -> Result<Found, RequestError> {
    let mut asked = FuturesUnordered::new();
    asked.push(ask(wire, first, options));
    let mut is_quiet = true;
    let mut last = RequestError::Nonsense("no usable answer".into());
    loop {
        let (step, probe) = tokio::select! {
            Some((probe, answer)) = asked.next() => {
                is_quiet = false;
                let step = match answer {
                    Ok(result) => {
                        last = RequestError::Nonsense("no usable answer".into());
                        negotiation.next(Sign::Answered(probe, Ok(&result)))
                    }
                    Err(error) => {
                        let Some(step) = refused(negotiation, probe, &error) else {
                            return Err(error);
                        };
                        last = error;
                        step
                    }
                };
                (step, Some(probe))
            }
            () = tokio::time::sleep(options.silence), if is_quiet => {
                is_quiet = false;
                (negotiation.next(Sign::Silence), None)
            }
        };
        match step {
            Step::Ask(probe) => asked.push(ask(wire, probe, options)),
            Step::Restart(probe) => return Ok(Found::Restart(probe)),
            Step::Wait if !asked.is_empty() => {}
            Step::TryEventStream => return Ok(Found::EventStream(last)),
            Step::Settled { revision, result, oddity } => {
                if let Some(oddity) = oddity {
                    wire.core.warnings.add(Warning::Odd(oddity.into()));
                }
                if let Link::Streamable(http) = &wire.link {
                    http.settle(revision);
                }
                if probe.is_some_and(|probe| matches!(probe, Probe::Initialize(_))) {
                    say_initialized(wire, options).await?;
                }
                return Ok(Found::Settled { revision, result });
            }
            Step::Wait | Step::GiveUp => return Err(last),
        }
    }
}

/// Tells the server that the session has begun.
///
/// Some servers never answer the POST, but have read it; only a refusal for lack of credentials
/// means that nothing else will work either.
async fn say_initialized(wire: &Wire, options: &ConnectOptions) -> Result<(), RequestError> {
    let telling = wire.tell("notifications/initialized", None);
    match tokio::time::timeout(options.silence, telling).await {
        Ok(Err(error @ RequestError::Unauthorized { .. })) => Err(error),
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => {
            wire.core.warnings.add(Warning::Odd("does not take notifications".into()));
            Ok(())
        }
    }
}

/// Reports a failed probe; `None` if the failure has nothing to do with eras.
fn refused(negotiation: &mut Negotiation, probe: Probe, error: &RequestError) -> Option<Step> {
    match error {
        RequestError::Refused(refusal) => {
            Some(negotiation.next(Sign::Answered(probe, Err(refusal))))
        }
        // An event stream's address refuses every POST, and some do that in JSON.
        RequestError::Inconclusive { error, status: Some(status) }
            if !is_discover(probe) && is_final(*status) && error.data.is_none() =>
        {
            Some(negotiation.next(Sign::TurnedAway(probe)))
        }
        RequestError::Inconclusive { error, .. } => {
            Some(negotiation.next(Sign::Answered(probe, Err(error))))
        }
        RequestError::Status { status, .. } if is_final(*status) => {
            Some(negotiation.next(Sign::TurnedAway(probe)))
        }
        RequestError::Status { .. } => Some(negotiation.next(Sign::Failed(probe))),
        // Servers also hang up on a question they do not know; a legacy one is remembered as such
        // only until it does that to `initialize`.
        RequestError::Cut if negotiation.may_go_on(probe) => {
            Some(negotiation.next(Sign::Failed(probe)))
        }
        RequestError::Http(error) if has_hung_up(error) && negotiation.may_go_on(probe) => {
            Some(negotiation.next(Sign::Failed(probe)))
        }
        RequestError::Nonsense(_) => {
            Some(negotiation.next(Sign::Answered(probe, Ok(&Json::null()))))
        }
        RequestError::Lost { .. } => Some(negotiation.next(Sign::Gone)),
        _ => None,
    }
}

fn is_discover(probe: Probe) -> bool {
    matches!(probe, Probe::Discover(_))
}

/// Tells whether a status is about the request itself, and not about a moment of trouble.
fn is_final(status: StatusCode) -> bool {
    !status.is_server_error()
        && !matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
}

fn has_hung_up(error: &HttpError) -> bool {
    matches!(error, HttpError::NoAnswer { .. } | HttpError::BrokeOff { .. })
}

async fn ask(
    wire: &Wire,
    probe: Probe,
    options: &ConnectOptions,
) -> (Probe, Result<Json, RequestError>) {
    let (method, params) = match probe {
        Probe::Discover(revision) => {
            let dialect = dialect(revision, options);
            ("server/discover", dialect.params(None, None, &[]))
        }
        Probe::Initialize(revision) => {
            let params = send::initialize(revision, &options.capabilities, &options.client);
            ("initialize", Some(params))
        }
    };
    let id = wire.core.next_id();
    let question = Question {
        id,
        method,
        params: params.as_ref(),
        message: envelope::request(id, method, params.as_ref()),
        deadline: Deadline::never(),
        observer: Observer::Nobody,
        headers: &[],
    };
    (probe, wire.ask(question).await)
}

fn dialect(revision: Revision, options: &ConnectOptions) -> Dialect {
    Dialect::new(revision, &options.capabilities, &options.client)
}

/// Makes the state of a connection.
pub(super) fn core(options: &ConnectOptions, handler: &Arc<dyn Handler>) -> Arc<Core> {
    let (tasks, tracer) = (options.tasks.clone(), options.tracer.clone());
    Core::traced(Arc::clone(handler), options.limits, tasks, tracer)
}

/// Makes the peer for a server that has introduced itself.
pub(super) fn peer(wire: Wire, revision: Revision, result: Json, options: &ConnectOptions) -> Peer {
    let profile = match revision.era() {
        Era::Modern => {
            let view = DiscoverResult::read(result.clone());
            Profile {
                revision,
                server: view.server_info(),
                capabilities: view.capabilities(),
                instructions: view.instructions(),
                answer: result,
            }
        }
        Era::Legacy => {
            let view = InitializeResult::read(result.clone());
            Profile {
                revision,
                server: view.server_info(),
                capabilities: view.capabilities(),
                instructions: view.instructions(),
                answer: result,
            }
        }
    };
    Peer::new(wire, profile, dialect(revision, options))
}
