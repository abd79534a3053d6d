//! Converts a definition of any program to an entry of Wharf's own files.

use crate::edit::{JsonObject, JsonValue};
use crate::server::{OAuth, TransportKind};

use super::portable::PortableDefinition;

/// Returns the entry for one of Wharf's own files.
pub(super) fn entry(portable: &PortableDefinition) -> JsonValue {
    let mut entry = JsonObject::new();
    let mut set = |key: &str, value: JsonValue| {
        let is_empty = match &value {
            JsonValue::Null => true,
            JsonValue::Array(list) => list.is_empty(),
            JsonValue::Object(map) => map.is_empty(),
            _ => false,
        };
        if !is_empty {
            entry.insert(key.to_owned(), value);
        }
    };
    if portable.kind != TransportKind::Stdio {
        set("type", portable.kind.word().into());
    }
    set("command", portable.command.clone().into());
    set("args", portable.args.clone().into());
    set("env", pairs(&portable.env));
    set("cwd", portable.cwd.clone().into());
    set("url", portable.url.clone().into());
    set("headers", pairs(&portable.headers));
    set("timeout", portable.timeouts.both.into());
    set("connectTimeout", portable.timeouts.connect.into());
    set("callTimeout", portable.timeouts.call.into());
    set("oauth", oauth(portable.oauth.as_ref()));
    set("includeTools", portable.include_tools.clone().into());
    set("excludeTools", portable.exclude_tools.clone().into());
    set("passEnv", portable.pass_env.clone().into());
    if portable.is_off {
        set("enabled", false.into());
    }
    JsonValue::Object(entry)
}

/// Makes a JSON object of names and values, in their order.
pub(crate) fn pairs(pairs: &[(String, String)]) -> JsonValue {
    let map = pairs.iter().map(|(name, value)| (name.clone(), value.as_str().into()));
    JsonValue::Object(map.collect())
}

fn oauth(oauth: Option<&OAuth>) -> JsonValue {
    let Some(oauth) = oauth.filter(|oauth| !oauth.off) else { return JsonValue::Null };
    let mut map = JsonObject::new();
    let mut set = |key: &str, value: JsonValue| {
        if !value.is_null() {
            map.insert(key.to_owned(), value);
        }
    };
    set("clientId", oauth.client_id.as_ref().map(|id| id.text.as_str()).into());
    set("clientIdMetadataUrl", oauth.client_metadata_url.clone().into());
    set("issuer", oauth.issuer.clone().into());
    set("scope", oauth.scope.clone().into());
    set("callbackPort", oauth.callback_port.map(u64::from).into());
    set("redirectUri", oauth.redirect_uri.clone().into());
    set("grant", oauth.grant.clone().into());
    JsonValue::Object(map)
}
