//! What is different about an actor of the modern era: how it is met, and who is told of changes.

use serde_json::{Value, json};

use super::play::Actor;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Somebody who wants to be told of changes.
pub(super) struct Listener {
    /// The request that asked for it.
    pub(super) id: Value,
    filter: Value,
}

impl Listener {
    /// Returns what this one is told of a changed list.
    pub(super) fn told(&self, list: &str, method: &str) -> Option<Value> {
        let wants = self.filter[format!("{list}ListChanged")] == true;
        let meta = json!({ SUBSCRIPTION: self.id });
        wants.then(|| json!({ "jsonrpc": "2.0", "method": method, "params": { "_meta": meta } }))
    }
}

impl Actor {
    pub(super) fn discovered(&self, params: &Value) -> Value {
        self.note("hellos", &params["_meta"][CAPABILITIES].to_string());
        json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": self.capabilities(),
            "serverInfo": { "name": "actor", "version": "1" },
            "instructions": self.script.instructions,
        })
    }

    pub(super) fn listen(&mut self, id: &Value, params: &Value) {
        if self.script.listen_late {
            self.late = Some((id.clone(), params.clone()));
            return;
        }
        let filter = params["notifications"].clone();
        let meta = json!({ SUBSCRIPTION: id });
        self.say(&json!({
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": { "_meta": meta, "notifications": filter },
        }));
        self.listeners.push(Listener { id: id.clone(), filter });
    }
}
