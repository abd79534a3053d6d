//! JSON that is safe to look at: whatever could move a cursor or turn a line around is written as
//! its code. The document stays the same for a program that reads it.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use wharf_config::text::is_unsafe;

/// Writes a document, indented and with a line end.
pub(super) fn document(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(16 * 1024);
    let formatter = Safe { pretty: PrettyFormatter::new() };
    value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Indents, and escapes more than JSON demands.
struct Safe {
    pretty: PrettyFormatter<'static>,
}

impl Formatter for Safe {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        let mut rest = fragment;
        // Nearly every fragment is plain, and a listing has thousands of them.
        if fragment.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return writer.write_all(fragment.as_bytes());
        }
        while let Some((at, unsafe_char)) = rest.char_indices().find(|(_, c)| is_unsafe(*c)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            for unit in unsafe_char.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + unsafe_char.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_array(writer)
    }

    fn begin_array_value<W>(&mut self, writer: &mut W, first: bool) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        self.pretty.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_object(writer)
    }

    fn begin_object_key<W>(&mut self, writer: &mut W, first: bool) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        self.pretty.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_become_codes_and_come_back_the_same() {
        let text = "a\u{1b}[31m \u{7f}\u{9b}\u{202e}\u{e0041}é•😀\n\"";
        let value = serde_json::json!({ text: [text, 1, {}, []] });
        let written = String::from_utf8(document(&value).unwrap()).unwrap();
        assert_eq!(
            written,
            concat!(
                "{\n  \"a\\u001b[31m \\u007f\\u009b\\u202e\\udb40\\udc41é•😀\\n\\\"\": [\n    ",
                "\"a\\u001b[31m \\u007f\\u009b\\u202e\\udb40\\udc41é•😀\\n\\\"\",\n    ",
                "1,\n    {},\n    []\n  ]\n}\n"
            )
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), value);
    }
}
