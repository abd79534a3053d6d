//! Objects and arrays whose text does not depend on the features of `serde_json`: providers cache
//! a prompt by its bytes.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use wharf_protocol::Json;

/// Writes an object with its members in this order.
pub(super) fn object(members: &[(&str, Json)]) -> Json {
    encode(&Members(members))
}

/// Writes an array.
pub(super) fn array(items: impl IntoIterator<Item = Json>) -> Json {
    encode(&items.into_iter().collect::<Vec<_>>())
}

/// Writes a string.
pub(super) fn string(text: &str) -> Json {
    encode(text)
}

/// Encoding cannot fail here: all keys are strings, and each value is valid JSON.
fn encode<T: Serialize + ?Sized>(value: &T) -> Json {
    Json::encode(value).unwrap_or_else(|_| Json::null())
}

struct Members<'a>(&'a [(&'a str, Json)]);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
