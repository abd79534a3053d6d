//! Resources, templates of resources, and what is inside a resource.

use bytestring::ByteString;

use super::decor::{Annotations, Icon};
use super::fields::{Fields, entry, view};
use super::odd::{Deviation, Kind, Oddity, Rule, Rules};
use super::page::CacheHints;
use crate::Json;

const RESOURCE: Rules = &[(
    "",
    &[
        Rule::needed("uri", Kind::String),
        Rule::needed("name", Kind::String),
        Rule::optional("title", Kind::String),
        Rule::optional("description", Kind::String),
        Rule::optional("mimeType", Kind::String),
        Rule::optional("size", Kind::Number),
        Rule::optional("annotations", Kind::Object),
        Rule::optional("icons", Kind::Array),
    ],
)];

const TEMPLATE: Rules = &[(
    "",
    &[
        Rule::needed("uriTemplate", Kind::String),
        Rule::needed("name", Kind::String),
        Rule::optional("title", Kind::String),
        Rule::optional("description", Kind::String),
        Rule::optional("mimeType", Kind::String),
        Rule::optional("annotations", Kind::Object),
        Rule::optional("icons", Kind::Array),
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
macro_rules! described {
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

described!(Resource ResourceTemplate);

impl Resource {
    /// Returns its size in bytes.
    pub fn size(&self) -> Option<u64> {
        self.raw.whole_at("size")
    }
}

const CONTENTS: Rules = &[(
    "",
    &[
        Rule::needed("uri", Kind::String),
        Rule::optional("mimeType", Kind::String),
        Rule::optional("text", Kind::String),
        Rule::optional("blob", Kind::String),
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
    ReadResult, &[("", &[Rule::needed("contents", Kind::Array)])]
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
    pub fn all_oddities(&self) -> Vec<Oddity> {
        let mut oddities = self.oddities();
        for contents in self.contents() {
            oddities.extend(contents.oddities());
            if contents.body() == ResourceBody::Missing {
                oddities.push(Oddity::new("text", Deviation::Missing));
            }
        }
        oddities
    }
}

#[cfg(test)]
mod tests {
    use super::super::Entry;
    use super::*;

    fn read(text: &str) -> ReadResult {
        ReadResult::read(text.parse().unwrap())
    }

    #[test]
    fn a_resource_without_a_name_goes_by_its_address() {
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
    fn odd_answers_to_a_read_are_survived() {
        assert_eq!(read(r#"{"contents":{"uri":"a","text":"t"}}"#).contents().len(), 1);
        assert_eq!(read("{}").contents().len(), 0);
        assert_eq!(read("null").contents().len(), 0);
        assert_eq!(read("{}").all_oddities()[0].to_string(), "contents is missing");
    }
}
