//! Checks a recorded conversation, message by message.

use std::collections::HashMap;

use serde_json::Value;
use wharf_protocol::era::Revision;

use super::{Schema, Sender, Violation};

/// A conversation in one revision.
///
/// Requests are remembered, so that an answer is judged by what was asked.
///
/// ```
/// use wharf_protocol::era::Revision;
/// use wharf_testkit::schema::{Sender, Traffic};
///
/// let mut traffic = Traffic::in_revision(Revision::V2025_06_18);
/// traffic.check(Sender::Client, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).unwrap();
/// let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{}]}}"#;
/// assert!(traffic.check(Sender::Server, answer).is_err());
/// ```
#[derive(Debug)]
pub struct Traffic {
    schema: Schema,
    asked: HashMap<(Sender, String), String>,
}

impl Traffic {
    /// Begins a conversation.
    pub fn in_revision(revision: Revision) -> Self {
        Self { schema: Schema::of(revision), asked: HashMap::new() }
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Checks the next message, or a batch of the revision that has them.
    pub fn check(&mut self, sender: Sender, text: &str) -> Result<(), Violation> {
        let message: Value =
            serde_json::from_str(text).map_err(|error| violation("JSON", &error))?;
        match message {
            Value::Array(batch) if self.schema.revision() == Revision::V2025_03_26 => {
                batch.iter().try_for_each(|message| self.check_one(sender, message))
            }
            message => self.check_one(sender, &message),
        }
    }

    fn check_one(&mut self, sender: Sender, message: &Value) -> Result<(), Violation> {
        let id = message.get("id").map(ToString::to_string);
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => {
                self.asked.insert((sender, id), method.to_owned());
                self.schema.check_request(sender, message)
            }
            (Some(_), None) => self.schema.check_notification(sender, message),
            (None, id) => {
                let id = id.unwrap_or_default();
                let method = self.asked.remove(&(sender.other(), id.clone()));
                // An error may belong to nothing that could be read, a result may not.
                if method.is_none() && message.get("result").is_some() {
                    return Err(violation("response", &format!("nobody asked with the id {id}")));
                }
                self.schema.check_response(sender, &method.unwrap_or_default(), message)
            }
        }
    }
}

fn violation(definition: &str, reason: &dyn ToString) -> Violation {
    Violation { definition: definition.to_owned(), reasons: vec![reason.to_string()] }
}
