//! The schema of one revision: selects the definition of a message, and checks the message.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Value, json};
use wharf_protocol::era::{Era, Revision};

/// The methods of extensions; the schema of a revision defines only their envelope.
const EXTENSIONS: &[&str] = &[
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
    "skills/list",
    "skills/get",
    "resources/directory/read",
    "notifications/tasks",
];

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sender {
    /// The client.
    Client,
    /// The server.
    Server,
}

impl Sender {
    /// Returns the receiver.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// What is wrong with a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SchemaViolation {
    /// The violated definition, or the missing one.
    pub definition: String,
    /// The errors.
    pub reasons: Vec<String>,
}

impl fmt::Display for SchemaViolation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.definition, self.reasons.join("; "))
    }
}

impl SchemaViolation {
    fn new(definition: &str, reason: impl Into<String>) -> Self {
        Self { definition: definition.to_owned(), reasons: vec![reason.into()] }
    }
}

/// The schema of one revision.
#[derive(Debug)]
pub struct Schema {
    revision: Revision,
    root: Value,
    keyword: &'static str,
    validators: Mutex<HashMap<String, Validator>>,
}

impl Schema {
    /// Reads the schema of a revision.
    ///
    /// # Panics
    ///
    /// If the file in this package is not valid JSON.
    pub fn of(revision: Revision) -> Self {
        let text = match revision {
            Revision::V2024_11_05 => include_str!("../../schema/2024-11-05.json"),
            Revision::V2025_03_26 => include_str!("../../schema/2025-03-26.json"),
            Revision::V2025_06_18 => include_str!("../../schema/2025-06-18.json"),
            Revision::V2025_11_25 => include_str!("../../schema/2025-11-25.json"),
            Revision::V2026_07_28 => include_str!("../../schema/2026-07-28.json"),
        };
        let root: Value = serde_json::from_str(text).unwrap_or_default();
        assert!(root.is_object(), "the schema of {revision} is not JSON");
        let keyword = if root.get("$defs").is_some() { "$defs" } else { "definitions" };
        Self { revision, root, keyword, validators: Mutex::default() }
    }

    /// Returns the revision.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns a definition.
    pub fn definition(&self, name: &str) -> Option<&Value> {
        self.root.get(self.keyword)?.get(name)
    }

    /// Returns the methods that a side may send; `kind` is `Request` or `Notification`.
    pub fn methods(&self, sender: Sender, kind: &str) -> Vec<&str> {
        let members = self.union(&format!("{sender:?}{kind}"));
        members.into_iter().filter_map(|(_, definition)| method_of(definition)).collect()
    }

    /// Checks a request.
    pub fn check_request(&self, sender: Sender, message: &Value) -> Result<(), SchemaViolation> {
        self.check_named("JSONRPCRequest", message)?;
        self.check_method(sender, "Request", message)
    }

    /// Checks a notification.
    pub fn check_notification(
        &self,
        sender: Sender,
        message: &Value,
    ) -> Result<(), SchemaViolation> {
        self.check_named("JSONRPCNotification", message)?;
        if message.get("id").is_some() {
            return Err(SchemaViolation::new("JSONRPCNotification", "has an id"));
        }
        self.check_method(sender, "Notification", message)
    }

    /// Checks the response of `sender` to a request with this method.
    pub fn check_response(
        &self,
        sender: Sender,
        method: &str,
        message: &Value,
    ) -> Result<(), SchemaViolation> {
        if self.revision.era() == Era::Modern && sender == Sender::Client {
            return Err(SchemaViolation::new("ClientResult", "a modern client sends no responses"));
        }
        let Some(result) = message.get("result") else {
            let names = ["JSONRPCErrorResponse", "JSONRPCError"];
            return self.check_named(self.first_defined(&names), message);
        };
        self.check_named(
            self.first_defined(&["JSONRPCResultResponse", "JSONRPCResponse"]),
            message,
        )?;
        self.check_named(&self.result_definition(sender, method, result), result)
    }

