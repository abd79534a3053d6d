//! Resources, templates of resources, and what is inside a resource.

use bytestring::ByteString;

use super::annotations::{Annotations, Icon};
use super::fields::{JsonFields, entry, view};
use super::list_page::CacheHints;
use super::violation::{JsonType, MemberRule, ObjectRules, ProtocolViolation, ViolationKind};
use crate::Json;

const RESOURCE: ObjectRules = &[(
    "",
    &[
        MemberRule::required("uri", JsonType::String),
        MemberRule::required("name", JsonType::String),
        MemberRule::optional("title", JsonType::String),
        MemberRule::optional("description", JsonType::String),
        MemberRule::optional("mimeType", JsonType::String),
        MemberRule::optional("size", JsonType::Number),
        MemberRule::optional("annotations", JsonType::Object),
        MemberRule::optional("icons", JsonType::Array),
    ],
)];

const TEMPLATE: ObjectRules = &[(
    "",
    &[
        MemberRule::required("uriTemplate", JsonType::String),
        MemberRule::required("name", JsonType::String),
        MemberRule::optional("title", JsonType::String),
        MemberRule::optional("description", JsonType::String),
        MemberRule::optional("mimeType", JsonType::String),
        MemberRule::optional("annotations", JsonType::Object),
        MemberRule::optional("icons", JsonType::Array),
    ],
)];

entry! {
    /// Something that a server can be asked to read.
    Resource, "resources", "uri" as uri, RESOURCE
}

entry! {
    /// A pattern for the addresses of resources.
    ResourceTemplate, "resourceTemplates", "uriTemplate" as uri_template, TEMPLATE
}

/// Gives both kinds of resources the same accessors.
macro_rules! resource_accessors {
    ($($name:ident)*) => { $(
        impl $name {
            /// Returns its name, or its address if it has none.
            pub fn name(&self) -> ByteString {
                let name = self.raw.text_at("name").filter(|name| !name.is_empty());
                name.unwrap_or_else(|| self.key.clone())
            }

            /// Returns the name for people.
            pub fn title(&self) -> Option<ByteString> {
                self.raw.text_at("title").filter(|title| !title.is_empty())
            }

            /// Returns what it is, in the server's words.
            pub fn description(&self) -> Option<ByteString> {
                self.raw.text_at("description")
            }

            /// Returns the kind of content.
            pub fn mime_type(&self) -> Option<ByteString> {
                self.raw.text_at("mimeType")
            }

            /// Returns for whom it is.
            pub fn annotations(&self) -> Annotations {
                Annotations::of(&self.raw)
            }

            /// Returns its pictures.
            pub fn icons(&self) -> Vec<Icon> {
                Icon::of(&self.raw)
            }
        }
    )* };
}

resource_accessors!(Resource ResourceTemplate);

impl Resource {
    /// Returns its size in bytes.
    pub fn size(&self) -> Option<u64> {
        self.raw.u64_at("size")
    }
}

const CONTENTS: ObjectRules = &[(
    "",
    &[
        MemberRule::required("uri", JsonType::String),
        MemberRule::optional("mimeType", JsonType::String),
        MemberRule::optional("text", JsonType::String),
        MemberRule::optional("blob", JsonType::String),
    ],
)];

view! {
    /// What is inside a resource, or inside one of the files of a folder.
    ResourceContents, CONTENTS
}

/// The content itself.
#[derive(Clone, PartialEq, Eq)]
pub enum ResourceBody {
    /// A text.
    Text(ByteString),
    /// Bytes, as base64.
    Blob(ByteString),
    /// Neither.
    Missing,
}

/// Says only how long it is: the content may be secret.
impl std::fmt::Debug for ResourceBody {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => write!(formatter, "Text({} bytes)", text.len()),
            Self::Blob(blob) => write!(formatter, "Blob({} characters)", blob.len()),
            Self::Missing => formatter.write_str("Missing"),
        }
    }
}

impl ResourceContents {
    /// Returns its address.
    pub fn uri(&self) -> Option<ByteString> {
        self.raw.text_at("uri")
    }

    /// Returns the kind of content.
    pub fn mime_type(&self) -> Option<ByteString> {
        self.raw.text_at("mimeType")
    }

    /// Returns the content; an empty text may hide a blob, so that goes first.
    pub fn body(&self) -> ResourceBody {
        let text = self.raw.text_at("text");
        if let Some(text) = text.clone().filter(|text| !text.is_empty()) {
            return ResourceBody::Text(text);
        }
        match (self.raw.text_at("blob"), text) {
            (Some(blob), _) => ResourceBody::Blob(blob),
            (None, Some(empty)) => ResourceBody::Text(empty),
            (None, None) => ResourceBody::Missing,
        }
    }
}

view! {
    /// The answer to `resources/read`.
    ReadResult, &[("", &[MemberRule::required("contents", JsonType::Array)])]
}

impl ReadResult {
    /// Returns the contents; a single one that is in no list is accepted, too.
    pub fn contents(&self) -> Vec<ResourceContents> {
        let contents = self.raw.field("contents");
        let list = match contents {
            Some(single) if single.is_object() => vec![single],
            Some(list) => list.items().unwrap_or_default(),
            None => Vec::new(),
        };
        list.into_iter().filter(Json::is_object).map(ResourceContents::read).collect()
    }

    /// Returns how long it may be kept.
    pub fn cache(&self) -> CacheHints {
        CacheHints::read(&self.raw)
    }

    /// Returns what is against the rules, also inside the contents.
    pub fn all_violations(&self) -> Vec<ProtocolViolation> {
        let mut violations = self.violations();
        for contents in self.contents() {
            violations.extend(contents.violations());
            if contents.body() == ResourceBody::Missing {
                violations.push(ProtocolViolation::new("text", ViolationKind::Missing));
            }
        }
        violations
    }
}

#[cfg(test)]
mod tests {
    use super::super::ListEntry;
    use super::*;

    fn read(text: &str) -> ReadResult {
        ReadResult::read(text.parse().unwrap())
    }

    #[test]
    fn a_resource_without_a_name_uses_its_uri_as_name() {
        let resource = Resource::read(r#"{"uri":"a:b","name":""}"#.parse().unwrap()).unwrap();
        assert_eq!(resource.name(), "a:b");
        assert!(ResourceTemplate::read(r#"{"uri":"a:b"}"#.parse().unwrap()).is_err());
    }

    #[test]
    fn contents_are_text_or_blob_or_missing() {
        let result = read(
            r#"{"contents":[{"uri":"a","text":"t"},{"uri":"b","text":"","blob":"AA=="},
            {"uri":"c","text":""},{"uri":"d","text":null},5]}"#,
        );
        let bodies: Vec<_> = result.contents().iter().map(ResourceContents::body).collect();
        assert_eq!(
            bodies,
            [
                ResourceBody::Text("t".into()),
                ResourceBody::Blob("AA==".into()),
                ResourceBody::Text("".into()),
                ResourceBody::Missing
            ]
        );
        assert_eq!(format!("{:?}", bodies[1]), "Blob(4 characters)");
    }

    #[test]
    fn irregular_read_results_do_not_fail() {
        assert_eq!(read(r#"{"contents":{"uri":"a","text":"t"}}"#).contents().len(), 1);
        assert_eq!(read("{}").contents().len(), 0);
        assert_eq!(read("null").contents().len(), 0);
        assert_eq!(read("{}").all_violations()[0].to_string(), "contents is missing");
    }
}
