//! Lists skills and reads their files; `SKILL.md` is read and verified first.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use bytestring::ByteString;

use super::{SkillError, frontmatter, verify};
use crate::peer::{ListResult, Peer, RequestOptions};
use crate::session::RequestError;
use crate::view::{ReadResult, ResourceBody, Skill, SkillFile, SkillFiles};

/// A skill whose `SKILL.md` was verified.
#[derive(Debug, Clone)]
pub struct LoadedSkill {
    skill: Skill,
    text: ByteString,
}

impl LoadedSkill {
    /// Returns the skill as the server has listed it.
    pub fn skill(&self) -> &Skill {
        &self.skill
    }

    /// Returns `SKILL.md` unchanged, including the frontmatter: untrusted text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Peer {
    /// Lists all skills (the extension of SEP-2640); their files are not fetched.
    pub async fn list_skills(
        &self,
        options: &RequestOptions,
    ) -> Result<ListResult<Skill>, RequestError> {
        self.list("skills/list", options).await
    }

    /// Reads the `SKILL.md` of a skill and verifies its size, its digest and its frontmatter.
    ///
    /// Reads nothing if the server has listed nothing to compare with. If the files are dynamic,
    /// only the frontmatter is compared.
    pub async fn load_skill(
        &self,
        skill: &Skill,
        options: &RequestOptions,
    ) -> Result<LoadedSkill, SkillError> {
        let uri = skill.uri();
        let content = self.read_verified(skill, uri, options).await?;
        let text = ByteString::try_from(content)
            .map_err(|_| SkillError::NoFrontmatter { uri: uri.to_string() })?;
        frontmatter::check(skill, &text)?;
        Ok(LoadedSkill { skill: skill.clone(), text })
    }

    /// Reads another file of a skill and verifies its size and its digest.
    pub async fn read_skill_file(
        &self,
        skill: &LoadedSkill,
        uri: &str,
        options: &RequestOptions,
    ) -> Result<Bytes, SkillError> {
        self.read_verified(&skill.skill, uri, options).await
    }

    async fn read_verified(
        &self,
        skill: &Skill,
        uri: &str,
        options: &RequestOptions,
    ) -> Result<Bytes, SkillError> {
        let listed = listed(skill, uri)?;
        let read = self.read_resource(uri, options).await;
        let result =
            read.map_err(|error| SkillError::Read { uri: uri.to_owned(), error: Box::new(error) })?;
        let content =
            content(&result, uri).ok_or_else(|| SkillError::Empty { uri: uri.to_owned() })?;
        match listed {
            Some(file) => verify::check_content(&file, &content)?,
            None if content.len() as u64 > verify::MAX_FILE_BYTES => {
                return Err(SkillError::TooLarge {
                    uri: uri.to_owned(),
                    limit: verify::MAX_FILE_BYTES,
                });
            }
            None => {}
        }
        Ok(content)
    }
}

/// Returns what the server has listed about a file; `None` if the files of the skill are dynamic.
fn listed(skill: &Skill, uri: &str) -> Result<Option<SkillFile>, SkillError> {
    let not_listed = || SkillError::NotListed { uri: uri.to_owned() };
    match skill.files() {
        SkillFiles::Listed(files) => {
            let mut named = files.into_iter().filter(|file| file.uri == uri);
            let (Some(file), None) = (named.next(), named.next()) else { return Err(not_listed()) };
            verify::check_listed(&file)?;
            Ok(Some(file))
        }
        SkillFiles::Dynamic if is_within(skill.uri(), uri) => Ok(None),
        SkillFiles::Dynamic | SkillFiles::Unknown => Err(not_listed()),
    }
}

/// Tells whether a file is in the folder of `SKILL.md` or below it.
fn is_within(skill: &str, uri: &str) -> bool {
    let Some(end) = skill.rfind('/') else { return skill == uri };
    let rest = uri.strip_prefix(&skill[..=end]);
    rest.is_some_and(|rest| {
        !rest.is_empty() && rest.split('/').all(|part| !matches!(part, "." | ".."))
    })
}

/// Returns the content of the file from the result, as bytes.
fn content(result: &ReadResult, uri: &str) -> Option<Bytes> {
    let contents = result.contents();
    let named = contents.iter().find(|contents| contents.uri().as_deref() == Some(uri));
    let only = contents.first().filter(|_| contents.len() == 1);
    match named.or(only)?.body() {
        ResourceBody::Text(text) => Some(text.into_bytes()),
        ResourceBody::Blob(blob) => STANDARD.decode(blob.as_bytes()).ok().map(Bytes::from),
        ResourceBody::Missing => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::ListEntry;

    fn skill(resources: &str) -> Skill {
        let text = format!(r#"{{"uri":"skill://a/SKILL.md","resources":{resources}}}"#);
        Skill::read(text.parse().unwrap()).unwrap()
    }

    #[track_caller]
    fn check_listed(resources: &str, uri: &str, expected: &str) {
        let found = match listed(&skill(resources), uri) {
            Ok(Some(_)) => "to be compared".to_owned(),
            Ok(None) => "free".to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn only_files_of_the_skill_are_read() {
        let files = r#"[{"uri":"skill://a/x","digest":"sha256:0","size":1}]"#;
        let not_listed = |uri: &str| format!("`{uri}` is not among the files of the skill");
        check_listed(files, "skill://a/x", "to be compared");
        check_listed(files, "skill://a/y", &not_listed("skill://a/y"));
        check_listed(r#"[{"uri":"skill://a/x"}]"#, "skill://a/x", &not_listed("skill://a/x"));
        let twice = format!("[{0},{0}]", &files[1..files.len() - 1]);
        check_listed(&twice, "skill://a/x", &not_listed("skill://a/x"));
        check_listed("null", "skill://a/SKILL.md", &not_listed("skill://a/SKILL.md"));
    }

    #[test]
    fn dynamic_files_must_be_below_the_folder_of_the_skill() {
        let dynamic = r#""dynamic""#;
        check_listed(dynamic, "skill://a/SKILL.md", "free");
        check_listed(dynamic, "skill://a/b/c", "free");
        for uri in ["skill://b/c", "skill://a/../b", "file:///etc/passwd", "skill://a/"] {
            check_listed(dynamic, uri, &format!("`{uri}` is not among the files of the skill"));
        }
    }

    #[test]
    fn content_is_text_or_bytes() {
        let read = |text: &str| {
            content(&ReadResult::read(text.parse().unwrap()), "a")
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        assert_eq!(read(r#"{"contents":[{"uri":"a","text":"\u00e4"}]}"#).as_deref(), Some("ä"));
        assert_eq!(read(r#"{"contents":[{"uri":"a","blob":"YWJj"}]}"#).as_deref(), Some("abc"));
        assert_eq!(read(r#"{"contents":[{"uri":"a","blob":"?"}]}"#), None);
        let several = r#"{"contents":[{"uri":"b","text":"no"},{"uri":"a","text":"yes"}]}"#;
        assert_eq!(read(several).as_deref(), Some("yes"));
        assert_eq!(read(r#"{"contents":[{"uri":"b","text":""},{"uri":"c","text":""}]}"#), None);
        assert_eq!(read("{}"), None);
    }
}
