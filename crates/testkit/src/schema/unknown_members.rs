//! Finds members of a message that its schema does not define.

use serde_json::Value;

use super::definitions::{Schema, Sender, referenced_definition};

impl Schema {
    /// Returns the paths of the members of a message that its definition does not name.
    ///
    /// Ignores `_meta`, which may have any members, and objects that the schema does not restrict,
    /// such as the arguments of a tool.
    pub fn unknown_members(&self, sender: Sender, message: &Value) -> Vec<String> {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let kind = if message.get("id").is_some() { "Request" } else { "Notification" };
        let definition = self.definition_of(sender, kind, method);
        let Some(schema) = definition.and_then(|name| self.definition(name)) else {
            return Vec::new();
        };
        let params = schema.get("properties").and_then(|properties| properties.get("params"));
        let mut found = Vec::new();
        if let (Some(schema), Some(params)) = (params, message.get("params")) {
            self.collect(schema, params, "params", &mut found);
        }
        found
    }

    /// Returns the paths of the members of a value that a definition does not name.
    pub fn unknown_members_of(&self, definition: &str, value: &Value) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(schema) = self.definition(definition) {
            self.collect(schema, value, definition, &mut found);
        }
        found
    }

    fn collect(&self, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
        if let Some(schema) = referenced_definition(schema).and_then(|name| self.definition(name)) {
            return self.collect(schema, value, path, found);
        }
        if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
            return self.collect_from_choices(choices, value, path, found);
        }
        if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
            for (index, value) in values.iter().enumerate() {
                self.collect(items, value, &format!("{path}/{index}"), found);
            }
        }
        let Some(members) = value.as_object() else { return };
        for (key, value) in members.iter().filter(|(key, _)| *key != "_meta") {
            let path = format!("{path}/{key}");
            match schema.get("properties").and_then(|properties| properties.get(key)) {
                Some(schema) => self.collect(schema, value, &path, found),
                None => match schema.get("additionalProperties") {
                    Some(schema) => self.collect(schema, value, &path, found),
                    None if schema.get("properties").is_some() => found.push(path),
                    None => {}
                },
            }
        }
    }

    /// Uses the choice with the fewest unknown members, because a value must match only one.
    fn collect_from_choices(
        &self,
        choices: &[Value],
        value: &Value,
        path: &str,
        found: &mut Vec<String>,
    ) {
        let each = choices.iter().map(|choice| {
            let mut found = Vec::new();
            self.collect(choice, value, path, &mut found);
            found
        });
        found.extend(each.min_by_key(Vec::len).unwrap_or_default());
    }
}
