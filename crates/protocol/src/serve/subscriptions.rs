//! `subscriptions/listen`: subscriptions of modern clients and their filters.

use serde::{Deserialize, Serialize};

use super::change_notifier::OpenSubscription;
use super::server::ServerCore;
use super::service::ServiceCall;
use crate::Json;
use crate::envelope::RpcError;
use crate::scan;
use crate::view::meta::key;

/// The notifications that a client subscribes to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServerSubscriptionFilter {
    /// Changes of the list of tools.
    #[serde(skip_serializing_if = "is_false")]
    pub tools_list_changed: bool,
    /// Changes of the list of prompts.
    #[serde(skip_serializing_if = "is_false")]
    pub prompts_list_changed: bool,
    /// Changes of the list of resources.
    #[serde(skip_serializing_if = "is_false")]
    pub resources_list_changed: bool,
    /// Updates of these resources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_subscriptions: Vec<String>,
    /// Updates of these tasks (tasks extension).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub task_ids: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn is_false(switch: &bool) -> bool {
    !switch
}

impl ServerSubscriptionFilter {
    pub(crate) fn to_json(&self) -> Json {
        Json::encode(self).unwrap_or_else(|_| Json::object())
    }

    /// Keeps what the server's capabilities allow.
    fn limited_to(mut self, capabilities: &Json) -> Self {
        let offers = |group: &str, switch: &str| {
            scan::member(capabilities.as_str(), group)
                .is_some_and(|group| scan::member(group, switch) == Some("true"))
        };
        self.tools_list_changed &= offers("tools", "listChanged");
        self.prompts_list_changed &= offers("prompts", "listChanged");
        self.resources_list_changed &= offers("resources", "listChanged");
        if !offers("resources", "subscribe") {
            self.resource_subscriptions.clear();
        }
        let has_tasks = scan::member(capabilities.as_str(), "extensions")
            .is_some_and(|it| scan::member(it, "io.modelcontextprotocol/tasks").is_some());
        if !has_tasks {
            self.task_ids.clear();
        }
        self
    }

    /// Tells whether the filter includes this notification.
    pub(crate) fn includes(&self, method: &str, params: Option<&Json>) -> bool {
        let names = |key: &str, wanted: &[String]| {
            let name = params.and_then(|params| params.get(key)?.to_text());
            name.is_some_and(|name| wanted.contains(&name))
        };
        match method {
            "notifications/tools/list_changed" => self.tools_list_changed,
            "notifications/prompts/list_changed" => self.prompts_list_changed,
            "notifications/resources/list_changed" => self.resources_list_changed,
            "notifications/resources/updated" => names("uri", &self.resource_subscriptions),
            "notifications/tasks" => names("taskId", &self.task_ids),
            _ => false,
        }
    }
}

/// Serves a subscription until the client or the server ends it.
pub(crate) async fn listen(core: &ServerCore, call: ServiceCall) -> Result<Json, RpcError> {
    let wanted: ServerSubscriptionFilter = call
        .param("notifications")
        .filter(Json::is_object)
        .and_then(|wanted| wanted.to())
        .ok_or_else(|| RpcError::invalid_params("Invalid params: notifications is required"))?;
    let context = &call.context;
    let description = core.service().describe(context.client().clone()).await;
    let filter =
        core.service().accept_subscription(wanted.limited_to(&description.capabilities), context);
    let sink = context.sink().clone();
    let guard = core.change_notifier().subscribe(OpenSubscription {
        id: context.id().clone(),
        filter,
        sink,
    });
    tokio::select! {
        () = core.closing().cancelled() => {}
        () = context.cancellation().cancelled() => {}
    }
    drop(guard);
    // The service may use the token to end its own work, also if the server ended the subscription.
    context.cancellation().cancel();
    Ok(Json::trusted(format!(r#"{{"_meta":{{"{}":{}}}}}"#, key::SUBSCRIPTION_ID, context.id())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_limited_to_the_server_capabilities() {
        let wanted: ServerSubscriptionFilter = ServerSubscriptionFilter {
            tools_list_changed: true,
            prompts_list_changed: true,
            resources_list_changed: false,
            resource_subscriptions: vec!["a:b".to_owned()],
            task_ids: vec!["t".to_owned()],
        };
        let declared =
            r#"{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true}}"#;
        let accepted = wanted.limited_to(&declared.parse().unwrap());
        assert_eq!(
            accepted.to_json().as_str(),
            r#"{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}"#
        );
    }

    #[test]
    fn resource_updates_are_filtered_by_uri() {
        let filter = ServerSubscriptionFilter {
            resource_subscriptions: vec!["a:b".to_owned()],
            ..ServerSubscriptionFilter::default()
        };
        let updated = |uri: &str| {
            let params = format!(r#"{{"uri":"{uri}"}}"#).parse().unwrap();
            filter.includes("notifications/resources/updated", Some(&params))
        };
        assert!(updated("a:b"));
        assert!(!updated("a:c"));
        assert!(!filter.includes("notifications/tools/list_changed", None));
    }
}
