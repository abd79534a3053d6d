//! Where results go that are too long or not text: files for their owner alone, under a quota.
//!
//! `store` keeps files and lets the oldest go, `cut` makes a text short enough for a model, and
//! `attachment` turns pictures, sounds and other bytes of a result into files.

mod attachment;
mod cut;
mod store;

pub use attachment::Attachment;
pub use cut::ModelText;
pub use store::{Quota, ResultStore, SpillError};
