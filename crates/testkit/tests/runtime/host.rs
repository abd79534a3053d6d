//! A test host that answers elicitation and sampling requests in different ways.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use wharf::protocol::envelope::RpcError;
use wharf::protocol::transport::BoxFuture;
use wharf::protocol::view::send::{
    ElicitationAnswer, ElicitationSupport, SamplingAnswer, SamplingSupport, text_block,
};
use wharf::{
    CallContext, ClientFeatures, ElicitationRequest, Elicitor, Options, Runtime, Sampler,
    SamplingRequest,
};

use super::fixture::{Fixture, LIMIT};

/// How a host responds to a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum HostBehavior {
    /// Fills in the form with this value, or visits the URL.
    Accepts(Value),
    Declines,
    Cancels,
    /// Answers after this many milliseconds.
    AnswersAfter(u64),
    NeverAnswers,
    Panics,
    /// Fails as a sampler.
    Fails,
}

/// A host that counts requests.
#[derive(Clone)]
pub(super) struct TestHost {
    behavior: HostBehavior,
    elicitation: ElicitationSupport,
    sampling: SamplingSupport,
    /// The number of open requests, and of all requests.
    open: Arc<AtomicUsize>,
    asked: Arc<AtomicUsize>,
    /// The contexts of all requests.
    contexts: Arc<Mutex<Vec<String>>>,
}

impl TestHost {
    pub(super) fn new(behavior: HostBehavior) -> Self {
        Self {
            behavior,
            elicitation: ElicitationSupport { form: true, url: true },
            sampling: SamplingSupport::default(),
            open: Arc::default(),
            asked: Arc::default(),
            contexts: Arc::default(),
        }
    }

    pub(super) fn with_elicitation(self, form: bool, url: bool) -> Self {
        Self { elicitation: ElicitationSupport { form, url }, ..self }
    }

    pub(super) fn with_sampling_tools(self) -> Self {
        Self { sampling: SamplingSupport { tools: true, context: false }, ..self }
    }

    /// Returns ports with this host as elicitor and sampler.
    pub(super) fn client_features(&self) -> ClientFeatures {
        ClientFeatures {
            elicitor: Some(Arc::new(self.clone())),
            sampler: Some(Arc::new(self.clone())),
            roots: Vec::new(),
        }
    }

    /// Starts a runtime with this host.
    pub(super) async fn start(&self, fixture: &Fixture) -> Runtime {
        started(fixture, self.client_features()).await
    }

    /// Waits until this many requests are open.
    pub(super) async fn until_open(&self, many: usize) {
        let waiting = async {
            while self.open.load(Ordering::SeqCst) != many {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(LIMIT, waiting).await.expect("the number of open requests is reached");
    }

    pub(super) fn times_asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Returns the ids of the contexts of all requests so far, sorted; `-` for none.
    pub(super) fn contexts(&self) -> Vec<String> {
        let mut contexts = self.contexts.lock().unwrap().clone();
        contexts.sort();
        contexts
    }

    fn note_context(&self, context: Option<&CallContext>) {
        let id = context.map_or("-", CallContext::id);
        self.contexts.lock().unwrap().push(id.to_owned());
    }

    /// Behaves as configured, and returns how to answer.
    async fn respond(&self) -> HostBehavior {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.open.fetch_add(1, Ordering::SeqCst);
        let _open = OpenRequest(&self.open);
        match &self.behavior {
            HostBehavior::AnswersAfter(millis) => {
                tokio::time::sleep(Duration::from_millis(*millis)).await;
                HostBehavior::Accepts(json!({ "berth": "north" }))
            }
            HostBehavior::NeverAnswers => std::future::pending().await,
            HostBehavior::Panics => panic!("the host of a test fails on purpose"),
            behavior => behavior.clone(),
        }
    }
}

/// Counts a request as open until it is dropped.
struct OpenRequest<'a>(&'a AtomicUsize);

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Elicitor for TestHost {
    fn support(&self) -> ElicitationSupport {
        self.elicitation
    }

    fn elicit(&self, request: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer> {
        Box::pin(async move {
            self.note_context(request.context.as_ref());
            assert_eq!(request.elicitation.message(), "Which berth?");
            match self.respond().await {
                HostBehavior::Accepts(content) => {
                    let content = content.to_string().parse::<wharf::protocol::Json>().unwrap();
                    ElicitationAnswer::Accept(content.try_into().ok())
                }
                HostBehavior::Declines => ElicitationAnswer::Decline,
                _ => ElicitationAnswer::Cancel,
            }
        })
    }
}

impl Sampler for TestHost {
    fn support(&self) -> SamplingSupport {
        self.sampling
    }

    fn sample(&self, request: SamplingRequest) -> BoxFuture<'_, Result<SamplingAnswer, RpcError>> {
        self.note_context(request.context.as_ref());
        let SamplingRequest { server, sampling, .. } = request;
        Box::pin(async move {
            match self.respond().await {
                HostBehavior::Fails => Err(RpcError::new(-1, "the model is asleep")),
                _ => Ok(SamplingAnswer {
                    model: "m".into(),
                    content: vec![text_block(&format!(
                        "{} tokens for {server}",
                        sampling.max_tokens().unwrap_or_default()
                    ))],
                    stop_reason: Some("endTurn".into()),
                }),
            }
        })
    }
}

/// Starts a runtime with these ports, and waits until all servers are settled.
pub(super) async fn started(fixture: &Fixture, client_features: ClientFeatures) -> Runtime {
    let runtime =
        Runtime::start(&fixture.catalog(), Options { client_features, ..fixture.options() });
    runtime.settled().await;
    runtime
}
