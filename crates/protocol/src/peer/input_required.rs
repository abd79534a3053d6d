//! Requests that a server answers with questions of its own (2026-07-28, multi round-trip).
//!
//! Every question goes to the handler, then the same request is sent again, with a new id, the
//! answers, and the server's state exactly as it came. How often a server may ask is bounded.

use std::sync::LazyLock;

use http::{HeaderName, HeaderValue};
use memchr::memmem::Finder;

use super::{Peer, RequestOptions};
use crate::Json;
use crate::era::Era;
use crate::session::RequestError;
use crate::view::{InputRequest, InputRequired, ResultType, send};

static RESULT_TYPE_KEY: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new(b"\"resultType\""));

impl Peer {
    /// Asks, answers what the server asks back, and returns the final result.
    ///
    /// A result of the kind `task` is returned as it is. What goes wrong after the first answer is
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
            return Err(RequestError::InvalidResponse("the result is no object".into()));
        }
        if self.era() == Era::Legacy || result_type(&result) == ResultType::Complete {
            return Ok(result);
        }
        let rest = Box::pin(self.answer_and_repeat(method, params, options, (headers, result)));
        rest.await.map_err(RequestError::after_start)
    }

    /// Answers and asks again, until there is a result.
    async fn answer_and_repeat(
        &self,
        method: &str,
        params: &Json,
        options: &RequestOptions,
        (headers, mut result): (&[(HeaderName, HeaderValue)], Json),
    ) -> Result<Json, RequestError> {
        for _ in 0..self.limits().rounds {
            match result_type(&result) {
                ResultType::Complete | ResultType::Task => return Ok(result),
                ResultType::InputRequired => {}
                ResultType::Other(kind) => {
                    let kind: String = kind.chars().take(64).collect();
                    return Err(RequestError::InvalidResponse(format!(
                        "unknown kind of result `{kind}`"
                    )));
                }
            }
            let again = self.params_with_answers(params, result).await?;
            result = self.request_with_headers(method, Some(&again), options, headers).await?;
        }
        match result_type(&result) {
            ResultType::Complete | ResultType::Task => Ok(result),
            _ => Err(RequestError::TooManyRounds(self.limits().rounds)),
        }
    }

    async fn params_with_answers(&self, params: &Json, result: Json) -> Result<Json, RequestError> {
        let asked = InputRequired::read(result);
        let answers = self.collect_answers(asked.requests()).await?;
        // The state is the server's own; it goes back byte for byte.
        Ok(send::with_responses(params, &answers, asked.request_state().as_ref()))
    }

    /// Answers every question, under the server's own keys.
    pub(super) async fn collect_answers(
        &self,
        questions: Vec<InputRequest>,
    ) -> Result<Vec<(String, Json)>, RequestError> {
        let core = &self.0.connection.core;
        let mut answers = Vec::with_capacity(questions.len());
        for InputRequest { key, method, params } in questions {
            let answer = tokio::select! {
                biased;
                // Nobody is left who could be told the answer.
                ended = self.ended() => return Err(RequestError::Lost { ended, never_sent: true }),
                answer = core.call_handler(&method, params) => answer,
            };
            answers.push((key.into(), answer.map_err(RequestError::InputUnavailable)?));
        }
        Ok(answers)
    }
}

/// Tells the kind of a result; without a word about it, a result is complete.
///
/// Large results are not taken apart for this: what is inside a string cannot look like the key,
/// as its quotes are escaped there.
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
    // Where it says `complete` and nothing else anywhere, it does not matter on which level.
    if rest.starts_with(":\"complete\"") && RESULT_TYPE_KEY.find(rest.as_bytes()).is_none() {
        return ResultType::Complete;
    }
    ResultType::of(result)
}
