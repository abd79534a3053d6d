//! JSON as text: one complete value, validated once and never decoded and re-encoded.
//!
//! A [`Json`] is cheap to clone and to take parts of, because a part shares the buffer of its
//! message. Key order, unknown members and the digits of numbers are preserved. [`Members`] finds
//! the members of an object without decoding the others.
//!
//! A value of a type of the program is encoded with [`Json::encode`] and decoded with
//! [`Json::decode`]; [`serde_json::Value`] has conversions in both directions.

use std::borrow::Cow;
use std::fmt;

use bytestring::ByteString;
use serde::de::{self, DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::scan::{self, decode_string};

/// One complete JSON value as its text.
///
/// ```
/// use wharf_protocol::Json;
///
/// let json: Json = r#"{"b": 10000000000000000000001, "a": [1.0]}"#.parse()?;
/// assert_eq!(json.get("b").unwrap().as_str(), "10000000000000000000001");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// A [`serde_json::Value`] becomes a `Json` with `from`, and a `Json` becomes a value again:
///
/// ```
/// use serde_json::{Value, json};
/// use wharf_protocol::Json;
///
/// let arguments = Json::from(json!({ "path": "/tmp", "depth": 2 }));
/// assert_eq!(arguments.to_string(), r#"{"path":"/tmp","depth":2}"#);
/// let value: Value = arguments.to_value()?;
/// assert_eq!(value["depth"], 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// `Display` and `Debug` print the text. It may contain secrets of the user or of a server.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(ByteString);

impl Json {
    /// Returns `{}`.
    pub fn object() -> Self {
        Self(ByteString::from_static("{}"))
    }

    /// Returns `null`.
    pub fn null() -> Self {
        Self(ByteString::from_static("null"))
    }

    /// Encodes a value.
    ///
    /// ```
    /// use wharf_protocol::Json;
    ///
    /// #[derive(serde::Serialize)]
    /// struct Berth {
    ///     name: &'static str,
    /// }
    ///
    /// assert_eq!(Json::encode(&Berth { name: "north" })?.as_str(), r#"{"name":"north"}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails only for what JSON cannot hold, such as a map with non-string keys.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// Checks that `text` is one JSON value and keeps it unchanged.
    ///
    /// # Errors
    ///
    /// Fails for any other text; the error says where the text is wrong.
    pub fn parse(text: impl Into<ByteString>) -> Result<Self, serde_json::Error> {
        let text = text.into();
        match scan::single_value(&text) {
            Some(value) => Ok(Self(text.slice_ref(value))),
            // serde reports what is wrong, and at which position.
            None => {
                serde_json::from_str::<&RawValue>(&text).map(|raw| Self(text.slice_ref(raw.get())))
            }
        }
    }

    /// Wraps text that this crate has just written or taken from a validated value.
    ///
    /// Not validated: the caller must ensure that it is one JSON value.
    pub(crate) fn trusted(text: impl Into<ByteString>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Decodes the value into `T`, which may borrow from it.
    ///
    /// ```
    /// use wharf_protocol::Json;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Berth {
    ///     name: String,
    /// }
    ///
    /// let json: Json = r#"{"name":"north"}"#.parse()?;
    /// assert_eq!(json.decode::<Berth>()?.name, "north");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the value has another shape.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// Decodes the value into a [`serde_json::Value`].
    ///
    /// # Errors
    ///
    /// Fails if a number is greater than an `f64` can be, or if the value is nested deeper than
    /// `serde_json` reads. The text itself has neither limit.
    pub fn to_value(&self) -> Result<Value, serde_json::Error> {
        self.decode()
    }

    /// Decodes the value into `T`, or `None` if it has another shape.
    pub fn to<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(&self.0).ok()
    }

    /// Returns the decoded string, with lone surrogates replaced; `None` for any other type.
    pub fn to_text(&self) -> Option<String> {
        decode_string(&self.0).map(Cow::into_owned)
    }

    /// Returns the decoded string; it shares the buffer if nothing in it is escaped.
    pub fn to_shared_text(&self) -> Option<ByteString> {
        Some(match decode_string(&self.0)? {
            Cow::Borrowed(plain) => self.0.slice_ref(plain),
            Cow::Owned(unescaped) => unescaped.into(),
        })
    }

    /// Tells whether this is `null`.
    pub fn is_null(&self) -> bool {
        self.0 == "null"
    }

    /// Tells whether this is an object.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// Returns a member of an object; of several members with the same key, the last.
    pub fn get(&self, key: &str) -> Option<Self> {
        scan::member(&self.0, key).map(|value| self.part_at(value))
    }

    /// Tells whether an object has a member; stops reading at that member.
    pub fn has(&self, key: &str) -> bool {
        scan::members(&self.0).any(|(name, _)| scan::is_key(name, key))
    }

    /// Returns several members of an object in one pass; of equal keys, the last counts.
    pub fn get_all<const N: usize>(&self, keys: [&str; N]) -> [Option<Self>; N] {
        scan::find(&self.0, keys).map(|found| found.map(|text| self.part_at(text)))
    }

    /// Returns the members of an object, in order.
    pub fn members(&self) -> Option<Members<'_>> {
        Members::of(&self.0)
    }

    /// Returns the items of an array.
    pub fn items(&self) -> Option<Vec<Self>> {
        let mut items = scan::items(&self.0);
        let parts = items.by_ref().map(|(_, item)| self.part_at(item)).collect();
        items.is_complete().then_some(parts)
    }

    /// Returns a part of this value, sharing its buffer.
    ///
    /// A `part` that does not come from this value is copied.
    #[must_use]
    pub fn part(&self, part: &RawValue) -> Self {
        let (whole, text) = (self.0.as_bytes().as_ptr_range(), part.get());
        let inside = whole.contains(&text.as_ptr());
        Self(if inside { self.0.slice_ref(text) } else { ByteString::from(text) })
    }

    /// Returns a part of this value, given a slice of its text.
    ///
    /// `part` must be the text of one complete value inside this one.
    pub(crate) fn part_at(&self, part: &str) -> Self {
        Self(self.0.slice_ref(part))
    }

    /// Returns a string without escapes, given a slice of this value's text; shares its buffer.
    pub(crate) fn plain_at(&self, plain: &str) -> ByteString {
        self.0.slice_ref(plain)
    }

    /// Returns a copy in a separate buffer, for a small part that outlives a large message.
    #[cfg(any(feature = "http", feature = "serve"))]
    #[must_use]
    pub(crate) fn detached(&self) -> Self {
        Self(ByteString::from(self.as_str()))
    }
}

