//! Reads and writes the fields of a JSON object; fields that nobody asked for are kept.

use serde_json::{Map, Value};

use crate::secret::Secret;

/// The fields of an object that is being read; each known field is taken out.
pub(super) struct Fields(Map<String, Value>);

/// The fields of an object that is being written.
pub(super) struct WrittenFields(Map<String, Value>);

/// A field that is missing or has another type.
#[derive(Debug, Clone, Copy)]
pub(super) struct InvalidField;

impl Fields {
    pub(super) fn new(fields: Map<String, Value>) -> Self {
        Self(fields)
    }

    pub(super) fn required(&mut self, name: &str) -> Result<String, InvalidField> {
        self.text(name)?.ok_or(InvalidField)
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, InvalidField> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(InvalidField),
        }
    }

    pub(super) fn secret(&mut self, name: &str) -> Result<Option<Secret>, InvalidField> {
        Ok(self.text(name)?.map(Secret::new))
    }

    pub(super) fn number(&mut self, name: &str) -> Result<Option<u64>, InvalidField> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or(InvalidField),
        }
    }

    pub(super) fn object(
        &mut self,
        name: &str,
    ) -> Result<Option<Map<String, Value>>, InvalidField> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(fields)) => Ok(Some(fields)),
            Some(_) => Err(InvalidField),
        }
    }

    /// Returns the fields that were not taken.
    pub(super) fn into_rest(self) -> Map<String, Value> {
        self.0
    }
}

impl WrittenFields {
    /// Adds to these fields.
    pub(super) fn over(fields: Map<String, Value>) -> Self {
        Self(fields)
    }

    pub(super) fn text(&mut self, name: &str, text: Option<&str>) {
        self.set(name, text.filter(|text| !text.is_empty()).map(Value::from));
    }

    pub(super) fn secret(&mut self, name: &str, secret: Option<&Secret>) {
        self.set(name, secret.map(|secret| Value::from(secret.expose())));
    }

    pub(super) fn number(&mut self, name: &str, number: Option<u64>) {
        self.set(name, number.map(Value::from));
    }

    pub(super) fn object(&mut self, name: &str, fields: Option<Map<String, Value>>) {
        self.set(name, fields.map(Value::Object));
    }

    pub(super) fn into_map(self) -> Map<String, Value> {
        self.0
    }

    fn set(&mut self, name: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value);
        }
    }
}
