//! The filter of a subscription (2026-07-28): sent with `subscriptions/listen`; the server returns
//! the part that it accepts.

use bytestring::ByteString;
use serde::{Deserialize, Serialize};

use crate::Json;

/// The changes that a subscription is for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
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
    fn read(raw: &Json) -> Self {
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

    /// Reads what the server accepted: the parameters of
    /// `notifications/subscriptions/acknowledged`.
    pub(crate) fn acknowledged(params: &Json) -> Self {
        Self::read(&params.object_at("notifications").unwrap_or_else(Json::object))
    }

    /// Tells whether the filter includes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
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
        let acknowledged = |text: &str| SubscriptionFilter::acknowledged(&text.parse().unwrap());
        for text in ["{}", "null", r#"{"notifications":true,"_meta":[]}"#] {
            assert!(acknowledged(text).is_empty(), "{text}");
        }
        assert!(acknowledged(r#"{"notifications":{"toolsListChanged":true}}"#).tools_list_changed);
    }
}
