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

static KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"resultType\""));

impl Peer {
    /// Asks, answers what the server asks back, and returns the final result.
    ///
    /// A result of the kind `task` is returned as it is. What goes wrong after the first answer is
    /// [`RequestError::Midway`].
    pub(super) async fn ask_in_rounds(
        &self,
        method: &str,
        params: &Json,
        options: &RequestOptions,
        headers: &[(HeaderName, HeaderValue)],
    ) -> Result<Json, RequestError> {
        let result = self.request_mirrored(method, Some(params), options, headers).await?;
        if !result.is_object() {
            return Err(RequestError::Nonsense("the result is no object".into()));
        }
        if self.era() == Era::Legacy || kind(&result) == ResultType::Complete {
            return Ok(result);
        }
        let rest = Box::pin(self.go_on(method, params, options, (headers, result)));
        rest.await.map_err(RequestError::midway)
    }

    /// Answers and asks again, until there is a result.
    async fn go_on(
        &self,
        method: &str,
        params: &Json,
        options: &RequestOptions,
        (headers, mut result): (&[(HeaderName, HeaderValue)], Json),
    ) -> Result<Json, RequestError> {
        for _ in 0..self.limits().rounds {
            match kind(&result) {
                ResultType::Complete | ResultType::Task => return Ok(result),
                ResultType::InputRequired => {}
                ResultType::Other(kind) => {
                    let kind: String = kind.chars().take(64).collect();
                    return Err(RequestError::Nonsense(format!("unknown kind of result `{kind}`")));
                }
            }
            let again = self.with_answers(params, result).await?;
            result = self.request_mirrored(method, Some(&again), options, headers).await?;
        }
        match kind(&result) {
            ResultType::Complete | ResultType::Task => Ok(result),
            _ => Err(RequestError::TooManyRounds(self.limits().rounds)),
        }
    }

    async fn with_answers(&self, params: &Json, result: Json) -> Result<Json, RequestError> {
        let asked = InputRequired::read(result);
        let answers = self.answers(asked.requests()).await?;
        // The state is the server's own; it goes back byte for byte.
        Ok(send::with_responses(params, &answers, asked.request_state().as_ref()))
    }

    /// Answers every question, under the server's own keys.
    pub(super) async fn answers(
        &self,
        questions: Vec<InputRequest>,
    ) -> Result<Vec<(String, Json)>, RequestError> {
        let core = &self.0.wire.core;
        let mut answers = Vec::with_capacity(questions.len());
        for InputRequest { key, method, params } in questions {
            let answer = tokio::select! {
                biased;
                // Nobody is left who could be told the answer.
                ended = self.ended() => return Err(RequestError::Lost { ended, never_sent: true }),
                answer = core.ask_handler(&method, params) => answer,
            };
            answers.push((key.into(), answer.map_err(RequestError::Unanswered)?));
        }
        Ok(answers)
    }
}

/// Tells the kind of a result; without a word about it, a result is complete.
///
/// Large results are not taken apart for this: what is inside a string cannot look like the key,
/// as its quotes are escaped there.
fn kind(result: &Json) -> ResultType {
    let text = result.as_str();
    // Nearly all servers write it first or last.
    if text.starts_with("{\"resultType\":\"complete\"")
        || text.ends_with(",\"resultType\":\"complete\"}")
    {
        return ResultType::Complete;
    }
    let Some(place) = KEY.find(text.as_bytes()) else { return ResultType::Complete };
    let rest = &text[place + KEY.needle().len()..];
    // Where it says `complete` and nothing else anywhere, it does not matter on which level.
    if rest.starts_with(":\"complete\"") && KEY.find(rest.as_bytes()).is_none() {
        return ResultType::Complete;
    }
    ResultType::of(result)
}
