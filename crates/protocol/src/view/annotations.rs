//! Icons, annotations and roles, which occur in many types.

use bytestring::ByteString;

use super::fields::{JsonFields, view};
use super::violation::{JsonType, MemberRule, ObjectRules};
use crate::Json;

const ICON: ObjectRules = &[(
    "",
    &[
        MemberRule::required("src", JsonType::String),
        MemberRule::optional("mimeType", JsonType::String),
        MemberRule::optional("sizes", JsonType::Array),
        MemberRule::optional("theme", JsonType::String).one_of(&["dark", "light"]),
    ],
)];

view! {
    /// An icon.
    Icon, ICON
}

impl Icon {
    /// Returns the URL or data URL of the icon: untrusted, do not fetch it without checks.
    pub fn source(&self) -> Option<ByteString> {
        self.raw.text_at("src")
    }

    /// Returns the MIME type.
    pub fn mime_type(&self) -> Option<ByteString> {
        self.raw.text_at("mimeType")
    }

    /// Returns the sizes, such as `48x48` or `any`; some servers send a string instead of a list.
    pub fn sizes(&self) -> Vec<ByteString> {
        self.raw.text_at("sizes").map_or_else(|| self.raw.texts_at("sizes"), |size| vec![size])
    }

    /// Returns the theme: `dark` or `light`.
    pub fn theme(&self) -> Option<ByteString> {
        self.raw.text_at("theme")
    }

    /// Reads the member `icons` of a value.
    pub(super) fn of(raw: &Json) -> Vec<Self> {
        raw.items_at("icons").into_iter().filter(Json::is_object).map(Self::read).collect()
    }
}

const ANNOTATIONS: ObjectRules = &[(
    "",
    &[
        MemberRule::optional("audience", JsonType::Array),
        MemberRule::optional("priority", JsonType::Number),
        MemberRule::optional("lastModified", JsonType::String),
    ],
)];

view! {
    /// The annotations of a resource or a content block: audience and priority.
    Annotations, ANNOTATIONS
}

impl Annotations {
    /// Returns the audience; empty if not specified.
    pub fn audience(&self) -> Vec<Role> {
        self.raw.texts_at("audience").iter().filter_map(|text| Role::of(text)).collect()
    }

    /// Returns the priority, from 0 to 1.
    pub fn priority(&self) -> Option<f64> {
        self.raw.f64_at("priority").map(|priority| priority.clamp(0.0, 1.0))
    }

    /// Reads the member `annotations` of a value; if it is missing, all accessors return nothing.
    pub(super) fn of(raw: &Json) -> Self {
        Self::read(raw.object_at("annotations").unwrap_or_else(Json::object))
    }
}

/// The sender or the audience of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person, or a program that acts for them.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Returns its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }

    /// Reads a role.
    pub(super) fn of(text: &str) -> Option<Self> {
        [Self::User, Self::Assistant].into_iter().find(|role| role.as_str() == text)
    }

    /// Reads the role of a message; the default is the user.
    pub(super) fn of_message(raw: &Json) -> Self {
        raw.text_at("role").and_then(|text| Self::of(&text)).unwrap_or(Self::User)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irregular_icons_and_annotations_are_read_where_possible() {
        let raw: Json = r#"{"icons":[{"src":"a","sizes":"48x48"},7,{"sizes":["any",1]}],
            "annotations":{"audience":["user","dog",1],"priority":7}}"#
            .parse()
            .unwrap();
        let icons = Icon::of(&raw);
        assert_eq!(icons.len(), 2);
        assert_eq!(icons[0].sizes(), ["48x48"]);
        assert_eq!(icons[1].sizes(), ["any"]);
        assert_eq!(icons[1].source(), None);
        let annotations = Annotations::of(&raw);
        assert_eq!(annotations.audience(), [Role::User]);
        assert_eq!(annotations.priority(), Some(1.0));
    }
}
