//! The size that OpenAI accepts for one strict schema.

use serde_json::Value;

const MAX_PROPERTIES: usize = 5000;
const MAX_ENUM_VALUES: usize = 1000;
const MAX_OBJECT_LEVELS: usize = 10;

/// The maximum length of all names of properties and definitions and all fixed values.
const MAX_TEXT_LENGTH: usize = 120_000;

/// An enum with more strings than this may have only `MAX_LONG_ENUM_LENGTH` characters.
const LONG_ENUM: usize = 250;
const MAX_LONG_ENUM_LENGTH: usize = 15_000;

#[derive(Default)]
struct Size {
    properties: usize,
    enum_values: usize,
    text: usize,
    levels: usize,
    has_long_enum: bool,
}

/// Tells whether a strict schema is within the limits.
pub(super) fn is_within(schema: &Value) -> bool {
    let mut size = Size::default();
    size.add(schema, 0);
    size.properties <= MAX_PROPERTIES
        && size.enum_values <= MAX_ENUM_VALUES
        && size.text <= MAX_TEXT_LENGTH
        && size.levels <= MAX_OBJECT_LEVELS
        && !size.has_long_enum
}

impl Size {
    fn add(&mut self, schema: &Value, level: usize) {
        let is_object = schema.get("properties").is_some();
        let level = level + usize::from(is_object);
        self.levels = self.levels.max(level);
        for key in ["properties", "$defs"] {
            for (name, schema) in schema.get(key).and_then(Value::as_object).into_iter().flatten() {
                self.properties += usize::from(key == "properties");
                self.text += name.len();
                // A definition is not nested in the root.
                self.add(schema, if key == "properties" { level } else { 0 });
            }
        }
        if let Some(items) = schema.get("items") {
            self.add(items, level);
        }
        for branch in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
            self.add(branch, level);
        }
        self.add_values(schema);
    }

    fn add_values(&mut self, schema: &Value) {
        let length = |value: &Value| value.as_str().map_or(0, str::len);
        self.text += schema.get("const").map_or(0, length);
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let text: usize = values.iter().map(length).sum();
            self.enum_values += values.len();
            self.text += text;
            self.has_long_enum |= values.len() > LONG_ENUM && text > MAX_LONG_ENUM_LENGTH;
        }
    }
}
