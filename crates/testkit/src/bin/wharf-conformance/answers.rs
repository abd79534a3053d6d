//! What the server is told when it asks: every form is filled in, every wish is granted.

use wharf_protocol::Json;
use wharf_protocol::envelope::{Notification, RpcError, code};
use wharf_protocol::era::Revision;
use wharf_protocol::peer::{ClientHandler, HandlerFuture};
use wharf_protocol::view::send::{
    self, ElicitationAnswer, ElicitationSupport, Object, RootsSupport, SamplingAnswer,
    SamplingSupport,
};
use wharf_protocol::view::{ClientCapabilities, Elicitation, ElicitationMode, skill};

use crate::{Failure, sample};

/// What we can do for a server.
pub(crate) fn capabilities() -> ClientCapabilities {
    ClientCapabilities {
        roots: Some(RootsSupport::default()),
        sampling: Some(SamplingSupport::default()),
        elicitation: Some(ElicitationSupport { form: true, url: false }),
        extensions: vec![(skill::EXTENSION.to_owned(), Object::default())],
        ..ClientCapabilities::default()
    }
}

/// Answers at once.
pub(crate) struct Answers;

impl ClientHandler for Answers {
    fn on_notification(&self, notification: Notification) {
        eprintln!("told {}", notification.method);
    }

    fn on_request(&self, method: &str, params: Option<Json>) -> HandlerFuture {
        let answer = match method {
            "elicitation/create" => elicitation(params.unwrap_or_else(Json::object)),
            "sampling/createMessage" => sampling(),
            "roots/list" => Ok(send::roots_result(&[])),
            _ => return ready(method, Err(RpcError::method_not_found(method))),
        };
        ready(method, answer.map_err(|error| RpcError::new(code::INTERNAL, error.to_string())))
    }
}

fn ready(method: &str, answer: Result<Json, RpcError>) -> HandlerFuture {
    match &answer {
        Ok(answer) => eprintln!("asked {method}, answering {}", answer.as_str()),
        Err(error) => eprintln!("asked {method}, answering with an error: {error}"),
    }
    Box::pin(std::future::ready(answer))
}

fn elicitation(params: Json) -> Result<Json, Failure> {
    let answer = match Elicitation::read(params).mode() {
        ElicitationMode::Form { schema } => {
            let content = Json::encode(&sample::everything(&schema.decode()?))?;
            ElicitationAnswer::Accept(Some(Object::try_from(content)?))
        }
        ElicitationMode::Url { .. } | ElicitationMode::Unknown => ElicitationAnswer::Decline,
    };
    Ok(send::elicitation_result(&answer))
}

fn sampling() -> Result<Json, Failure> {
    let answer = SamplingAnswer {
        model: "none".to_owned(),
        content: vec![send::text_block("ahoy")],
        stop_reason: Some("endTurn".to_owned()),
    };
    // A single block of text is the same in every revision.
    Ok(send::sampling_result(&answer, Revision::LATEST)?)
}
