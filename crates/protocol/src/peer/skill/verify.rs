//! Compares a file of a skill with the size and the digest that the server has listed.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::SkillError;
use crate::view::SkillFile;

/// The size limit for all files of a skill together, and so for one file.
pub(super) const MAX_FILE_BYTES: u64 = 16 << 20;

/// Checks the listed size and digest before the file is read.
pub(super) fn check_listed(file: &SkillFile) -> Result<(), SkillError> {
    let uri = || file.uri.to_string();
    let (Some(size), Some(_)) = (file.size, &file.digest) else {
        return Err(SkillError::NotListed { uri: uri() });
    };
    if size > MAX_FILE_BYTES {
        return Err(SkillError::TooLarge { uri: uri(), limit: MAX_FILE_BYTES });
    }
    Ok(())
}

/// Checks that `content` matches the listed size and digest.
pub(super) fn check_content(file: &SkillFile, content: &[u8]) -> Result<(), SkillError> {
    check_listed(file)?;
    let uri = || file.uri.to_string();
    let (listed, found) = (file.size.unwrap_or_default(), content.len() as u64);
    if listed != found {
        return Err(SkillError::Size { uri: uri(), listed, found });
    }
    let digest = file.digest.as_deref().and_then(|digest| digest.strip_prefix("sha256:"));
    if !digest.is_some_and(|digest| digest.eq_ignore_ascii_case(&sha256(content))) {
        return Err(SkillError::Digest { uri: uri() });
    }
    Ok(())
}

fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of `abc`, from the standard that defines it.
    const ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn check(digest: Option<&str>, size: Option<u64>, expected: &str) {
        let file = SkillFile { uri: "skill://a/b".into(), digest: digest.map(Into::into), size };
        let found = match check_content(&file, b"abc") {
            Ok(()) => "fine".to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_file_that_matches_the_listing_is_accepted() {
        check(Some(ABC), Some(3), "fine");
        check(Some(&ABC.to_uppercase().replace("SHA", "sha")), Some(3), "fine");
    }

    #[test]
    fn a_different_size_is_rejected() {
        check(
            Some(ABC),
            Some(4),
            "`skill://a/b` has 3 bytes, but 4 were listed; reload the skill list",
        );
    }

    #[test]
    fn a_different_digest_is_rejected() {
        let differs = "`skill://a/b` does not have the digest that was listed";
        check(Some(&ABC.replace("ba78", "ba79")), Some(3), differs);
        check(Some(&ABC[..70]), Some(3), differs);
        check(Some(&ABC[7..]), Some(3), differs);
        check(Some("sha256:"), Some(3), differs);
        check(Some("md5:900150983cd24fb0d6963f7d28e17f72"), Some(3), differs);
    }

    #[test]
    fn a_file_without_size_or_digest_is_rejected() {
        let unlisted = "`skill://a/b` is not among the files of the skill";
        check(None, Some(3), unlisted);
        check(Some(ABC), None, unlisted);
        check(Some(ABC), Some(MAX_FILE_BYTES + 1), "`skill://a/b` is larger than 16777216 bytes");
    }
}
