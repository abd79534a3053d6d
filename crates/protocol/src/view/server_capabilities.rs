//! Server capabilities and server info.
//!
//! A server has a capability unless the member is missing, `null` or `false`: `"tools": true` is a
//! protocol violation, but its meaning is clear.

use bytestring::ByteString;

use super::fields::view;
use super::violation::{JsonType, MemberRule, ObjectRules};
use crate::Json;

const CAPABILITIES: ObjectRules = &[(
    "",
    &[
        MemberRule::optional("tools", JsonType::Object),
        MemberRule::optional("resources", JsonType::Object),
        MemberRule::optional("prompts", JsonType::Object),
        MemberRule::optional("completions", JsonType::Object),
        MemberRule::optional("logging", JsonType::Object),
        MemberRule::optional("tasks", JsonType::Object),
        MemberRule::optional("experimental", JsonType::Object),
        MemberRule::optional("extensions", JsonType::Object),
    ],
)];

view! {
    /// The capabilities of a server.
    ServerCapabilities, CAPABILITIES
}

/// The details of a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CapabilityDetails {
    /// The server notifies when the list changes.
    pub list_changed: bool,
    /// The server supports subscriptions to resources.
    pub(crate) subscribe: bool,
}

impl ServerCapabilities {
    /// Returns the capability `tools`.
    pub fn tools(&self) -> Option<CapabilityDetails> {
        self.details_of("tools")
    }

    /// Returns the capability `resources`.
    pub fn resources(&self) -> Option<CapabilityDetails> {
        self.details_of("resources")
    }

    /// Returns the capability `prompts`.
    pub fn prompts(&self) -> Option<CapabilityDetails> {
        self.details_of("prompts")
    }

    /// Tells whether the server sends log messages.
    pub fn has_logging(&self) -> bool {
        declared_capability(&self.raw, "logging").is_some()
    }

    /// Returns the settings of an extension, if the server has it.
    pub fn extension(&self, name: &str) -> Option<Json> {
        declared_capability(&self.raw.object_at("extensions")?, name)
    }

    fn details_of(&self, name: &str) -> Option<CapabilityDetails> {
        let capability = declared_capability(&self.raw, name)?;
        let is_set = |key: &str| capability.bool_at(key).unwrap_or_default();
        Some(CapabilityDetails {
            list_changed: is_set("listChanged"),
            subscribe: is_set("subscribe"),
        })
    }
}

fn declared_capability(raw: &Json, name: &str) -> Option<Json> {
    raw.get(name).filter(|value| !value.is_null() && value.as_str() != "false")
}

view! {
    /// The name and version that a server reports: untrusted and not necessarily unique.
    Implementation, &[("", &[
        MemberRule::required("name", JsonType::String),
        MemberRule::required("version", JsonType::String),
        MemberRule::optional("title", JsonType::String),
        MemberRule::optional("description", JsonType::String),
        MemberRule::optional("websiteUrl", JsonType::String),
        MemberRule::optional("icons", JsonType::Array),
    ])]
}

impl Implementation {
    /// Returns the name; some servers send it as a string instead of an object.
    pub fn name(&self) -> Option<ByteString> {
        self.raw.to_shared_text().or_else(|| self.raw.text_at("name"))
    }

    /// Returns the version; also accepts a number.
    pub fn version(&self) -> Option<ByteString> {
        let version = self.raw.get("version").filter(|version| !version.is_null())?;
        let digits = || {
            (JsonType::of(&version) == JsonType::Number).then(|| ByteString::from(version.as_str()))
        };
        version.to_shared_text().or_else(digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities(text: &str) -> ServerCapabilities {
        ServerCapabilities::read(text.parse().unwrap())
    }

    #[test]
    fn a_capability_is_declared_unless_it_is_missing_null_or_false() {
        for declared in ["{}", "true", "1", "\"yes\"", "[]"] {
            let text = format!(r#"{{"tools":{declared}}}"#);
            assert_eq!(
                capabilities(&text).tools(),
                Some(CapabilityDetails::default()),
                "{declared}"
            );
        }
        for missing in [r#"{"tools":null}"#, r#"{"tools":false}"#, "{}", "null", "true"] {
            assert_eq!(capabilities(missing).tools(), None, "{missing}");
        }
        let violations = capabilities(r#"{"tools":true}"#).violations();
        assert_eq!(violations[0].to_string(), "tools is a boolean, not an object");
    }

    #[test]
    fn capability_details_are_read() {
        let all = capabilities(
            r#"{"resources":{"subscribe":true,"listChanged":"yes"},"logging":{},
            "extensions":{"a/b":{"x":1},"c/d":null}}"#,
        );
        assert_eq!(
            all.resources(),
            Some(CapabilityDetails { subscribe: true, list_changed: false })
        );
        assert!(all.has_logging());
        assert_eq!(all.extension("a/b").unwrap().as_str(), r#"{"x":1}"#);
        assert_eq!(all.extension("c/d"), None);
    }

    #[test]
    fn the_server_name_is_read_from_an_object_or_a_string() {
        let rendered = |text: &str| {
            let info = Implementation::read(text.parse().unwrap());
            (info.name().map(String::from), info.version().map(String::from))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(rendered(r#"{"name":"a","version":"1"}"#), (some("a"), some("1")));
        assert_eq!(rendered(r#"{"name":"a"}"#), (some("a"), None));
        assert_eq!(rendered(r#"{"name":"a","version":1.10}"#), (some("a"), some("1.10")));
        assert_eq!(rendered(r#""a""#), (some("a"), None));
        assert_eq!(rendered("null"), (None, None));
    }
}
