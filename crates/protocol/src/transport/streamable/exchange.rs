//! One request over HTTP, from its headers to its answer.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tokio::sync::{Semaphore, oneshot};

use super::reply::{self, Reading};
use super::session::{Seen, Session};
use crate::envelope;
use crate::era::{Revision, header_value};
use crate::json::text_of;
use crate::peer::{Answer, Core, EndReason, Ended, Question, RequestError, Speaker, Warning};
use crate::peer::{awaited, cancellation};
use crate::transport::Door;
use crate::transport::client::{HttpError, Response, Target};
use crate::{Json, scan};

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
pub(super) const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// How long the goodbye to a session may take.
const GOODBYE: Duration = Duration::from_millis(500);
/// How much of a body that is no answer is looked at.
const EXCERPT: usize = 64 << 10;

/// A server behind one URL.
pub(crate) struct Streamable {
    pub(super) core: Arc<Core>,
    pub(super) session: Session,
    door: Door,
    target: Target,
    /// Where the server redirected us to.
    moved: OnceLock<Target>,
    /// One renewal of the session at a time.
    renewal: Semaphore,
}

/// What is sent besides the body.
pub(super) struct Wrapping<'a> {
    pub(super) method: Method,
    pub(super) seen: &'a Seen,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Streamable {
    pub(crate) fn new(core: Arc<Core>, door: Door, target: Target) -> Arc<Self> {
        let ending = Arc::clone(&core);
        // There is no connection that could end; the session is over when somebody says so.
        core.tasks.spawn(async move {
            ending.stop.cancelled().await;
            ending.end(Ended { reason: EndReason::Closed, stderr: String::new() }, &[]);
        });
        Arc::new(Self {
            core,
            session: Session::default(),
            door,
            target,
            moved: OnceLock::new(),
            renewal: Semaphore::new(1),
        })
    }

    /// Fixes the revision, once it is known.
    pub(crate) fn settle(&self, revision: Revision) {
        self.session.settle(revision);
    }

    /// Sends a request and reads its answer, which may also arrive on another stream.
    pub(crate) async fn exchange(
        self: &Arc<Self>,
        question: &Question<'_>,
        body: Bytes,
        mut answer: oneshot::Receiver<Answer>,
    ) -> Result<Json, RequestError> {
        let mut has_renewed = false;
        loop {
            let seen = self.seen_by(question.method);
            let headers = headers(question, &seen);
            let wrapping =
                Wrapping { method: Method::POST, seen: &seen, headers, body: body.clone() };
            let response = self.send(wrapping).await?;
            if question.method == "initialize" && response.status.is_success() {
                self.session.begin(question.params, &response.headers);
            } else {
                self.session.follow(&response.headers);
            }
            if response.status.is_success() {
                let reading = Reading { http: self, id: question.id, seen: &seen };
                return match reading.read(response, &mut answer).await? {
                    Some(result) => Ok(result),
                    // Accepted without an answer: it comes on another stream, or not at all.
                    None => awaited(answer).await,
                };
            }
            let failure = Failure::read(response).await;
            if !has_renewed && seen.id.is_some() && failure.means_no_session(question.id) {
                has_renewed = true;
                self.renew(seen.generation).await?;
                continue;
            }
            return Err(self.failed(failure, question.id).await);
        }
    }

    /// Sends a notification.
    pub(crate) async fn tell(self: &Arc<Self>, message: Vec<u8>) -> Result<(), RequestError> {
        let method = match envelope::read(Bytes::copy_from_slice(&message)) {
            Ok(envelope::Received::One(envelope::Message::Notification(it))) => Some(it.method),
            _ => None,
        };
        let seen = self.session.seen();
        let mut headers = HeaderMap::new();
        if seen.is_modern()
            && let Some(method) = method.as_deref().and_then(header_value)
        {
            headers.insert(METHOD, method);
        }
        let body = Bytes::from(message);
        let response =
            self.send(Wrapping { method: Method::POST, seen: &seen, headers, body }).await?;
        if response.status.is_success() {
            // Nothing is expected, but the connection is only free once the body is read.
            drop(response.body.collect(EXCERPT).await);
        } else {
            self.core.warnings.add(Warning::Odd("refuses notifications".into()));
        }
        Ok(())
    }

    /// Deals with a request that nobody waits for; whether it was sent is not known.
    pub(crate) fn abandon(self: &Arc<Self>, id: u64, method: &str) -> bool {
        // To a modern server the closed stream says it all.
        if method != "initialize" && !self.seen_by(method).is_modern() {
            Arc::clone(self).say(cancellation(id));
        }
        false
    }

    /// Tells a legacy server that its session is over.
    pub(crate) async fn say_goodbye(&self) {
        let seen = self.session.seen();
        if seen.id.is_none() || self.core.stop.is_cancelled() {
            return;
        }
        let wrapping = Wrapping {
            method: Method::DELETE,
            seen: &seen,
            headers: HeaderMap::new(),
            body: Bytes::new(),
        };
        // A server that does not want goodbyes answers 405; the session is over all the same.
        drop(tokio::time::timeout(GOODBYE, self.send(wrapping)).await);
    }

    /// The session as a request sees it: probes belong to no session yet.
    fn seen_by(&self, method: &str) -> Seen {
        let seen = self.session.seen();
        match method {
            "server/discover" => Seen { revision: Some(Revision::LATEST), id: None, ..seen },
            "initialize" => Seen { revision: None, id: None, ..seen },
            _ => seen,
        }
    }

    /// Sends with the headers of the session.
    pub(super) async fn send(&self, wrapping: Wrapping<'_>) -> Result<Response, RequestError> {
        let Wrapping { method, seen, mut headers, body } = wrapping;
        if method == Method::POST {
            headers.insert(CONTENT_TYPE, JSON);
            headers.insert(ACCEPT, BOTH);
        }
        seen.add_to(&mut headers);
        let target = self.moved.get().unwrap_or(&self.target);
        let response = self.door.send(&method, target, &headers, &body).await?;
        // A redirect within the server is followed once, not before every request.
        if response.status.is_success() && response.target.origin() == self.target.origin() {
            self.moved.get_or_init(|| response.target.clone());
        }
        Ok(response)
    }

    /// Says what an answer means that has a status for no.
    async fn failed(&self, failure: Failure, id: u64) -> RequestError {
        let body = failure.body.unwrap_or_default();
        if let Some(error) = reply::refusal(&body, id) {
            return RequestError::Refused(error);
        }
        let excerpt = self.door.excerpt(&self.target, &body).await;
        RequestError::Status { status: failure.status, excerpt }
    }

    /// Returns the generation of the session, once nobody is busy with beginning one.
    pub(super) async fn settled(&self) -> u64 {
        // Closing the semaphore is nowhere done, so the permit is only a turn.
        let _turn = self.renewal.acquire().await;
        self.session.seen().generation
    }

    /// Begins a new session in place of one that the server has forgotten.
    async fn renew(self: &Arc<Self>, lost: u64) -> Result<(), RequestError> {
        // Closing the semaphore is nowhere done, so the permit is only a turn.
        let _turn = self.renewal.acquire().await;
        if self.session.seen().generation != lost {
            return Ok(());
        }
        let introduction = self.session.introduction();
        let id = self.core.next_id();
        let seen = self.seen_by("initialize");
        let body = Bytes::from(envelope::request(id, "initialize", introduction.as_ref()));
        let wrapping =
            Wrapping { method: Method::POST, seen: &seen, headers: HeaderMap::new(), body };
        let response = self.send(wrapping).await?;
        if !response.status.is_success() {
            return Err(self.failed(Failure::read(response).await, id).await);
        }
        self.session.begin(introduction.as_ref(), &response.headers);
        let (_never, mut answer) = oneshot::channel();
        let reading = Reading { http: self, id, seen: &seen };
        reading.read(response, &mut answer).await?;
        self.tell(envelope::notification("notifications/initialized", None)).await?;
        self.core.renewed();
        Ok(())
    }
}

