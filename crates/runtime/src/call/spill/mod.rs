//! Where results go that are too long or not text: files for their owner alone, under a quota.
//!
//! `result_store` keeps files and lets the oldest go, `model_text` makes a text short enough for a
//! model, and `attachment` turns pictures, sounds and other bytes of a result into files.

mod attachment;
mod model_text;
mod result_store;

pub use attachment::Attachment;
pub use model_text::ModelText;
pub use result_store::{Quota, ResultStore, SpillError};
