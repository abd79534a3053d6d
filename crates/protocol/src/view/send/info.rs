//! Client info: name and version of the client.

use serde::Serialize;

use super::encode;
use crate::Json;
use crate::era::Revision;

/// The name and version of the client.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientInfo {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// The display name (from 2025-06-18 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description (from 2025-11-25 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The URL of the website (from 2025-11-25 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
}

impl ClientInfo {
    /// Creates the info with name and version only.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), ..Self::default() }
    }

    /// Writes the members that the revision knows.
    pub(crate) fn render(&self, revision: Revision) -> Json {
        let mut info = self.clone();
        if revision < Revision::V2025_06_18 {
            info.title = None;
        }
        if revision < Revision::V2025_11_25 {
            info.description = None;
            info.website_url = None;
        }
        encode(&info)
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