impl Speaker for Streamable {
    fn say(self: Arc<Self>, message: Vec<u8>) {
        let tasks = self.core.tasks.clone();
        tasks.spawn(async move {
            let telling = self.tell(message);
            tokio::select! {
                () = self.core.over.cancelled() => {}
                outcome = telling => if let Err(error) = outcome {
                    // The error may have words of the server.
                    let never_sent = error.never_sent();
                    tracing::debug!(never_sent, "the server did not take a message");
                }
            }
        });
    }
}

fn headers(question: &Question<'_>, seen: &Seen) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if !seen.is_modern() {
        return headers;
    }
    if let Some(method) = header_value(question.method) {
        headers.insert(METHOD, method);
    }
    let member = match question.method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    };
    let name = member.zip(question.params).and_then(|(member, params)| {
        header_value(&text_of(scan::member(params.as_str(), member)?)?)
    });
    if let Some(name) = name {
        headers.insert(NAME, name);
    }
    for (name, value) in question.headers {
        headers.insert(name, value.clone());
    }
    headers
}

pub(super) fn failed(error: HttpError) -> RequestError {
    RequestError::Http(Arc::new(error))
}

/// An answer with a status that says no.
struct Failure {
    status: StatusCode,
    /// Is missing if it is long or broke off.
    body: Option<Bytes>,
}

impl Failure {
    async fn read(response: Response) -> Self {
        let status = response.status;
        Self { status, body: response.body.collect(EXCERPT).await.ok() }
    }

    /// Tells whether the server does not know our session (any more), so did nothing with `id`.
    ///
    /// An answer under that id comes from a server that has taken the request, whatever its status,
    /// and what could not be read may be one. Some servers put a word in place of the id.
    fn means_no_session(&self, id: u64) -> bool {
        let Some(body) = self.body.as_ref().filter(|body| !reply::answers(body, id)) else {
            return false;
        };
        let speaks_of_session = || String::from_utf8_lossy(body).to_lowercase().contains("session");
        self.status == StatusCode::NOT_FOUND
            || (self.status == StatusCode::BAD_REQUEST && speaks_of_session())
    }
}
