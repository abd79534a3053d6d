//! Local references of a JSON Schema (`"$ref": "#/$defs/…"`): a JSON pointer (RFC 6901) in a URI
//! fragment, so it can be percent-encoded.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Returns the JSON pointer of a reference; `None` for a reference to another document.
pub(crate) fn json_pointer(reference: &str) -> Option<Cow<'_, str>> {
    let pointer = percent_decode_str(reference.strip_prefix('#')?).decode_utf8().ok()?;
    (pointer.is_empty() || pointer.starts_with('/')).then_some(pointer)
}

/// Returns the keys of a JSON pointer.
pub(crate) fn pointer_keys(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~"))
}

/// Returns the schema that a reference points to.
pub(crate) fn referenced<'a>(whole: &'a Value, reference: &Value) -> Option<&'a Value> {
    whole.pointer(&json_pointer(reference.as_str()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_into_the_schema_are_found_also_if_they_are_encoded() {
        let check = |reference: &str, expected: Option<&[&str]>| {
            let keys = json_pointer(reference).map(|it| pointer_keys(&it).collect::<Vec<_>>());
            let expected = expected.map(|it| it.iter().map(ToString::to_string).collect());
            assert_eq!(keys, expected, "{reference}");
        };
        check("#", Some(&[]));
        check("#/$defs/Item", Some(&["$defs", "Item"]));
        check("#/$defs/My%20Type", Some(&["$defs", "My Type"]));
        check("#/%24defs/a~1b~0c", Some(&["$defs", "a/b~c"]));
        check("#item", None);
        check("other.json#/a", None);
        check("#/%ff", None);
    }
}
