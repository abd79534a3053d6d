//! Writes images, audio and other binary content of a result to files, on request.
//!
//! A file is named after the hash and the type of its content, never after a name from the server.
//! A block that cannot be decoded is an error of that block only.

use std::path::PathBuf;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use wharf_protocol::view::{Content, ContentBlock, ResourceBody};

use super::super::Outcome;
use super::result_store::{ResultStore, SpillError};

/// Binary content of a result and its file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Attachment {
    /// The index of the block in the content.
    pub block: usize,
    /// The MIME type, as declared by the server.
    pub mime_type: Option<String>,
    /// The file, or why it was not written.
    pub file: Result<PathBuf, SpillError>,
}

impl Outcome {
    /// Writes the images, audio and embedded binary content of the result to files.
    ///
    /// Blocks the thread while it writes.
    pub fn attachments(&self, store: &ResultStore) -> Vec<Attachment> {
        let blocks = self.content.iter().enumerate();
        blocks
            .filter_map(|(block, content)| {
                let (data, mime_type) = binary_content(content)?;
                let file = store.keep_base64(&data, mime_type.as_deref());
                Some(Attachment { block, mime_type, file })
            })
            .collect()
    }
}

impl ResultStore {
    /// Decodes base64 and stores it in a file with an extension for its type.
    pub fn keep_base64(&self, data: &str, mime_type: Option<&str>) -> Result<PathBuf, SpillError> {
        let size = (data.len() as u64 / 4).saturating_mul(3);
        // Some leeway for line breaks; the decoded size is checked again.
        if size / 4 * 3 > self.most_bytes() {
            return Err(SpillError::TooLarge { size, quota: self.most_bytes() });
        }
        let bytes = decode_base64(data).ok_or(SpillError::NotBase64)?;
        self.keep(&bytes, extension(mime_type))
    }
}

/// Returns the base64 of a block with binary content, and its MIME type as declared.
pub(crate) fn binary_content(block: &ContentBlock) -> Option<(String, Option<String>)> {
    match block.content() {
        Content::Image { data, mime_type } | Content::Audio { data, mime_type } => {
            Some((data.to_string(), mime_type.as_ref().map(ToString::to_string)))
        }
        Content::Embedded(contents) => match contents.body() {
            ResourceBody::Blob(data) => {
                Some((data.to_string(), contents.mime_type().map(|mime| mime.to_string())))
            }
            ResourceBody::Text(_) | ResourceBody::Missing => None,
        },
        _ => None,
    }
}

/// Decodes base64 of either alphabet, with or without padding, also over several lines.
pub(crate) fn decode_base64(data: &str) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let compact: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let is_for_urls = compact.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let alphabet = if is_for_urls { &alphabet::URL_SAFE } else { &alphabet::STANDARD };
    GeneralPurpose::new(alphabet, config).decode(compact).ok()
}

/// Returns the file extension for a MIME type.
fn extension(mime_type: Option<&str>) -> &'static str {
    let kind = mime_type.unwrap_or_default().split(';').next().unwrap_or_default();
    match kind.trim().to_ascii_lowercase().as_str() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "image/bmp" => "bmp",
        "image/avif" => "avif",
        "image/tiff" => "tiff",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/ogg" => "ogg",
        "audio/flac" => "flac",
        "audio/mp4" | "audio/aac" => "m4a",
        "video/mp4" => "mp4",
        "video/webm" | "audio/webm" => "webm",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "text/plain" => "txt",
        "text/html" => "html",
        "text/csv" => "csv",
        "text/markdown" => "md",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use wharf_protocol::view::ToolResult;

    use super::super::super::CallDetails;
    use super::super::Quota;
    use super::*;

    #[test]
    fn a_malformed_block_does_not_affect_the_others() {
        let home = tempfile::tempdir().unwrap();
        let result = r#"{"content":[
            {"type":"text","text":"t"},
            {"type":"image","data":"aGVsbG8=","mimeType":"image/PNG; x=y"},
            {"type":"image","data":"$$$","mimeType":"image/png"},
            {"type":"audio","data":"aGVs\nbG8","mimeType":"audio/../../etc"},
            {"type":"resource","resource":{"uri":"a:b","blob":"-_-_","mimeType":"application/pdf"}},
            {"type":"resource","resource":{"uri":"a:b","text":"x"}}]}"#;
        let result = ToolResult::read(result.parse().unwrap());
        let outcome = Outcome::from_result(&result, CallDetails::default());
        let rows = outcome.attachments(&ResultStore::new(home.path())).into_iter().map(|it| {
            let file = match it.file {
                Ok(path) => {
                    let bytes = std::fs::read(&path).unwrap();
                    format!("{} {bytes:?}", path.file_name().unwrap().display())
                }
                Err(error) => error.to_string(),
            };
            format!("{} {file}", it.block)
        });
        insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"), @"
        1 2cf24dba5fb0a30e26e83b2a.png [104, 101, 108, 108, 111]
        2 it is not valid base64
        3 2cf24dba5fb0a30e26e83b2a.bin [104, 101, 108, 108, 111]
        4 337672c9cc7a511cf6fe0529.pdf [251, 255, 191]
        ");
    }

    #[test]
    fn data_far_above_the_quota_is_not_decoded() {
        let home = tempfile::tempdir().unwrap();
        let store = ResultStore::new(home.path()).with_quota(Quota { bytes: 10, files: 1 });
        let kept = store.keep_base64(&"$".repeat(1000), None);
        assert!(matches!(kept, Err(SpillError::TooLarge { .. })));
        assert!(matches!(store.keep_base64("$", None), Err(SpillError::NotBase64)));
    }
}
