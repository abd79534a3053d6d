//! Why a skill, or a file of it, is not used.

use crate::peer::RequestError;

/// Why a file of a skill is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// The server did not give the file out.
    #[error("could not read `{uri}`")]
    Read {
        /// The file.
        uri: String,
        /// What the server said.
        #[source]
        error: Box<RequestError>,
    },
    /// The answer has no content for the file, or content that cannot be decoded.
    #[error("`{uri}` has no content")]
    Empty {
        /// The file.
        uri: String,
    },
    /// The file is none of the skill's, so there is nothing to compare it with.
    #[error("`{uri}` is not among the files of the skill")]
    NotListed {
        /// The file.
        uri: String,
    },
    /// The file is larger than any file of a skill may be.
    #[error("`{uri}` is larger than {limit} bytes")]
    TooLarge {
        /// The file.
        uri: String,
        /// The limit.
        limit: u64,
    },
    /// The file has another size than the server listed.
    #[error("`{uri}` has {found} bytes, but {listed} were listed")]
    Size {
        /// The file.
        uri: String,
        /// How long it should be.
        listed: u64,
        /// How long it is.
        found: u64,
    },
    /// The file has another digest than the server listed, or none that can be computed.
    #[error("`{uri}` does not have the digest that was listed")]
    Digest {
        /// The file.
        uri: String,
    },
    /// `SKILL.md` does not begin with frontmatter that can be read.
    #[error("`{uri}` has no readable frontmatter")]
    NoFrontmatter {
        /// The file.
        uri: String,
    },
    /// The frontmatter of `SKILL.md` says something else than the server listed.
    #[error("`{field}` in the frontmatter of `{uri}` is not what was listed")]
    Frontmatter {
        /// The file.
        uri: String,
        /// The first field that differs: foreign text.
        field: String,
    },
}

impl SkillError {
    /// Tells whether the file is another one than the server listed, which may be an attack.
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
