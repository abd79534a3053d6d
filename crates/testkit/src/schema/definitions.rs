//! One schema, and which of its definitions belongs to which message.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Value, json};
use wharf_protocol::era::{Era, Revision};

/// Methods of extensions: the schema of the revision knows only the frame around them.
const EXTENSIONS: &[&str] = &[
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
    "skills/list",
    "skills/get",
    "resources/directory/read",
    "notifications/tasks",
];

/// Who sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sender {
    /// The client.
    Client,
    /// The server.
    Server,
}

impl Sender {
    /// Returns who is on the other side.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Says what is wrong with a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Violation {
    /// The definition that was broken, or what was looked for.
    pub definition: String,
    /// What is wrong.
    pub reasons: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.definition, self.reasons.join("; "))
    }
}

impl Violation {
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
    /// If the file in this package is broken.
    pub fn of(revision: Revision) -> Self {
        let text = match revision {
            Revision::V2024_11_05 => include_str!("../../schema/2024-11-05.json"),
            Revision::V2025_03_26 => include_str!("../../schema/2025-03-26.json"),
            Revision::V2025_06_18 => include_str!("../../schema/2025-06-18.json"),
            Revision::V2025_11_25 => include_str!("../../schema/2025-11-25.json"),
            Revision::V2026_07_28 => include_str!("../../schema/2026-07-28.json"),
        };
        let root: Value = serde_json::from_str(text).unwrap_or_default();
        assert!(root.is_object(), "the schema of {revision} is JSON");
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

    /// Returns the methods of requests or notifications that a side may send.
    pub fn methods(&self, sender: Sender, kind: &str) -> Vec<&str> {
        let members = self.union(&format!("{sender:?}{kind}"));
        members.into_iter().filter_map(|(_, definition)| method_of(definition)).collect()
    }

    /// Checks a request.
    pub fn check_request(&self, sender: Sender, message: &Value) -> Result<(), Violation> {
        self.check_named("JSONRPCRequest", message)?;
        self.check_asked(sender, "Request", message)
    }

    /// Checks a notification.
    pub fn check_notification(&self, sender: Sender, message: &Value) -> Result<(), Violation> {
        self.check_named("JSONRPCNotification", message)?;
        if message.get("id").is_some() {
            return Err(Violation::new("JSONRPCNotification", "has an id"));
        }
        self.check_asked(sender, "Notification", message)
    }

    /// Checks the answer to a request that `sender` got; `method` is the request's.
    pub fn check_response(
        &self,
        sender: Sender,
        method: &str,
        message: &Value,
    ) -> Result<(), Violation> {
        if self.revision.era() == Era::Modern && sender == Sender::Client {
            return Err(Violation::new("ClientResult", "a client answers nothing"));
        }
        let Some(result) = message.get("result") else {
            let names = ["JSONRPCErrorResponse", "JSONRPCError"];
            return self.check_named(self.first_of(&names), message);
        };
        self.check_named(self.first_of(&["JSONRPCResultResponse", "JSONRPCResponse"]), message)?;
        self.check_named(&self.result_of(sender, method, result), result)
    }

    /// Checks a value against a definition.
    pub fn check_named(&self, definition: &str, value: &Value) -> Result<(), Violation> {
        if self.definition(definition).is_none() {
            return Err(Violation::new(definition, format!("not defined in {}", self.revision)));
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
        Err(Violation { definition: definition.to_owned(), reasons })
    }

    /// Returns the definition of a request or notification.
    pub fn definition_of(&self, sender: Sender, kind: &str, method: &str) -> Option<&str> {
        let union = format!("{sender:?}{kind}");
        let mut members = self.union(&union).into_iter();
        members.find(|(_, definition)| method_of(definition) == Some(method)).map(|(name, _)| name)
    }

    fn check_asked(&self, sender: Sender, kind: &str, message: &Value) -> Result<(), Violation> {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        if let Some(name) = self.definition_of(sender, kind, method) {
            return self.check_named(name, message);
        }
        if self.revision.era() == Era::Modern && EXTENSIONS.contains(&method) {
            let params = message.get("params").cloned().unwrap_or_else(|| json!({}));
            return self.check_named(&format!("{kind}Params"), &params);
        }
        let union = format!("{sender:?}{kind}");
        Err(Violation::new(&union, format!("{method} does not exist in {}", self.revision)))
    }

    /// Returns the definition of a result: `CallToolRequest` is answered with `CallToolResult`.
    fn result_of(&self, sender: Sender, method: &str, result: &Value) -> String {
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

    fn first_of<'n>(&self, names: &[&'n str; 2]) -> &'n str {
        if self.definition(names[0]).is_some() { names[0] } else { names[1] }
    }

    /// Returns the members of a union, or the definition itself if it is none.
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
        let names = members.iter().filter_map(|member| referred(member));
        names.filter_map(|name| Some((name, self.definition(name)?))).collect()
    }

    fn validator(&self, definition: &str) -> Result<Validator, Violation> {
        let mut schema = self.root.clone();
        schema["$ref"] = format!("#/{}/{definition}", self.keyword).into();
        jsonschema::validator_for(&schema)
            .map_err(|error| Violation::new(definition, format!("broken schema: {error}")))
    }
}

/// Returns the name of the definition that a schema refers to.
pub(super) fn referred(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

fn method_of(definition: &Value) -> Option<&str> {
    definition.get("properties")?.get("method")?.get("const")?.as_str()
}
