//! Renders a result as text: text blocks unchanged, and one line for every other block.
//!
//! No block is dropped: a block that cannot be rendered is named with its kind and size. Structured
//! content is rendered only if there is no text block.

use std::fmt::Write as _;

use wharf_config::text::clip;
use wharf_protocol::Json;
use wharf_protocol::view::{Content, ContentBlock, Resource, ResourceBody, ResourceContents};

/// How many characters of a URI, a name or a kind are shown.
const MAX_WORD_CHARS: usize = 200;

/// Renders a result as text.
pub(super) fn text_of(content: &[ContentBlock], structured: Option<&Json>) -> String {
    let mut parts: Vec<String> = content.iter().map(block_text).collect();
    let has_text = content.iter().any(|block| block.as_text().is_some());
    if let Some(structured) = structured.filter(|_| !has_text) {
        parts.push(structured.as_str().to_owned());
    }
    parts.join("\n")
}

fn block_text(block: &ContentBlock) -> String {
    match block.content() {
        Content::Text(text) => text.to_string(),
        Content::Image { data, mime_type } => line("image", &[mime_type.as_deref()], Some(data)),
        Content::Audio { data, mime_type } => line("audio", &[mime_type.as_deref()], Some(data)),
        Content::Link(resource) => link(resource),
        Content::Embedded(contents) => embedded(contents),
        Content::ToolUse { name, .. } => line("tool_use", &[Some(name)], None),
        Content::ToolResult { tool_use_id, .. } => line("tool_result", &[Some(tool_use_id)], None),
        Content::Unknown { kind } => unknown(kind, block.raw()),
        _ => unknown("", block.raw()),
    }
}

fn unknown(kind: &str, raw: &Json) -> String {
    let kind = if kind.is_empty() { "unknown content" } else { kind };
    format!("[{}, {}]", clip(kind, MAX_WORD_CHARS), size(raw.as_str().len()))
}

fn link(resource: &Resource) -> String {
    let (name, mime) = (resource.name(), resource.mime_type());
    let name = Some(&*name).filter(|name| *name != &**resource.uri());
    let mut line = line("link", &[Some(resource.uri()), name, mime.as_deref()], None);
    if let Some(bytes) = resource.size() {
        line.pop();
        let _infallible = write!(line, ", {}]", size(usize::try_from(bytes).unwrap_or(usize::MAX)));
    }
    line
}

fn embedded(contents: &ResourceContents) -> String {
    let (uri, mime) = (contents.uri(), contents.mime_type());
    let about = [uri.as_deref(), mime.as_deref()];
    match contents.body() {
        ResourceBody::Text(text) => format!("{}\n{text}", line("resource", &about, None)),
        ResourceBody::Blob(data) => line("resource", &about, Some(&data)),
        ResourceBody::Missing => line("resource", &about, None),
    }
}

/// Writes `[kind word word, size]`.
fn line(kind: &str, words: &[Option<&str>], data: Option<&str>) -> String {
    let mut line = format!("[{kind}");
    for word in words.iter().flatten() {
        let _infallible = write!(line, " {}", clip(word, MAX_WORD_CHARS));
    }
    if let Some(data) = data {
        let _infallible = write!(line, ", {}", size(decoded_len(data)));
    }
    line.push(']');
    line
}

/// Returns the decoded length of base64, without decoding it.
fn decoded_len(data: &str) -> usize {
    data.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count() * 3 / 4
}

/// Renders a number of bytes.
pub(super) fn size(bytes: usize) -> String {
    const UNITS: [&str; 3] = ["KB", "MB", "GB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    // In rounded tenths, to avoid floating point.
    let (mut tenths, mut unit) = ((bytes + 50) / 100, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths = (tenths + 500) / 1000;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}
