//! The modern era of a scripted server: `server/discover`, and subscriptions to list changes.

use serde_json::{Value, json};

use super::message_loop::Actor;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// An open subscription.
pub(super) struct Subscription {
    /// The id of its request.
    pub(super) id: Value,
    filter: Value,
}

impl Subscription {
    /// Returns the notification of a changed list, if the filter includes the list.
    pub(super) fn list_changed(&self, list: &str, method: &str) -> Option<Value> {
        let is_included = self.filter[format!("{list}ListChanged")] == true;
        let meta = json!({ SUBSCRIPTION: self.id });
        is_included
            .then(|| json!({ "jsonrpc": "2.0", "method": method, "params": { "_meta": meta } }))
    }
}

impl Actor {
    pub(super) fn discover_result(&self, params: &Value) -> Value {
        self.log.append("hellos", &params["_meta"][CAPABILITIES].to_string());
        json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": self.capabilities(),
            "serverInfo": { "name": "actor", "version": "1" },
            "instructions": self.script.instructions,
        })
    }

    pub(super) fn subscribe(&mut self, id: &Value, params: &Value) {
        if self.script.listen_late {
            self.late_subscription = Some((id.clone(), params.clone()));
            return;
        }
        let filter = params["notifications"].clone();
        let meta = json!({ SUBSCRIPTION: id });
        self.send(&json!({
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": { "_meta": meta, "notifications": filter },
        }));
        self.subscriptions.push(Subscription { id: id.clone(), filter });
    }
}
