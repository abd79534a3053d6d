//! Why a skill, or a file of it, was rejected.

use crate::peer::RequestError;

/// Why a file of a skill was rejected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// The server returned an error for the file.
    #[error("could not read `{uri}`")]
    Read {
        /// The file.
        uri: String,
        /// The error.
        #[source]
        error: Box<RequestError>,
    },
    /// The result has no content for the file, or content that cannot be decoded.
    #[error("`{uri}` has no content")]
    Empty {
        /// The file.
        uri: String,
    },
    /// The file is not listed in the skill, so there is nothing to compare it with.
    #[error("`{uri}` is not among the files of the skill")]
    NotListed {
        /// The file.
        uri: String,
    },
    /// The file is over the size limit.
    #[error("`{uri}` is larger than {limit} bytes")]
    TooLarge {
        /// The file.
        uri: String,
        /// The limit.
        limit: u64,
    },
    /// The size of the file differs from the listed size.
    #[error("`{uri}` has {found} bytes, but {listed} were listed; reload the skill list")]
    Size {
        /// The file.
        uri: String,
        /// The listed size.
        listed: u64,
        /// The actual size.
        found: u64,
    },
    /// The digest of the file differs from the listed digest, or the listed one is not supported.
    #[error("`{uri}` does not have the digest that was listed")]
    Digest {
        /// The file.
        uri: String,
    },
    /// `SKILL.md` does not start with readable frontmatter.
    #[error("`{uri}` has no readable frontmatter")]
    NoFrontmatter {
        /// The file.
        uri: String,
    },
    /// The frontmatter of `SKILL.md` differs from the listed frontmatter.
    #[error("`{field}` in the frontmatter of `{uri}` is not what was listed")]
    Frontmatter {
        /// The file.
        uri: String,
        /// The first field that differs: untrusted text.
        field: String,
    },
}

impl SkillError {
    /// Tells whether the file differs from what the server has listed, which may be an attack.
    pub fn is_mismatch(&self) -> bool {
        matches!(
            self,
            Self::Size { .. }
                | Self::Digest { .. }
                | Self::NoFrontmatter { .. }
                | Self::Frontmatter { .. }
        )
    }
}
