//! Handles notifications and requests that a server sends: list changes, log messages, elicitation,
//! sampling, roots.
//!
//! A notification sets a flag for the connection, or becomes an event. A request goes to the client
//! features of the host; one that the host does not support gets a JSON-RPC error.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use wharf_config::ServerName;
use wharf_protocol::Json;
use wharf_protocol::envelope::{Notification, RpcError, code};
use wharf_protocol::era::Revision;
use wharf_protocol::peer::{ClientHandler, HandlerFuture, RequestCause};
use wharf_protocol::view::send::{self, ElicitationAnswer};
use wharf_protocol::view::{
    Elicitation, ElicitationMode, LogMessage, Sampling, SubscriptionFilter,
};

use super::shared::Shared;
use crate::call_context::CallContext;
use crate::client_features::{
    ClientFeatures, ElicitationRequest, SamplingRequest, elicitation_support,
};
use crate::elicitation::required_urls::CompletedUrls;
use crate::event::{Event, EventSender};
use crate::resolve::Secrets;

/// How many characters of a log message are kept.
const MAX_LOG: usize = 8 * 1024;

/// The maximum length in bytes of a URI in an event.
const MAX_URI: usize = 8 * 1024;

/// How many events of one server are sent per second. All servers share one queue, and a server
/// with more would push out the events of others.
const MAX_EVENTS: u32 = 1_000;

/// Handles the notifications and requests of one server.
pub(super) struct ServerMessageHandler {
    server: ServerName,
    secrets: Arc<Secrets>,
    client_features: ClientFeatures,
    events: EventSender,
    completed_urls: Arc<CompletedUrls>,
    changes: Arc<ChangeFlags>,
    event_rate: Mutex<EventRate>,
}

/// The number of events in the current second.
struct EventRate {
    since: Instant,
    count: u32,
}

/// Flags of changes since they were last cleared.
#[derive(Default)]
pub(super) struct ChangeFlags {
    tools: AtomicBool,
    /// The first tool list has arrived.
    listed: AtomicBool,
    noticed: Notify,
    /// A new HTTP session has replaced an expired one.
    renewed: Notify,
    /// The negotiated protocol revision.
    revision: OnceLock<Revision>,
}

impl ChangeFlags {
    /// Waits until the tools have changed since [`ChangeFlags::clear`].
    pub(super) async fn wait_for_tools(&self) {
        while !self.tools.load(Ordering::Acquire) {
            self.noticed.notified().await;
        }
    }

    /// Clears the flag; a later change sets it again.
    pub(super) fn clear(&self) {
        self.tools.store(false, Ordering::Release);
    }

    /// Records that the first tool list has arrived.
    pub(super) fn mark_listed(&self) {
        self.listed.store(true, Ordering::Release);
    }

    /// Sets the negotiated protocol revision.
    pub(super) fn set_revision(&self, revision: Revision) {
        self.revision.get_or_init(|| revision);
    }

    fn revision(&self) -> Revision {
        *self.revision.get().unwrap_or(&Revision::LATEST)
    }

    /// Records that the tools have changed.
    fn mark_tools_changed(&self) {
        self.tools.store(true, Ordering::Release);
        self.noticed.notify_one();
    }
}

impl ServerMessageHandler {
    pub(super) fn new(
        server: &ServerName,
        secrets: &Arc<Secrets>,
        shared: &Shared,
    ) -> (Arc<Self>, Arc<ChangeFlags>) {
        let changes = Arc::<ChangeFlags>::default();
        let handler = Self {
            server: server.clone(),
            secrets: Arc::clone(secrets),
            client_features: shared.options.client_features.clone(),
            events: shared.events.clone(),
            completed_urls: Arc::clone(&shared.completed_urls),
            changes: Arc::clone(&changes),
            event_rate: Mutex::new(EventRate { since: Instant::now(), count: 0 }),
        };
        (Arc::new(handler), changes)
    }

    /// Waits until a new HTTP session has replaced an expired one.
    pub(super) async fn wait_for_new_session(&self) {
        self.changes.renewed.notified().await;
    }

    /// Returns the name of the server.
    pub(super) fn server(&self) -> &ServerName {
        &self.server
    }

    /// Records that a modern server has confirmed a subscription. With `is_ahead`, it confirmed
    /// before it answered any later request, such as the first list.
    pub(super) fn note_subscribed(&self, filter: &SubscriptionFilter, is_ahead: bool) {
        let is_covered = is_ahead && !self.changes.listed.load(Ordering::Acquire);
        if filter.tools_list_changed && !is_covered {
            self.changes.mark_tools_changed();
        }
    }

    /// Sends events for changes that may have been missed without a subscription.
    pub(super) fn send_missed_changes(&self, filter: &SubscriptionFilter) {
        if filter.resources_list_changed {
            self.send(Event::ResourcesChanged { server: self.server.clone() });
        }
        if filter.prompts_list_changed {
            self.send(Event::PromptsChanged { server: self.server.clone() });
        }
    }

