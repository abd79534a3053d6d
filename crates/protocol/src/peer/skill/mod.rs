//! Skills of a server, loaded only if they are what the server listed (SEP-2640).
//!
//! Nothing is fetched ahead. `load` reads, `verify` compares size and digest, `frontmatter`
//! compares the head of `SKILL.md`. Other files can only be read through a skill that passed all of
//! it.

mod error;
mod frontmatter;
mod load;
mod verify;

pub use error::SkillError;
pub use load::LoadedSkill;
