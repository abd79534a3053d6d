//! Skills of a server (the extension for skills): instructions with files.
//!
//! A view returns what the server reports. The reader of a file must verify its digest and size.

use bytestring::ByteString;

use super::fields::entry;
use super::violation::{JsonType, MemberRule, ObjectRules};
use crate::Json;

/// The name of the extension.
pub const EXTENSION: &str = "io.modelcontextprotocol/skills";

const SKILL: ObjectRules = &[
    (
        "",
        &[
            MemberRule::required("uri", JsonType::String),
            MemberRule::required("frontmatter", JsonType::Object),
        ],
    ),
    (
        "frontmatter",
        &[
            MemberRule::required("name", JsonType::String),
            MemberRule::required("description", JsonType::String),
        ],
    ),
];

entry! {
    /// A skill, identified by the URI of its `SKILL.md`.
    Skill, "skills", "uri" as uri, SKILL
}

/// The files of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillFiles {
    /// The listed files, including `SKILL.md`; entries without a URI are left out.
    Listed(Vec<SkillFile>),
    /// The files are generated when they are read, so they have no digests.
    Dynamic,
    /// The list is missing or not readable.
    Unknown,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// The URI.
    pub uri: ByteString,
    /// The digest as the server sent it, such as `sha256:…`.
    pub digest: Option<ByteString>,
    /// The size in bytes.
    pub size: Option<u64>,
}

impl Skill {
    /// Returns the front matter of `SKILL.md`, as JSON.
    pub fn frontmatter(&self) -> Json {
        self.raw.object_at("frontmatter").unwrap_or_else(Json::object)
    }

    /// Returns the name.
    pub fn name(&self) -> Option<ByteString> {
        self.frontmatter().text_at("name")
    }

    /// Returns the description: untrusted text.
    pub fn description(&self) -> Option<ByteString> {
        self.frontmatter().text_at("description")
    }

    /// Returns the files.
    pub fn files(&self) -> SkillFiles {
        let Some(resources) = self.raw.get("resources") else { return SkillFiles::Unknown };
        if resources.to_shared_text().as_deref() == Some("dynamic") {
            return SkillFiles::Dynamic;
        }
        let Some(files) = resources.items() else { return SkillFiles::Unknown };
        let read = |raw: Json| {
            Some(SkillFile {
                uri: raw.text_at("uri")?,
                digest: raw.text_at("digest"),
                size: raw.u64_at("size"),
            })
        };
        SkillFiles::Listed(files.into_iter().filter_map(read).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::ListEntry;

    #[test]
    fn a_skill_lists_its_files() {
        let text = r#"{"uri":"skill://a/SKILL.md",
            "frontmatter":{"name":"a","description":"d"},
            "resources":[{"uri":"skill://a/SKILL.md","digest":"sha256:00","size":5},{"size":1},7]}"#;
        let skill = Skill::read(text.parse().unwrap()).unwrap();
        assert_eq!(skill.name().unwrap(), "a");
        let SkillFiles::Listed(files) = skill.files() else { panic!("not listed") };
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].size, Some(5));
        assert_eq!(skill.violations(), []);
    }

    #[test]
    fn files_may_be_dynamic_or_unknown() {
        let files = |rest: &str| {
            let text = format!(r#"{{"uri":"skill://a"{rest}}}"#);
            Skill::read(text.parse().unwrap()).unwrap().files()
        };
        assert_eq!(files(r#","resources":"dynamic""#), SkillFiles::Dynamic);
        assert_eq!(files(r#","resources":"other""#), SkillFiles::Unknown);
        assert_eq!(files(""), SkillFiles::Unknown);
    }
}
