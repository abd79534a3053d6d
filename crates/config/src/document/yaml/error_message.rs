//! Messages for YAML errors. They never quote the text, which may contain secrets.

use crate::document::MAX_DEPTH;

/// A list or object is used as a key.
pub(super) const COMPLEX_KEY: &str = "a key must be a string, not a list or an object";

/// The value of a merge key is not an object or a list of objects.
pub(super) const INVALID_MERGE_SOURCE: &str = "`<<` needs an object or a list of objects";

/// Lists and objects are nested too deep.
pub(super) fn nested_too_deep() -> String {
    format!("nested more than {MAX_DEPTH} levels deep")
}

/// Rewords the parser's messages for common mistakes and returns the others unchanged. None of them
/// quotes the text, except for a single `%`, `@` or backtick.
pub(super) fn for_parser_message(message: &str) -> String {
    let message = match message {
        "tabs disallowed within this context (block indentation)"
        | "tab cannot be used as indentation"
        | "tabs disallowed in this context"
        | "while scanning a plain scalar, found a tab"
        | "a block scalar content cannot start with a tab" => {
            "a tab is used for indentation; use spaces"
        }
        "while scanning a quoted scalar, found unexpected end of stream" => {
            "the file ends inside a string"
        }
        "simple key expect ':'" | "simple key expected" => "`:` is missing after a key",
        "mapping values are not allowed in this context" => {
            "`:` is not allowed here; put a value that contains it in quotes"
        }
        "while parsing node, found unknown anchor" => "this alias refers to an undefined anchor",
        "while parsing a flow sequence, expected ',' or ']'" => "`,` or `]` is missing here",
        "while parsing a flow mapping, did not find expected ',' or '}'" => {
            "`,` or `}` is missing here"
        }
        "while parsing a block mapping, did not find expected key" => {
            "a key is missing here, or the indentation is wrong"
        }
        "while parsing a block collection, did not find expected '-' indicator" => {
            "`-` is missing here, or the indentation is wrong"
        }
        "did not find expected <document start>" => "unexpected text after the value",
        // The parser has its own limit of 255 brackets, checked before the first event.
        "recursion limit exceeded" => return nested_too_deep(),
        message => message,
    };
    message.to_owned()
}
