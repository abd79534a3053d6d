//! How much of an outcome a model gets: characters of text, bytes of images and other media.

use crate::call::ResultStore;

/// The characters of text that a result has by default.
const MAX_CHARS: usize = 50_000;

/// The decoded bytes of all media of one result by default: Anthropic takes 5 MB of base64 for an
/// image, and base64 is a third longer.
const MAX_MEDIA_BYTES: usize = 3_750_000;

/// The limits of one result for a model.
///
/// A longer text is cut as by [`Outcome::for_model`](crate::call::Outcome::for_model); a notice in
/// the text says what is missing. [`Runtime::result_limits`](crate::Runtime::result_limits) has
/// those of a runtime.
#[derive(Debug, Clone)]
pub struct ResultLimits {
    pub(super) max_chars: usize,
    pub(super) max_media_bytes: usize,
    pub(super) store: Option<ResultStore>,
}

impl Default for ResultLimits {
    fn default() -> Self {
        Self { max_chars: MAX_CHARS, max_media_bytes: MAX_MEDIA_BYTES, store: None }
    }
}

impl ResultLimits {
    /// Makes limits with this number of characters of text.
    pub fn new(max_chars: usize) -> Self {
        Self { max_chars, ..Self::default() }
    }

    /// Writes a text that is cut to a file of this store, which blocks the thread.
    #[must_use]
    pub fn with_store(mut self, store: ResultStore) -> Self {
        self.store = Some(store);
        self
    }

    /// Sets the decoded bytes of all images and other media of one result.
    #[must_use]
    pub fn with_max_media_bytes(mut self, bytes: usize) -> Self {
        self.max_media_bytes = bytes;
        self
    }

    /// Gives the model text only, for models that do not read images in results.
    #[must_use]
    pub fn without_media(self) -> Self {
        self.with_max_media_bytes(0)
    }
}
