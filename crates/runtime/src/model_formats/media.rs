//! The text of an outcome within the limits, and the images and files that a provider takes.
//!
//! The text has one line for each block that is not text, in its place; the media follow in the
//! same order. Data is given as base64 of the standard alphabet with padding, whatever the server
//! sent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use wharf_protocol::view::Content;

use super::ResultLimits;
use crate::call::{Outcome, binary_content, decode_base64};

/// The maximum number of images and files of one result.
const MAX_MEDIA: usize = 20;

/// What a model gets of an outcome.
pub(super) struct ModelContent {
    /// Never longer than the limit.
    pub(super) text: String,
    pub(super) media: Vec<Media>,
}

/// An image or a file.
pub(super) struct Media {
    pub(super) mime_type: &'static str,
    pub(super) base64: String,
}

impl Media {
    /// Returns a URL that contains the data.
    pub(super) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime_type, self.base64)
    }
}

impl ModelContent {
    /// Takes the text, and the media of these types. A failed tool or call has text only, because
    /// Anthropic refuses anything else.
    pub(super) fn new(outcome: &Outcome, accepted: &[&'static str], limits: &ResultLimits) -> Self {
        let accepted = if outcome.is_error { &[] } else { accepted };
        let mut media = Vec::new();
        let (mut total, mut left) = (0, limits.max_media_bytes);
        for block in &outcome.content {
            let Some((data, declared)) = binary_content(block) else { continue };
            total += 1;
            let mime_type = accepted.iter().find(|it| is_same_type(it, declared.as_deref()));
            let is_image = matches!(block.content(), Content::Image { .. } | Content::Embedded(_));
            if let Some(mime_type) = mime_type.filter(|_| is_image && media.len() < MAX_MEDIA)
                // Not decoded if it cannot fit.
                && data.len() / 8 * 3 <= left
                && let Some(bytes) = decode_base64(&data).filter(|it| !it.is_empty() && it.len() <= left)
            {
                left -= bytes.len();
                media.push(Media { mime_type, base64: STANDARD.encode(bytes) });
            }
        }
        let text = text(outcome, limits, total - media.len());
        Self { text, media }
    }
}

/// Returns the text, with a line that says how many media are not attached.
fn text(outcome: &Outcome, limits: &ResultLimits, missing: usize) -> String {
    let store = limits.store.as_ref();
    let notice = match missing {
        0 => String::new(),
        1 => "\n[1 image or file is not attached]".to_owned(),
        many => format!("\n[{many} images or files are not attached]"),
    };
    let room = limits.max_chars.saturating_sub(notice.len());
    if room == 0 {
        return outcome.for_model(limits.max_chars, store).text;
    }
    outcome.for_model(room, store).text + &notice
}

fn is_same_type(accepted: &str, declared: Option<&str>) -> bool {
    let declared = declared.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let declared = if declared.eq_ignore_ascii_case("image/jpg") { "image/jpeg" } else { declared };
    accepted.eq_ignore_ascii_case(declared)
}
