//! Responds to requests of the server: fills in every form, and accepts every request.

use wharf_protocol::Json;
use wharf_protocol::envelope::{Notification, RpcError, code};
use wharf_protocol::era::Revision;
use wharf_protocol::peer::{ClientHandler, HandlerFuture, RequestCause};
use wharf_protocol::view::send::{
    self, ElicitationAnswer, ElicitationSupport, Object, RootsSupport, SamplingAnswer,
    SamplingSupport,
};
use wharf_protocol::view::{ClientCapabilities, Elicitation, ElicitationMode, skill};

use crate::{AnyError, schema_values};

/// Returns the capabilities of the client.
pub(crate) fn capabilities() -> ClientCapabilities {
    ClientCapabilities {
        roots: Some(RootsSupport::default()),
        sampling: Some(SamplingSupport::default()),
        elicitation: Some(ElicitationSupport { form: true, url: false }),
        extensions: vec![(skill::EXTENSION.to_owned(), Object::default())],
        ..ClientCapabilities::default()
    }
}

/// Responds at once.
pub(crate) struct ConformanceHandler;

impl ClientHandler for ConformanceHandler {
    fn on_notification(&self, notification: Notification) {
        eprintln!("received {}", notification.method);
    }

    fn on_request(
        &self,
        method: &str,
        params: Option<Json>,
        _: Option<RequestCause>,
    ) -> HandlerFuture {
        let result = match method {
            "elicitation/create" => elicitation(params.unwrap_or_else(Json::object)),
            "sampling/createMessage" => sampling(),
            "roots/list" => Ok(send::roots_result(&[])),
            _ => return ready(method, Err(RpcError::method_not_found(method))),
        };
        ready(method, result.map_err(|error| RpcError::new(code::INTERNAL, error.to_string())))
    }
}

fn ready(method: &str, result: Result<Json, RpcError>) -> HandlerFuture {
    match &result {
        Ok(result) => eprintln!("received {method}, responding {}", result.as_str()),
        Err(error) => eprintln!("received {method}, responding with an error: {error}"),
    }
    Box::pin(std::future::ready(result))
}

fn elicitation(params: Json) -> Result<Json, AnyError> {
    let answer = match Elicitation::read(params).mode() {
        ElicitationMode::Form { schema } => {
            let content = Json::encode(&schema_values::all(&schema.decode()?))?;
            ElicitationAnswer::Accept(Some(Object::try_from(content)?))
        }
        ElicitationMode::Url { .. } | ElicitationMode::Unknown => ElicitationAnswer::Decline,
    };
    Ok(send::elicitation_result(&answer))
}

fn sampling() -> Result<Json, AnyError> {
    let answer = SamplingAnswer {
        model: "none".to_owned(),
        content: vec![send::text_block("ahoy")],
        stop_reason: Some("endTurn".to_owned()),
    };
    // A single block of text is the same in every revision.
    Ok(send::sampling_result(&answer, Revision::LATEST)?)
}
