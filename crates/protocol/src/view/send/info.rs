//! Client info: name and version of the client.

use super::{encode, object};
use crate::Json;
use crate::era::Revision;

/// The name and version of the client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientInfo {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// The display name (from 2025-06-18 on).
    pub title: Option<String>,
    /// The description (from 2025-11-25 on).
    pub description: Option<String>,
    /// The URL of the website (from 2025-11-25 on).
    pub website_url: Option<String>,
}

impl ClientInfo {
    /// Creates the info with name and version only.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), ..Self::default() }
    }

    /// Writes the members that the revision knows.
    pub(crate) fn render(&self, revision: Revision) -> Json {
        let since = |first: Revision, text: &Option<String>| {
            text.as_ref().filter(|_| revision >= first).map(encode)
        };
        object([
            ("name", Some(encode(&self.name))),
            ("version", Some(encode(&self.version))),
            ("title", since(Revision::V2025_06_18, &self.title)),
            ("description", since(Revision::V2025_11_25, &self.description)),
            ("websiteUrl", since(Revision::V2025_11_25, &self.website_url)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_members_are_only_for_newer_revisions() {
        let info = ClientInfo {
            title: Some("T".into()),
            description: Some("D".into()),
            website_url: Some("https://a.example".into()),
            ..ClientInfo::new("n", "1")
        };
        let rendered = |revision| info.render(revision).as_str().to_owned();
        assert_eq!(rendered(Revision::V2025_03_26), r#"{"name":"n","version":"1"}"#);
        assert_eq!(rendered(Revision::V2025_06_18), r#"{"name":"n","version":"1","title":"T"}"#);
        assert!(rendered(Revision::V2026_07_28).contains("websiteUrl"));
    }
}