    fn send(&self, event: Event) {
        let mut event_rate = self.event_rate.lock().unwrap_or_else(PoisonError::into_inner);
        if event_rate.count >= MAX_EVENTS {
            if event_rate.since.elapsed() < Duration::from_secs(1) {
                return;
            }
            *event_rate = EventRate { since: Instant::now(), count: 0 };
        }
        event_rate.count += 1;
        drop(event_rate);
        self.events.send(event);
    }
}

impl ServerMessageHandler {
    /// Reads an elicitation request. Secrets are redacted in a form, because it is shown; a URL is
    /// not changed.
    fn read_elicitation(&self, params: Json) -> Elicitation {
        let elicitation = Elicitation::read(params.clone());
        match elicitation.mode() {
            ElicitationMode::Form { .. } => {
                Elicitation::read(self.secrets.redact_certain_in_json(params))
            }
            _ => elicitation,
        }
    }

    fn elicit(&self, elicitation: Elicitation, context: Option<CallContext>) -> HandlerFuture {
        let Some(elicitor) = self.client_features.elicitor.clone() else {
            return reject_method("elicitation/create");
        };
        let support = elicitation_support(&*elicitor);
        let is_url = match elicitation.mode() {
            ElicitationMode::Form { .. } if support.form => false,
            ElicitationMode::Url { .. } if support.url => true,
            _ => return reject_params("this elicitation mode is not supported"),
        };
        let mut request = ElicitationRequest::new(self.server.clone(), elicitation);
        request.context = context;
        Box::pin(async move {
            let answer = match elicitor.elicit(request).await {
                // The page of the URL has the input of the user.
                ElicitationAnswer::Accept(_) if is_url => ElicitationAnswer::Accept(None),
                answer => answer,
            };
            Ok(send::elicitation_result(&answer))
        })
    }

    fn sample(&self, sampling: Sampling, context: Option<CallContext>) -> HandlerFuture {
        let Some(sampler) = self.client_features.sampler.clone() else {
            return reject_method("sampling/createMessage");
        };
        let raw = sampling.raw();
        if sampling.messages().is_empty() {
            return reject_params("there are no messages");
        }
        let has = |key: &str| raw.get(key).is_some_and(|value| !value.is_null());
        if (has("tools") || has("toolChoice")) && !sampler.support().tools {
            return reject_params("tools are not supported");
        }
        let mut request = SamplingRequest::new(self.server.clone(), sampling);
        request.context = context;
        let changes = Arc::clone(&self.changes);
        Box::pin(async move {
            let answer = sampler.sample(request).await?;
            send::sampling_result(&answer, changes.revision())
                .map_err(|error| RpcError::new(code::INTERNAL, error.to_string()))
        })
    }
}

impl ClientHandler for ServerMessageHandler {
    fn on_notification(&self, notification: Notification) {
        let server = self.server.clone();
        let params = notification.params.unwrap_or_else(Json::object);
        match &*notification.method {
            "notifications/tools/list_changed" => self.changes.mark_tools_changed(),
            "notifications/resources/list_changed" => self.send(Event::ResourcesChanged { server }),
            "notifications/prompts/list_changed" => self.send(Event::PromptsChanged { server }),
            "notifications/resources/updated" => {
                let uri = params.get("uri").filter(|uri| uri.as_str().len() <= MAX_URI);
                if let Some(uri) = uri.and_then(|uri| uri.to_text()) {
                    // A server may repeat a secret in it.
                    let uri = self.secrets.redact(&uri);
                    self.send(Event::ResourceUpdated { server, uri });
                }
            }
            "notifications/elicitation/complete" => {
                let elicitation_id = params.get("elicitationId").and_then(|id| id.to_text());
                if let Some(elicitation_id) = elicitation_id {
                    self.completed_urls.add(&server, elicitation_id);
                }
            }
            // Without observers, the message need not be read.
            "notifications/message" if !self.events.has_observers() => {}
            "notifications/message" => {
                let message = LogMessage::read(params);
                let text = self.secrets.redact_start(&message.text(), MAX_LOG);
                self.send(Event::Log { server, level: message.level(), text });
            }
            _ => tracing::debug!(server = %self.server, "a notification was ignored"),
        }
    }

    fn on_session_renewed(&self) {
        self.changes.renewed.notify_one();
    }

    fn on_request(
        &self,
        method: &str,
        params: Option<Json>,
        cause: Option<RequestCause>,
    ) -> HandlerFuture {
        let params = params.unwrap_or_else(Json::object);
        // The cause of every call is its context.
        let context = cause.and_then(|cause| cause.downcast_ref::<CallContext>().cloned());
        match method {
            "roots/list" if !self.client_features.roots.is_empty() => {
                let roots = send::roots_result(&self.client_features.roots);
                Box::pin(async move { Ok(roots) })
            }
            "elicitation/create" => self.elicit(self.read_elicitation(params), context),
            "sampling/createMessage" => self.sample(Sampling::read(params), context),
            _ => reject_method(method),
        }
    }
}

fn reject_params(why: &str) -> HandlerFuture {
    let error = RpcError::invalid_params(why);
    Box::pin(async move { Err(error) })
}

fn reject_method(method: &str) -> HandlerFuture {
    let error = RpcError::method_not_found(method);
    Box::pin(async move { Err(error) })
}
