//! One request over HTTP, from its headers to its answer.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tokio::sync::{Semaphore, oneshot};

use super::reply::{self, Reading, Whose};
use super::session::{Seen, Session};
use crate::Json;
use crate::envelope;
use crate::era::{Revision, header_value, naming_parameter};
use crate::http_client::{HttpError, Redirects, Response, Target};
use crate::scan::{self, text_of};
use crate::session::{
    Answer, Core, EndReason, Ended, Question, RequestError, Speaker, TraceEvent, Warning, awaited,
    cancellation,
};
use crate::transport::{Address, Door, Posting};

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
    address: Address,
    /// Where the server answers, once that is settled; it may have redirected us.
    settled: OnceLock<Address>,
    /// Where the latest answer came from while connecting.
    answered_at: Mutex<Option<Address>>,
    /// One renewal of the session at a time.
    renewal: Semaphore,
}

/// What is sent besides the body.
pub(super) struct Wrapping<'a> {
    pub(super) method: Method,
    pub(super) seen: &'a Seen,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) redirects: Redirects,
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
            address: Address::written(target),
            settled: OnceLock::new(),
            answered_at: Mutex::default(),
            renewal: Semaphore::new(1),
        })
    }

    /// Fixes the revision, once it is known, and the address that redirects led to.
    pub(crate) fn settle(&self, revision: Revision) {
        self.session.settle(revision);
        let latest = self.answered_at.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.settled.get_or_init(|| latest.unwrap_or_else(|| self.address.clone()));
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
            let wrapping = Wrapping {
                method: Method::POST,
                seen: &seen,
                headers,
                body: body.clone(),
                redirects: redirects_of(question.method),
            };
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
            if let Some(body) = failure.body.as_ref().filter(|body| !body.is_empty()) {
                self.core.trace(TraceEvent::Received(body));
            }
            let has_session = seen.id.is_some() && !seen.is_modern();
            let verdict = failure.about_session(question.id);
            if !has_renewed && has_session && verdict != SessionVerdict::Unrelated {
                has_renewed = true;
                let renewal = self.renew(seen.generation).await;
                // A word is no proof that a call did not run. The next one has a session again.
                if verdict == SessionVerdict::Gone || question.method != "tools/call" {
                    renewal?;
                    continue;
                }
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
        let response = self.send(Wrapping::following(Method::POST, &seen, headers, body)).await?;
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
        let wrapping = Wrapping::following(Method::DELETE, &seen, HeaderMap::new(), Bytes::new());
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
        let Wrapping { method, seen, mut headers, body, redirects } = wrapping;
        if method == Method::POST {
            headers.insert(CONTENT_TYPE, JSON);
            headers.insert(ACCEPT, BOTH);
        }
        seen.add_to(&mut headers);
        let settled = self.settled.get();
        let address = settled.unwrap_or(&self.address);
        let posting =
            Posting { method: &method, address, headers: &headers, body: &body, redirects };
        let response = self.door.send(posting).await?;
        if settled.is_none() && response.status.is_success() {
            let latest = Some(Address::of(&response));
            *self.answered_at.lock().unwrap_or_else(PoisonError::into_inner) = latest;
        }
        Ok(response)
    }

    /// Says what an answer means that has a status for no.
    async fn failed(&self, failure: Failure, id: u64) -> RequestError {
        let status = failure.status;
        let body = failure.body.unwrap_or_default();
        match reply::refusal(&body, id) {
            Some((error, Whose::Ours)) if blames_request(status) => RequestError::Refused(error),
            Some((error, _)) => RequestError::Inconclusive { error, status: Some(status) },
            None => {
                let excerpt = self.door.excerpt(&self.address.target, &body).await;
                RequestError::Status { status, excerpt }
            }
        }
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
        let wrapping = Wrapping::following(Method::POST, &seen, HeaderMap::new(), body);
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
        let core = Arc::clone(&self.core);
        core.send_apart(async move { self.tell(message).await });
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
    let member = naming_parameter(question.method);
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

    /// Tells what the answer to request `id` says about our session.
    ///
    /// An answer under that id comes from a server that has taken the request, whatever its status,
    /// and what could not be read may be one. Some servers put a word in place of the id.
    fn about_session(&self, id: u64) -> SessionVerdict {
        let Some(body) = self.body.as_ref().filter(|body| !reply::answers(body, id)) else {
            return SessionVerdict::Unrelated;
        };
        let speaks_of_session = || String::from_utf8_lossy(body).to_lowercase().contains("session");
        match self.status {
            StatusCode::NOT_FOUND => SessionVerdict::Gone,
            StatusCode::BAD_REQUEST if speaks_of_session() => SessionVerdict::Doubtful,
            _ => SessionVerdict::Unrelated,
        }
    }
}

/// What a refusal says about the legacy session of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionVerdict {
    /// Nothing.
    Unrelated,
    /// The server does not know it any more (404), so it did nothing with the request.
    Gone,
    /// The server talks about it; whether it did something with the request is not known.
    Doubtful,
}

/// Calls are never sent twice, so a redirect is no reason to send one again.
fn redirects_of(method: &str) -> Redirects {
    if method == "tools/call" { Redirects::Return } else { Redirects::Follow }
}

/// Tells whether a status is the server's own judgement of a request. Others may come from something
/// in front of it, after it has begun.
fn blames_request(status: StatusCode) -> bool {
    !status.is_server_error()
        && !matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
}

impl<'a> Wrapping<'a> {
    /// Wraps what may be sent again where a redirect leads.
    pub(super) fn following(
        method: Method,
        seen: &'a Seen,
        headers: HeaderMap,
        body: Bytes,
    ) -> Self {
        Self { method, seen, headers, body, redirects: Redirects::Follow }
    }
}
