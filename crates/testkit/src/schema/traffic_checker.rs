//! Checks the messages of a recorded session in order.

use std::collections::HashMap;

use serde_json::Value;
use wharf_protocol::era::Revision;

use super::{Schema, SchemaViolation, Sender};

/// Checks a session in one revision.
///
/// It remembers open requests, because the method of the request selects the schema of a response.
///
/// ```
/// use wharf_protocol::era::Revision;
/// use wharf_testkit::schema::{Sender, TrafficChecker};
///
/// let mut traffic = TrafficChecker::new(Revision::V2025_06_18);
/// traffic.check(Sender::Client, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).unwrap();
/// let response = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{}]}}"#;
/// assert!(traffic.check(Sender::Server, response).is_err());
/// ```
#[derive(Debug)]
pub struct TrafficChecker {
    schema: Schema,
    /// Sender and id of each open request → its method.
    open_requests: HashMap<(Sender, String), String>,
}

impl TrafficChecker {
    /// Starts a session.
    pub fn new(revision: Revision) -> Self {
        Self { schema: Schema::of(revision), open_requests: HashMap::new() }
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Checks the next message, or a batch if the revision has batches.
    pub fn check(&mut self, sender: Sender, text: &str) -> Result<(), SchemaViolation> {
        let message: Value =
            serde_json::from_str(text).map_err(|error| violation("JSON", &error))?;
        match message {
            Value::Array(batch) if self.schema.revision() == Revision::V2025_03_26 => {
                batch.iter().try_for_each(|message| self.check_one(sender, message))
            }
            message => self.check_one(sender, &message),
        }
    }

    fn check_one(&mut self, sender: Sender, message: &Value) -> Result<(), SchemaViolation> {
        let id = message.get("id").map(ToString::to_string);
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => {
                self.open_requests.insert((sender, id), method.to_owned());
                self.schema.check_request(sender, message)
            }
            (Some(_), None) => self.schema.check_notification(sender, message),
            (None, id) => {
                let id = id.unwrap_or_default();
                let method = self.open_requests.remove(&(sender.other(), id.clone()));
                // An error may refer to an unreadable request; a result must refer to a request.
                if method.is_none() && message.get("result").is_some() {
                    return Err(violation("response", &format!("no open request has the id {id}")));
                }
                self.schema.check_response(sender, &method.unwrap_or_default(), message)
            }
        }
    }
}

fn violation(definition: &str, reason: &dyn ToString) -> SchemaViolation {
    SchemaViolation { definition: definition.to_owned(), reasons: vec![reason.to_string()] }
}