impl std::str::FromStr for Json {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

/// Writes the value as text without spaces.
impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Self(value.to_string().into())
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl TryFrom<&Json> for Value {
    type Error = serde_json::Error;

    fn try_from(json: &Json) -> Result<Self, Self::Error> {
        json.to_value()
    }
}

impl TryFrom<Json> for Value {
    type Error = serde_json::Error;

    fn try_from(json: Json) -> Result<Self, Self::Error> {
        json.to_value()
    }
}

/// Prints the text.
impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Prints the text.
impl fmt::Debug for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Serializes as the value itself; `serde_json` writes its text unchanged.
impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Takes any value; only `serde_json` can do this.
impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(ByteString::from(String::from(Box::<str>::from(raw)))))
    }
}

/// Appends a string as JSON.
pub(crate) fn push_string(text: &mut String, value: &str) {
    if scan::is_plain(value) {
        text.push('"');
        text.push_str(value);
        text.push('"');
    } else {
        text.push_str(&Value::from(value).to_string());
    }
}

/// The members of an object, undecoded, in their original order.
#[derive(Debug, Clone)]
pub struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Reads the members of the object `text`; `None` if it is not an object.
    pub fn of(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Returns the value for `key`; of several, the last.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// Returns the string at `key`; `None` if it is missing or has another type.
    pub fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key).and_then(|raw| decode_string(raw.get()))
    }

    /// Iterates over all members.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), *value))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(key) = map.next_key::<&RawValue>()? {
                    let key =
                        decode_string(key.get()).ok_or_else(|| de::Error::custom("invalid key"))?;
                    members.push((key, map.next_value()?));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        text.parse().unwrap()
    }

    #[test]
    fn a_part_shares_the_buffer_of_the_whole() {
        let whole = json(r#"{"a":{"b":1}}"#);
        let part = whole.get("a").unwrap();
        assert!(whole.as_str().as_bytes().as_ptr_range().contains(&part.as_str().as_ptr()));
        assert_eq!(part.as_str(), r#"{"b":1}"#);
    }

    #[test]
    fn digits_order_and_unknown_members_survive() {
        let text = r#"{"z":12345678901234567890123,"a":-0.0,"m":1e400}"#;
        assert_eq!(serde_json::to_string(&json(text)).unwrap(), text);
    }

    #[test]
    fn the_last_of_equal_keys_wins() {
        assert_eq!(json(r#"{"a":1,"a":2}"#).get("a").unwrap().as_str(), "2");
    }

    #[test]
    fn an_escaped_key_is_found() {
        assert_eq!(json(r#"{"\u0061":1}"#).get("a").unwrap().as_str(), "1");
    }

    #[test]
    fn a_lone_surrogate_is_replaced() {
        assert_eq!(json(r#""a\ud800b""#).to_text().unwrap(), "a\u{fffd}\u{fffd}\u{fffd}b");
    }

    #[test]
    fn text_that_is_not_one_value_is_rejected() {
        for text in ["", "1 2", "{", "nul", "[1,]"] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn display_and_debug_print_the_text() {
        let text = r#"{"b":1.0,"a":[]}"#;
        assert_eq!(json(text).to_string(), text);
        assert_eq!(format!("{:?}", json(text)), text);
    }

    #[test]
    fn a_value_survives_the_way_there_and_back() {
        let value = serde_json::json!({ "b": [1, 2.5, null, "ä\"\n"], "a": { "c": true } });
        let json = Json::from(&value);
        assert_eq!(json, Json::from(value.clone()));
        assert_eq!(json, Json::encode(&value).unwrap());
        assert_eq!(Value::try_from(&json).unwrap(), value);
        assert_eq!(Value::try_from(json).unwrap(), value);
    }

    #[test]
    fn a_number_that_no_value_holds_is_an_error() {
        let error = json("[1e400]").to_value().unwrap_err();
        assert_eq!(error.to_string(), "number out of range at line 1 column 6");
    }

    #[test]
    fn it_is_serialized_and_deserialized_as_it_is() {
        let text = r#"{"a":{"x":1.00,"w":-0.0}}"#;
        let map: std::collections::BTreeMap<String, Json> = serde_json::from_str(text).unwrap();
        assert_eq!(map["a"].as_str(), r#"{"x":1.00,"w":-0.0}"#);
        assert_eq!(serde_json::to_string(&map).unwrap(), text);
    }
}
