//! Multi round-trip requests (2026-07-28): the result `input_required` has requests of the server.
//!
//! The handler answers each of them (elicitation, sampling, roots). Then the same request is sent
//! again with a new id, the answers and the server's request state unchanged. The number of rounds
//! is limited.

use std::sync::LazyLock;

use http::{HeaderName, HeaderValue};
use memchr::memmem::Finder;

use super::{Peer, RequestOptions};
use crate::Json;
use crate::era::Era;
use crate::session::{RequestCause, RequestError};
use crate::view::{InputRequest, ResultType, send};

static RESULT_TYPE_KEY: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new(b"\"resultType\""));

/// A request that is repeated with the answers to input requests.
struct Exchange<'a> {
    method: &'a str,
    params: &'a Json,
    options: &'a RequestOptions,
    headers: &'a [(HeaderName, HeaderValue)],
}

impl Peer {
    /// Sends a request, answers the input requests of the server, and returns the final result.
    ///
    /// A result of the type `task` is returned unchanged. Errors after the first response are
    /// [`RequestError::AfterStart`].
    pub(super) async fn request_with_input(
        &self,
        method: &str,
        params: &Json,
        options: &RequestOptions,
        headers: &[(HeaderName, HeaderValue)],
    ) -> Result<Json, RequestError> {
        let result = self.request_with_headers(method, Some(params), options, headers).await?;
        if !result.is_object() {
            return Err(RequestError::InvalidResponse("the result is not an object".into()));
        }
        if self.era() == Era::Legacy || result_type(&result) == ResultType::Complete {
            return Ok(result);
        }
        let exchange = Exchange { method, params, options, headers };
        let rest = Box::pin(self.answer_and_repeat(exchange, result));
        rest.await.map_err(RequestError::after_start)
    }

    /// Answers input requests and repeats the request until there is a final result.
    async fn answer_and_repeat(
        &self,
        exchange: Exchange<'_>,
        mut result: Json,
    ) -> Result<Json, RequestError> {
        let Exchange { method, params, options, headers } = exchange;
        for _ in 0..self.limits().rounds {
            match result_type(&result) {
                ResultType::Complete | ResultType::Task => return Ok(result),
                ResultType::InputRequired => {}
                ResultType::Other(kind) => {
                    let kind: String = kind.chars().take(64).collect();
                    return Err(RequestError::InvalidResponse(format!(
                        "unknown result type `{kind}`"
                    )));
                }
            }
            let again = self.params_with_answers(params, &result, options).await?;
            result = self.request_with_headers(method, Some(&again), options, headers).await?;
        }
        match result_type(&result) {
            ResultType::Complete | ResultType::Task => Ok(result),
            _ => Err(RequestError::TooManyRounds(self.limits().rounds)),
        }
    }

    async fn params_with_answers(
        &self,
        params: &Json,
        result: &Json,
        options: &RequestOptions,
    ) -> Result<Json, RequestError> {
        let requests = InputRequest::list(result);
        let answers = self.collect_answers(requests, options.cause.as_ref()).await?;
        // The request state is opaque and goes back byte for byte.
        let state = result.get("requestState").filter(|state| !state.is_null());
        Ok(send::with_responses(params, &answers, state.as_ref()))
    }

    /// Asks the handler to answer each input request; the keys are those of the server.
    pub(super) async fn collect_answers(
        &self,
        requests: Vec<InputRequest>,
        cause: Option<&RequestCause>,
    ) -> Result<Vec<(String, Json)>, RequestError> {
        let core = &self.0.connection.core;
        let mut answers = Vec::with_capacity(requests.len());
        for InputRequest { key, method, params } in requests {
            let answer = tokio::select! {
                biased;
                // After the session has ended, the answers cannot be sent.
                ended = self.ended() => return Err(RequestError::Lost { ended, never_sent: true }),
                answer = core.call_handler(&method, params, cause.cloned()) => answer,
            };
            answers.push((key.into(), answer.map_err(RequestError::InputUnavailable)?));
        }
        Ok(answers)
    }
}

/// Returns the type of a result; a result without `resultType` is complete.
///
/// Large results are searched as text, not parsed: the key cannot occur inside a string, because
/// its quotes would be escaped there.
fn result_type(result: &Json) -> ResultType {
    let text = result.as_str();
    // Nearly all servers write it first or last.
    if text.starts_with("{\"resultType\":\"complete\"")
        || text.ends_with(",\"resultType\":\"complete\"}")
    {
        return ResultType::Complete;
    }
    let Some(place) = RESULT_TYPE_KEY.find(text.as_bytes()) else { return ResultType::Complete };
    let rest = &text[place + RESULT_TYPE_KEY.needle().len()..];
    // If the only occurrence says `complete`, its nesting level does not matter.
    if rest.starts_with(":\"complete\"") && RESULT_TYPE_KEY.find(rest.as_bytes()).is_none() {
        return ResultType::Complete;
    }
    ResultType::of(result)
}
