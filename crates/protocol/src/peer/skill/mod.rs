//! Skills of a server, loaded only if they match what the server has listed (SEP-2640).
//!
//! Nothing is fetched in advance. `load` reads files, `verify` compares size and digest,
//! `frontmatter` compares the frontmatter of `SKILL.md`. Other files can only be read after
//! `SKILL.md` was verified.

mod error;
mod frontmatter;
mod load;
mod verify;

pub use error::SkillError;
pub use load::LoadedSkill;
