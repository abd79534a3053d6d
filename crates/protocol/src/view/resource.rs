//! Resources, resource templates, and the contents of resources.

use bytestring::ByteString;

use super::fields::{entry, view};
use super::violation::{JsonType, MemberRule, ObjectRules};
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
    /// A resource that a server can read.
    Resource, "resources", "uri" as uri, RESOURCE
}

entry! {
    /// A URI template for resources.
    ResourceTemplate, "resourceTemplates", "uriTemplate" as uri_template, TEMPLATE
}

/// Defines the accessors that resources and resource templates have in common.
macro_rules! resource_accessors {
    ($($name:ident)*) => { $(
        impl $name {
            /// Returns the name; if it is missing, the URI.
            pub fn name(&self) -> ByteString {
                let name = self.raw.text_at("name").filter(|name| !name.is_empty());
                name.unwrap_or_else(|| self.key.clone())
            }

            /// Returns the display name.
            pub fn title(&self) -> Option<ByteString> {
                self.raw.text_at("title").filter(|title| !title.is_empty())
            }

            /// Returns the server's description: untrusted text.
            pub fn description(&self) -> Option<ByteString> {
                self.raw.text_at("description")
            }

            /// Returns the MIME type.
            pub fn mime_type(&self) -> Option<ByteString> {
                self.raw.text_at("mimeType")
            }
        }
    )* };
}

resource_accessors!(Resource ResourceTemplate);

impl Resource {
    /// Returns the size in bytes.
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
    /// The contents of a resource, or of one file in a folder.
    ResourceContents, CONTENTS
}

/// The body of a resource.
#[derive(Clone, PartialEq, Eq)]
pub enum ResourceBody {
    /// A text.
    Text(ByteString),
    /// Bytes, as Base64.
    Blob(ByteString),
    /// Neither text nor bytes.
    Missing,
}

/// Prints only the length: the content may be secret.
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
    /// Returns the URI.
    pub fn uri(&self) -> Option<ByteString> {
        self.raw.text_at("uri")
    }

    /// Returns the MIME type.
    pub fn mime_type(&self) -> Option<ByteString> {
        self.raw.text_at("mimeType")
    }

    /// Returns the body; a blob is preferred over an empty text, because some servers send both.
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
    /// The result of `resources/read`.
    ReadResult
}

impl ReadResult {
    /// Returns the contents; also accepts a single object instead of a list.
    pub fn contents(&self) -> Vec<ResourceContents> {
        let contents = self.raw.get("contents");
        let list = match contents {
            Some(single) if single.is_object() => vec![single],
            Some(list) => list.items().unwrap_or_default(),
            None => Vec::new(),
        };
        list.into_iter().filter(Json::is_object).map(ResourceContents::read).collect()
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
    }
}
