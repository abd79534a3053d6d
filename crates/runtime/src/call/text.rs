//! What a result says in words: its texts as they are, and one line for everything else.
//!
//! Nothing vanishes: a block that cannot be shown is named with its kind and size. Structured content
//! is left out only if a text already says the same.

use std::fmt::Write as _;

use serde_json::Value;
use wharf_config::text::clip;
use wharf_protocol::Json;
use wharf_protocol::view::{Content, ContentBlock, Resource, ResourceBody, ResourceContents};

/// How many characters of an address, a name or a kind are shown.
const LONGEST_WORD: usize = 200;

/// From how many digits on a number may look like its neighbour once it is decoded.
const EXACT_DIGITS: usize = 16;

/// Puts a result into words.
pub(super) fn text_of(content: &[ContentBlock], structured: Option<&Json>) -> String {
    let mut parts: Vec<String> = content.iter().map(words).collect();
    if let Some(structured) = structured.filter(|structured| !is_said(content, structured)) {
        parts.push(structured.as_str().to_owned());
    }
    parts.join("\n")
}

fn words(block: &ContentBlock) -> String {
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
    format!("[{}, {}]", clip(kind, LONGEST_WORD), size(raw.as_str().len()))
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
        let _infallible = write!(line, " {}", clip(word, LONGEST_WORD));
    }
    if let Some(data) = data {
        let _infallible = write!(line, ", {}", size(decoded_len(data)));
    }
    line.push(']');
    line
}

/// How many bytes base64 stands for, without decoding it.
fn decoded_len(data: &str) -> usize {
    data.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count() * 3 / 4
}

/// Shows a number of bytes.
pub(super) fn size(bytes: usize) -> String {
    const UNITS: [&str; 3] = ["KB", "MB", "GB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    // In tenths, rounded, so that no fraction has to be trusted.
    let (mut tenths, mut unit) = ((bytes + 50) / 100, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths = (tenths + 500) / 1000;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// Tells whether the texts already say what the structured content says.
///
/// Servers repeat it as one text, or wrap what would have been the text in a member `result`.
fn is_said(content: &[ContentBlock], structured: &Json) -> bool {
    let texts: Vec<&str> =
        content.iter().filter_map(|block| block.as_text()).map(|text| &**text).collect();
    if texts.iter().any(|text| *text == structured.as_str()) {
        return true;
    }
    let Some(value) = structured.to::<Value>() else { return false };
    let says = |text: &str, value: &Value| match value {
        Value::String(words) if words == text => true,
        _ => serde_json::from_str::<Value>(text).is_ok_and(|said| said == *value),
    };
    let wrapped = value.as_object().filter(|object| object.len() == 1);
    let wrapped = wrapped.and_then(|object| object.get("result"));
    let by_one = |value: &Value| {
        texts.iter().any(|text| {
            says(text, value) && long_numbers(text) == long_numbers(structured.as_str())
        })
    };
    let by_all = |items: &Vec<Value>| {
        items.len() == texts.len()
            && items.iter().zip(&texts).all(|(item, text)| says(text, item))
            && texts
                .iter()
                .flat_map(|text| long_numbers(text))
                .eq(long_numbers(structured.as_str()))
    };
    by_one(&value)
        || wrapped.is_some_and(|value| by_one(value) || value.as_array().is_some_and(by_all))
}

/// The runs of digits that are too long to be compared as numbers.
fn long_numbers(text: &str) -> Vec<&str> {
    let runs = text.split(|c: char| !c.is_ascii_digit());
    runs.filter(|run| run.len() >= EXACT_DIGITS).collect()
}
