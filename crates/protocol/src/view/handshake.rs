//! The results of the handshake: `initialize` before 2026-07-28, `server/discover` since.

use bytestring::ByteString;

use super::fields::{JsonFields, view};
use super::list_page::CacheHints;
use super::meta::key;
use super::server_capabilities::{Implementation, ServerCapabilities};
use super::violation::{JsonType, MemberRule, ProtocolViolation};
use crate::Json;
use crate::era::Revision;

view! {
    /// The result of `initialize`.
    InitializeResult, &[("", &[
        MemberRule::required("protocolVersion", JsonType::String),
        MemberRule::required("capabilities", JsonType::Object),
        MemberRule::required("serverInfo", JsonType::Object),
        MemberRule::optional("instructions", JsonType::String),
    ])]
}

impl InitializeResult {
    /// Returns the revision that the server chose, as a string.
    pub fn protocol_version(&self) -> Option<ByteString> {
        self.raw.text_at("protocolVersion")
    }

    /// Returns the revision, if Wharf supports it.
    pub fn revision(&self) -> Option<Revision> {
        self.protocol_version()?.trim().parse().ok()
    }
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

impl DiscoverResult {
    /// Tells whether this is the result of `server/discover`: some older servers answer `{}` to any
    /// request.
    pub fn is_discover_result(&self) -> bool {
        self.raw.field("supportedVersions").is_some_and(|versions| !versions.is_null())
    }

    /// Returns the revisions that the server supports, as strings; also accepts a single string.
    pub fn supported_versions(&self) -> Vec<ByteString> {
        let single = self.raw.text_at("supportedVersions");
        single.map_or_else(|| self.raw.texts_at("supportedVersions"), |version| vec![version])
    }

    /// Returns the revisions that both the server and Wharf support, in the server's order.
    pub fn revisions(&self) -> Vec<Revision> {
        let versions = self.supported_versions();
        versions.iter().filter_map(|version| version.trim().parse().ok()).collect()
    }

    /// Returns how long the result may be cached.
    pub fn cache(&self) -> CacheHints {
        CacheHints::read(&self.raw)
    }
}

/// Defines the accessors that both results have in common.
macro_rules! handshake_result {
    ($($name:ident)*) => { $(
        impl $name {
            /// Returns the server capabilities; empty if missing.
            pub fn capabilities(&self) -> ServerCapabilities {
                ServerCapabilities::read(self.raw.field("capabilities").unwrap_or_else(Json::object))
            }

            /// Returns the server info, from `_meta` or from the result itself.
            pub fn server_info(&self) -> Implementation {
                Implementation::read(self.info().unwrap_or_else(Json::object))
            }

            fn info(&self) -> Option<Json> {
                let info = self.meta().and_then(|meta| meta.field(key::SERVER_INFO));
                info.or_else(|| self.raw.field("serverInfo"))
            }

            /// Returns the server's instructions for the model: untrusted text.
            pub fn instructions(&self) -> Option<String> {
                self.raw.field("instructions")?.to_text()
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
        assert_eq!(result.revision(), Some(Revision::V2025_06_18));
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
        assert_eq!(nothing.revision(), None);
        assert_eq!(nothing.capabilities().tools(), None);
    }

    #[test]
    fn server_info_of_a_discover_result_is_in_meta_or_beside_it() {
        let text = r#"{"supportedVersions":["2026-07-28","2099-01-01",5],"capabilities":{},
            "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"1"}},
            "ttlMs":-5,"cacheScope":"public"}"#;
        let result = DiscoverResult::read(text.parse().unwrap());
        assert_eq!(result.revisions(), [Revision::V2026_07_28]);
        assert_eq!(result.supported_versions().len(), 2);
        assert_eq!(result.server_info().name().unwrap(), "m");
        assert!(result.cache().ttl.is_zero());
        let beside = r#"{"supportedVersions":"2026-07-28","serverInfo":{"name":"b"}}"#;
        let beside = DiscoverResult::read(beside.parse().unwrap());
        assert_eq!(beside.server_info().name().unwrap(), "b");
        assert_eq!(beside.revisions(), [Revision::V2026_07_28]);
    }

    #[test]
    fn another_result_is_not_a_discover_result() {
        for text in ["{}", "null", r#"{"tools":[]}"#, r#"{"supportedVersions":null}"#] {
            assert!(!DiscoverResult::read(text.parse().unwrap()).is_discover_result(), "{text}");
        }
    }
}
