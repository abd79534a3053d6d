//! The results of the handshake: `initialize` before 2026-07-28, `server/discover` since.

use super::fields::view;
use super::meta::key;
use super::server_capabilities::{Implementation, ServerCapabilities};
use super::violation::{JsonType, MemberRule, ProtocolViolation};
use crate::Json;

view! {
    /// The result of `initialize`.
    InitializeResult, &[("", &[
        MemberRule::required("protocolVersion", JsonType::String),
        MemberRule::required("capabilities", JsonType::Object),
        MemberRule::required("serverInfo", JsonType::Object),
        MemberRule::optional("instructions", JsonType::String),
    ])]
}

view! {
    /// The result of `server/discover`.
    DiscoverResult, &[("", &[
        MemberRule::required("supportedVersions", JsonType::Array),
        MemberRule::required("capabilities", JsonType::Object),
        MemberRule::required("resultType", JsonType::String),
        MemberRule::required("ttlMs", JsonType::Number),
        MemberRule::required("cacheScope", JsonType::String).one_of(&["private", "public"]),
        MemberRule::optional("instructions", JsonType::String),
    ])]
}

/// Defines the accessors that both results have in common.
macro_rules! handshake_result {
    ($($name:ident)*) => { $(
        impl $name {
            /// Returns the server capabilities; empty if missing.
            pub(crate) fn capabilities(&self) -> ServerCapabilities {
                ServerCapabilities::read(self.raw.get("capabilities").unwrap_or_else(Json::object))
            }

            /// Returns the server info, from `_meta` or from the result itself.
            pub(crate) fn server_info(&self) -> Implementation {
                Implementation::read(self.info().unwrap_or_else(Json::object))
            }

            fn info(&self) -> Option<Json> {
                let info = self.raw.object_at("_meta").and_then(|meta| meta.get(key::SERVER_INFO));
                info.or_else(|| self.raw.get("serverInfo"))
            }

            /// Returns the server's instructions for the model: untrusted text.
            pub(crate) fn instructions(&self) -> Option<String> {
                self.raw.get("instructions")?.to_text()
            }

            /// Returns the protocol violations, also in the capabilities and the server info.
            pub fn all_violations(&self) -> Vec<ProtocolViolation> {
                let mut violations = self.violations();
                for violation in self.capabilities().violations() {
                    violations.push(ProtocolViolation { within: "capabilities", ..violation });
                }
                for violation in self.info().iter().flat_map(|_| self.server_info().violations()) {
                    violations.push(ProtocolViolation { within: "serverInfo", ..violation });
                }
                violations
            }
        }
    )* };
}

handshake_result!(InitializeResult DiscoverResult);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_initialize_result_has_no_violations() {
        let text = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},
            "serverInfo":{"name":"a","version":"1"},"instructions":"be kind"}"#;
        let result = InitializeResult::read(text.parse().unwrap());
        assert_eq!(result.server_info().name().unwrap(), "a");
        assert_eq!(result.instructions().unwrap(), "be kind");
        assert_eq!(result.all_violations(), []);
    }

    #[test]
    fn an_incomplete_initialize_result_is_read() {
        let text = r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":true},
            "serverInfo":{"name":"a"}}"#;
        let result = InitializeResult::read(text.parse().unwrap());
        assert!(result.capabilities().tools().is_some());
        let violations: Vec<_> = result.all_violations().iter().map(ToString::to_string).collect();
        assert_eq!(
            violations,
            ["capabilities.tools is a boolean, not an object", "serverInfo.version is missing"]
        );
        let nothing = InitializeResult::read("{}".parse().unwrap());
        assert_eq!(nothing.capabilities().tools(), None);
    }

    #[test]
    fn server_info_of_a_discover_result_is_in_meta_or_beside_it() {
        let check = |text: &str, name: &str| {
            let result = DiscoverResult::read(text.parse().unwrap());
            assert_eq!(result.server_info().name().unwrap(), name);
        };
        let meta = r#"{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"1"}}"#;
        check(&format!(r#"{{"capabilities":{{}},"_meta":{meta}}}"#), "m");
        check(r#"{"supportedVersions":"2026-07-28","serverInfo":{"name":"b"}}"#, "b");
    }
}