    /// Checks a value against a definition.
    pub fn check_named(&self, definition: &str, value: &Value) -> Result<(), SchemaViolation> {
        if self.definition(definition).is_none() {
            return Err(SchemaViolation::new(
                definition,
                format!("not defined in {}", self.revision),
            ));
        }
        let mut validators = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        if !validators.contains_key(definition) {
            let validator = self.validator(definition)?;
            validators.insert(definition.to_owned(), validator);
        }
        let reasons: Vec<String> = validators
            .get(definition)
            .into_iter()
            .flat_map(|validator| validator.iter_errors(value))
            .map(|error| format!("{error} at {}", error.instance_path()))
            .collect();
        if reasons.is_empty() {
            return Ok(());
        }
        Err(SchemaViolation { definition: definition.to_owned(), reasons })
    }

    /// Returns the name of the definition of a request or notification.
    pub fn definition_of(&self, sender: Sender, kind: &str, method: &str) -> Option<&str> {
        let union = format!("{sender:?}{kind}");
        let mut members = self.union(&union).into_iter();
        members.find(|(_, definition)| method_of(definition) == Some(method)).map(|(name, _)| name)
    }

    fn check_method(
        &self,
        sender: Sender,
        kind: &str,
        message: &Value,
    ) -> Result<(), SchemaViolation> {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        if let Some(name) = self.definition_of(sender, kind, method) {
            return self.check_named(name, message);
        }
        if self.revision.era() == Era::Modern && EXTENSIONS.contains(&method) {
            let params = message.get("params").cloned().unwrap_or_else(|| json!({}));
            return self.check_named(&format!("{kind}Params"), &params);
        }
        let union = format!("{sender:?}{kind}");
        Err(SchemaViolation::new(&union, format!("{method} does not exist in {}", self.revision)))
    }

    /// Returns the name of the definition of a result: `CallToolResult` for `CallToolRequest`.
    fn result_definition(&self, sender: Sender, method: &str, result: &Value) -> String {
        let kind = result.get("resultType").and_then(Value::as_str);
        match kind.filter(|_| self.revision.era() == Era::Modern) {
            Some("input_required") => return "InputRequiredResult".to_owned(),
            Some("task") => return "Result".to_owned(),
            _ => {}
        }
        if result.get("task").is_some() && self.definition("CreateTaskResult").is_some() {
            return "CreateTaskResult".to_owned();
        }
        let request = self.definition_of(sender.other(), "Request", method);
        let named = request.and_then(|name| name.strip_suffix("Request"));
        let named = named.map(|name| format!("{name}Result"));
        named.filter(|name| self.definition(name).is_some()).unwrap_or_else(|| "Result".to_owned())
    }

    fn first_defined<'n>(&self, names: &[&'n str; 2]) -> &'n str {
        if self.definition(names[0]).is_some() { names[0] } else { names[1] }
    }

    /// Returns the members of a union, or the definition itself if it is not a union.
    fn union(&self, name: &str) -> Vec<(&str, &Value)> {
        let Some((name, union)) = self
            .root
            .get(self.keyword)
            .and_then(Value::as_object)
            .and_then(|all| all.iter().find(|(key, _)| *key == name))
        else {
            return Vec::new();
        };
        let Some(members) = union.get("anyOf").and_then(Value::as_array) else {
            return vec![(name, union)];
        };
        let names = members.iter().filter_map(|member| referenced_definition(member));
        names.filter_map(|name| Some((name, self.definition(name)?))).collect()
    }

    fn validator(&self, definition: &str) -> Result<Validator, SchemaViolation> {
        let mut schema = self.root.clone();
        schema["$ref"] = format!("#/{}/{definition}", self.keyword).into();
        jsonschema::validator_for(&schema)
            .map_err(|error| SchemaViolation::new(definition, format!("broken schema: {error}")))
    }
}

/// Returns the name of the definition that a schema refers to.
pub(super) fn referenced_definition(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

fn method_of(definition: &Value) -> Option<&str> {
    definition.get("properties")?.get("method")?.get("const")?.as_str()
}
