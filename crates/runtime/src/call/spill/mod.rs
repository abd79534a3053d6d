//! Result spill: results that are too long for a model, or not text, are stored in files that only
//! their owner can read.
//!
//! `result_store` keeps the files within a quota, `model_text` shortens a text for a model, and
//! `attachment` writes images, audio and other binary content of a result to files.

mod attachment;
mod model_text;
mod result_store;

pub use attachment::Attachment;
pub(crate) use attachment::{binary_content, decode_base64};
pub use model_text::ModelText;
pub use result_store::{Quota, ResultStore, SpillError};
