//! The first answer of a server: to `initialize` before 2026-07-28, to `server/discover` since.

use bytestring::ByteString;

use super::fields::{Fields, view};
use super::meta::key;
use super::odd::{Kind, Oddity, Rule};
use super::page::CacheHints;
use super::server::{Implementation, ServerCapabilities};
use crate::Json;
use crate::era::Revision;

view! {
    /// The answer to `initialize`.
    InitializeResult, &[("", &[
        Rule::needed("protocolVersion", Kind::String),
        Rule::needed("capabilities", Kind::Object),
        Rule::needed("serverInfo", Kind::Object),
        Rule::optional("instructions", Kind::String),
    ])]
}

impl InitializeResult {
    /// Returns the revision that the server wants to speak, as it wrote it.
    pub fn protocol_version(&self) -> Option<ByteString> {
        self.raw.text_at("protocolVersion")
    }

    /// Returns the revision, if it is one that Wharf speaks.
    pub fn revision(&self) -> Option<Revision> {
        self.protocol_version()?.trim().parse().ok()
    }
}

view! {
    /// The answer to `server/discover`.
    DiscoverResult, &[("", &[
        Rule::needed("supportedVersions", Kind::Array),
        Rule::needed("capabilities", Kind::Object),
        Rule::needed("resultType", Kind::String),
        Rule::needed("ttlMs", Kind::Number),
        Rule::needed("cacheScope", Kind::String).one_of(&["private", "public"]),
        Rule::optional("instructions", Kind::String),
    ])]
}

impl DiscoverResult {
    /// Tells whether this is an answer to that request at all: older servers answer `{}` to anything.
    pub fn is_meant(&self) -> bool {
        self.raw.field("supportedVersions").is_some_and(|versions| !versions.is_null())
    }

    /// Returns the revisions that the server speaks, as it wrote them; also a single one.
    pub fn supported_versions(&self) -> Vec<ByteString> {
        let single = self.raw.text_at("supportedVersions");
        single.map_or_else(|| self.raw.texts_at("supportedVersions"), |version| vec![version])
    }

    /// Returns those that Wharf speaks, too, in the server's order.
    pub fn revisions(&self) -> Vec<Revision> {
        let versions = self.supported_versions();
        versions.iter().filter_map(|version| version.trim().parse().ok()).collect()
    }

    /// Returns how long the answer may be kept.
    pub fn cache(&self) -> CacheHints {
        CacheHints::read(&self.raw)
    }
}

/// Gives both first answers the same accessors.
macro_rules! introduction {
    ($($name:ident)*) => { $(
        impl $name {
            /// Returns what the server can do; nothing, if it does not say.
            pub fn capabilities(&self) -> ServerCapabilities {
                ServerCapabilities::read(self.raw.field("capabilities").unwrap_or_else(Json::object))
            }

            /// Returns who the server says it is, from `_meta` or from beside it.
            pub fn server_info(&self) -> Implementation {
                Implementation::read(self.info().unwrap_or_else(Json::object))
            }

            fn info(&self) -> Option<Json> {
                let info = self.meta().and_then(|meta| meta.field(key::SERVER_INFO));
                info.or_else(|| self.raw.field("serverInfo"))
            }

            /// Returns how the server wants to be used: foreign text.
            pub fn instructions(&self) -> Option<String> {
                self.raw.field("instructions")?.to_text()
            }

            /// Returns what is against the rules, also in the capabilities and the name.
            pub fn all_oddities(&self) -> Vec<Oddity> {
                let mut oddities = self.oddities();
                for oddity in self.capabilities().oddities() {
                    oddities.push(Oddity { within: "capabilities", ..oddity });
                }
                for oddity in self.info().iter().flat_map(|_| self.server_info().oddities()) {
                    oddities.push(Oddity { within: "serverInfo", ..oddity });
                }
                oddities
            }
        }
    )* };
}

introduction!(InitializeResult DiscoverResult);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_first_answer_has_no_oddities() {
        let text = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},
            "serverInfo":{"name":"a","version":"1"},"instructions":"be kind"}"#;
        let result = InitializeResult::read(text.parse().unwrap());
        assert_eq!(result.revision(), Some(Revision::V2025_06_18));
        assert_eq!(result.server_info().name().unwrap(), "a");
        assert_eq!(result.instructions().unwrap(), "be kind");
        assert_eq!(result.all_oddities(), []);
    }

    #[test]
    fn a_poor_first_answer_is_enough() {
        let text = r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":true},
            "serverInfo":{"name":"a"}}"#;
        let result = InitializeResult::read(text.parse().unwrap());
        assert!(result.capabilities().tools().is_some());
        let oddities: Vec<_> = result.all_oddities().iter().map(ToString::to_string).collect();
        assert_eq!(
            oddities,
            ["capabilities.tools is a boolean, not an object", "serverInfo.version is missing"]
        );
        let nothing = InitializeResult::read("{}".parse().unwrap());
        assert_eq!(nothing.revision(), None);
        assert_eq!(nothing.capabilities().tools(), None);
    }

    #[test]
    fn a_discovery_names_the_server_in_meta_or_beside_it() {
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
    fn an_answer_to_something_else_is_no_discovery() {
        for text in ["{}", "null", r#"{"tools":[]}"#, r#"{"supportedVersions":null}"#] {
            assert!(!DiscoverResult::read(text.parse().unwrap()).is_meant(), "{text}");
        }
    }
}
