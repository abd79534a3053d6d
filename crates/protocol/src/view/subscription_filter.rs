//! The filter of a subscription (2026-07-28): sent with `subscriptions/listen`; the server returns
//! the part that it accepts.

use bytestring::ByteString;
use serde::Serialize;

use super::fields::{JsonFields, echoed_number};
use super::meta::key;
use crate::Json;

/// The changes that a subscription is for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubscriptionFilter {
    /// Changes of the list of tools.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tools_list_changed: bool,
    /// Changes of the list of prompts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prompts_list_changed: bool,
    /// Changes of the list of resources.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub resources_list_changed: bool,
    /// Changes of single resources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_subscriptions: Vec<String>,
    /// Changes of tasks (by the extension for tasks).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub task_ids: Vec<String>,
}

impl SubscriptionFilter {
    /// Reads a filter; members that are missing or invalid are off.
    pub fn read(raw: &Json) -> Self {
        let is_set = |key: &str| raw.bool_at(key).unwrap_or_default();
        let texts = |key: &str| raw.texts_at(key).into_iter().map(ByteString::into).collect();
        Self {
            tools_list_changed: is_set("toolsListChanged"),
            prompts_list_changed: is_set("promptsListChanged"),
            resources_list_changed: is_set("resourcesListChanged"),
            resource_subscriptions: texts("resourceSubscriptions"),
            task_ids: texts("taskIds"),
        }
    }

    /// Tells whether the filter includes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The parameters of `notifications/subscriptions/acknowledged`: what the server accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionAcknowledged {
    /// The accepted filter.
    pub filter: SubscriptionFilter,
    /// The id of the `subscriptions/listen` request.
    pub subscription: Option<u64>,
}

impl SubscriptionAcknowledged {
    /// Reads the parameters from any JSON value.
    pub fn read(params: &Json) -> Self {
        let filter = params.object_at("notifications").unwrap_or_else(Json::object);
        let id = params.object_at("_meta").and_then(|meta| meta.field(key::SUBSCRIPTION_ID));
        Self {
            filter: SubscriptionFilter::read(&filter),
            subscription: id.and_then(|id| echoed_number(&id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_read_as_it_was_written() {
        let filter = SubscriptionFilter {
            tools_list_changed: true,
            resource_subscriptions: vec!["a:b".into()],
            ..SubscriptionFilter::default()
        };
        let written = Json::encode(&filter).unwrap();
        assert_eq!(
            written.as_str(),
            r#"{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}"#
        );
        assert_eq!(SubscriptionFilter::read(&written), filter);
        assert!(!filter.is_empty());
    }

    #[test]
    fn an_acknowledgement_may_be_empty() {
        for text in ["{}", "null", r#"{"notifications":true,"_meta":[]}"#] {
            let acknowledged = SubscriptionAcknowledged::read(&text.parse().unwrap());
            assert!(
                acknowledged.filter.is_empty() && acknowledged.subscription.is_none(),
                "{text}"
            );
        }
        let text = r#"{"notifications":{"toolsListChanged":true},
            "_meta":{"io.modelcontextprotocol/subscriptionId":4}}"#;
        let acknowledged = SubscriptionAcknowledged::read(&text.parse().unwrap());
        assert!(acknowledged.filter.tools_list_changed);
        assert_eq!(acknowledged.subscription, Some(4));
    }
}
