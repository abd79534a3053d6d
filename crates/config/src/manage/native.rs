//! Converts a definition of any program to an entry of Wharf's own files.

use serde_json::{Map, Value, json};

use crate::document::{self, Node};
use crate::server::{OAuth, TransportKind};

use super::portable::PortableDefinition;

/// Returns the entry for one of Wharf's own files.
pub(super) fn entry(portable: &PortableDefinition) -> Value {
    let mut entry = Map::new();
    let mut set = |key: &str, value: Value| {
        let is_empty = match &value {
            Value::Null => true,
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        };
        if !is_empty {
            entry.insert(key.to_owned(), value);
        }
    };
    if portable.kind != TransportKind::Stdio {
        set("type", portable.kind.word().into());
    }
    set("command", json!(portable.command));
    set("args", json!(portable.args));
    set("env", pairs(&portable.env));
    set("cwd", json!(portable.cwd));
    set("url", json!(portable.url));
    set("headers", pairs(&portable.headers));
    set("timeout", json!(portable.timeouts.both));
    set("connectTimeout", json!(portable.timeouts.connect));
    set("callTimeout", json!(portable.timeouts.call));
    set("oauth", oauth(portable.oauth.as_ref()));
    set("includeTools", json!(portable.include_tools));
    set("excludeTools", json!(portable.exclude_tools));
    set("passEnv", json!(portable.pass_env));
    if portable.is_off {
        set("enabled", false.into());
    }
    Value::Object(entry)
}

/// Makes a JSON object of names and values, in their order.
pub(crate) fn pairs(pairs: &[(String, String)]) -> Value {
    let map = pairs.iter().map(|(name, value)| (name.clone(), value.as_str().into()));
    Value::Object(map.collect())
}

fn oauth(oauth: Option<&OAuth>) -> Value {
    let Some(oauth) = oauth.filter(|oauth| !oauth.off) else { return Value::Null };
    let mut map = Map::new();
    let mut set = |key: &str, value: Value| {
        if !value.is_null() {
            map.insert(key.to_owned(), value);
        }
    };
    set("clientId", json!(oauth.client_id.as_ref().map(|id| &id.text)));
    set("scope", json!(oauth.scope));
    set("callbackPort", json!(oauth.callback_port));
    set("redirectUri", json!(oauth.redirect_uri));
    set("grant", json!(oauth.grant));
    Value::Object(map)
}

/// Converts a value of a file to JSON.
pub(super) fn json_of(node: &Node) -> Value {
    match &node.value {
        document::Value::Null => Value::Null,
        document::Value::Bool(truth) => (*truth).into(),
        document::Value::Number(digits) => {
            serde_json::from_str(digits).unwrap_or_else(|_| digits.as_str().into())
        }
        document::Value::String(text) => text.as_str().into(),
        document::Value::List(list) => list.iter().map(json_of).collect(),
        document::Value::Map(map) => {
            let pairs = map.iter().map(|(key, value)| (key.text.clone(), json_of(value)));
            Value::Object(pairs.collect())
        }
    }
}
