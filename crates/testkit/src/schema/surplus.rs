//! Finds members that a schema does not name.

use serde_json::Value;

use super::definitions::{Schema, Sender, referred};

impl Schema {
    /// Returns the paths of members of a message that its definition does not name.
    ///
    /// `_meta` is left out, because it is there for everybody, and so is whatever a schema leaves
    /// open, such as the arguments of a tool.
    pub fn surplus(&self, sender: Sender, message: &Value) -> Vec<String> {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let kind = if message.get("id").is_some() { "Request" } else { "Notification" };
        let definition = self.definition_of(sender, kind, method);
        let Some(schema) = definition.and_then(|name| self.definition(name)) else {
            return Vec::new();
        };
        let params = schema.get("properties").and_then(|properties| properties.get("params"));
        let mut found = Vec::new();
        if let (Some(schema), Some(params)) = (params, message.get("params")) {
            self.look(schema, params, "params", &mut found);
        }
        found
    }

    /// Returns the members of a value that a definition does not name.
    pub fn surplus_in(&self, definition: &str, value: &Value) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(schema) = self.definition(definition) {
            self.look(schema, value, definition, &mut found);
        }
        found
    }

    fn look(&self, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
        if let Some(schema) = referred(schema).and_then(|name| self.definition(name)) {
            return self.look(schema, value, path, found);
        }
        if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
            return self.look_at_choices(choices, value, path, found);
        }
        if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
            for (index, value) in values.iter().enumerate() {
                self.look(items, value, &format!("{path}/{index}"), found);
            }
        }
        let Some(members) = value.as_object() else { return };
        for (key, value) in members.iter().filter(|(key, _)| *key != "_meta") {
            let path = format!("{path}/{key}");
            match schema.get("properties").and_then(|properties| properties.get(key)) {
                Some(schema) => self.look(schema, value, &path, found),
                None => match schema.get("additionalProperties") {
                    Some(schema) => self.look(schema, value, &path, found),
                    None if schema.get("properties").is_some() => found.push(path),
                    None => {}
                },
            }
        }
    }

    /// A value has to fit one choice only, so the one that it fits best counts.
    fn look_at_choices(
        &self,
        choices: &[Value],
        value: &Value,
        path: &str,
        found: &mut Vec<String>,
    ) {
        let each = choices.iter().map(|choice| {
            let mut found = Vec::new();
            self.look(choice, value, path, &mut found);
            found
        });
        found.extend(each.min_by_key(Vec::len).unwrap_or_default());
    }
}
