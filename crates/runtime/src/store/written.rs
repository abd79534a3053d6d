//! Lists of tools as text, every tool as it came: what the cache and the pins keep on disk.

use std::io::{self, Write};

use bytestring::ByteString;
use wharf_protocol::Json;
use wharf_protocol::view::{Page, Tool};

/// A text in pieces, most of which are the tools' own texts in memory: with a hundred servers a copy
/// of everything would be felt.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pieces: Vec<ByteString>,
    bytes: usize,
}

impl Pieces {
    pub(super) fn push(&mut self, piece: impl Into<ByteString>) {
        let piece = piece.into();
        self.bytes += piece.len();
        self.pieces.push(piece);
    }

    /// Puts a line in front.
    #[must_use]
    pub(super) fn led_by(mut self, line: String) -> Self {
        self.bytes += line.len() + 1;
        self.pieces.splice(0..0, [line.into(), ByteString::from_static("\n")]);
        self
    }

    /// Returns how many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.bytes
    }

    /// Tells whether it says the same as a text.
    pub(super) fn is(&self, text: &str) -> bool {
        let mut rest = text;
        self.bytes == text.len()
            && self.pieces.iter().all(|piece| {
                let after = rest.strip_prefix(&**piece);
                rest = after.unwrap_or_default();
                after.is_some()
            })
    }

    pub(super) fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        self.pieces.iter().try_for_each(|piece| out.write_all(piece.as_bytes()))
    }
}

/// Writes a list as the member that [`read`] looks for, without what is around it.
pub(super) fn write<'a>(tools: impl IntoIterator<Item = &'a Tool>, out: &mut Pieces) {
    out.push(ByteString::from_static("\"tools\":["));
    for (index, tool) in tools.into_iter().enumerate() {
        if index > 0 {
            out.push(ByteString::from_static(","));
        }
        write_tool(tool, out);
    }
    out.push(ByteString::from_static("]"));
}

/// Reads an object with a list; nothing if anything in the list is not as it was written.
pub(super) fn read(text: ByteString) -> Option<(Json, Vec<Tool>)> {
    let whole = Json::parse(text).ok()?;
    let page: Page<Tool> = Page::read(&whole);
    let is_sound = page.rejected.is_empty() && page.oddities.is_empty();
    is_sound.then_some((whole, page.items))
}

/// Returns about how much room a list takes.
pub(super) fn length(tools: &[Tool]) -> usize {
    tools.iter().map(|tool| tool.raw().as_str().len() + 1).sum()
}

/// Writes a tool as it came. A few servers write the name in front of the tool instead of into it;
/// such a tool gets it here.
fn write_tool(tool: &Tool, out: &mut Pieces) {
    let text = tool.raw().as_str();
    if tool.raw().has("name") || !text.starts_with('{') {
        out.push(tool.raw().to_shared());
        return;
    }
    let rest = text.strip_prefix('{').unwrap_or_default();
    let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
    // A text can always be written.
    let name = serde_json::to_string::<str>(tool.name()).unwrap_or_default();
    out.push(format!("{{\"name\":{name}{comma}{rest}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_was_named_from_outside_keeps_its_name() {
        let list = r#"{"tools":{"a":{"title":"A"},"b\"":{ }}}"#;
        let page: Page<Tool> = Page::read(&list.parse().unwrap());
        let mut pieces = Pieces::default();
        pieces.push("{");
        write(&page.items, &mut pieces);
        pieces.push("}");
        let mut text = Vec::new();
        pieces.led_by(String::new()).write_to(&mut text).unwrap();
        let (_, tools) = read(String::from_utf8(text).unwrap().into()).unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| &**tool.name()).collect();
        assert_eq!(names, ["a", "b\""]);
        assert_eq!(tools[0].title().unwrap(), "A");
    }

    #[test]
    fn pieces_are_compared_as_a_whole() {
        let mut pieces = Pieces::default();
        for piece in ["ab", "", "c"] {
            pieces.push(piece);
        }
        assert!(pieces.is("abc"));
        for other in ["", "ab", "abcd", "abd", "bbc"] {
            assert!(!pieces.is(other), "{other}");
        }
        assert!(pieces.led_by("x".to_owned()).is("x\nabc"));
    }
}
