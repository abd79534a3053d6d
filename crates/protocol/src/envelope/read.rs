//! Reads JSON-RPC messages and batches: parses the envelope and keeps its content as text.
//!
//! One pass over the text finds the members; `params`, `result` and `data` are not decoded. Text
//! that is not a message is [`Malformed`], which gives the reason but never quotes the text.

use std::borrow::Cow;

use bytes::Bytes;
use bytestring::ByteString;
use serde_json::value::RawValue;

use super::{Id, Message, Notification, Request, Response, RpcError};
use crate::Json;
use crate::scan::{self, decode_string};

/// What one line, one body or one event held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Received {
    /// A message.
    One(Message),
    /// A batch (revision 2025-03-26); items that are not messages are only counted.
    Many {
        /// The messages, in order.
        messages: Vec<Message>,
        /// How many items were not messages.
        malformed: usize,
    },
}

/// The reason why a text is not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    /// A banner or a log line, for example.
    #[error("not JSON")]
    NotJson,
    /// A structured log line, for example.
    #[error("JSON, but not a JSON-RPC message")]
    NotAMessage,
}

/// A protocol violation in the envelope of a message that is still readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopeViolation {
    /// Another version than `"2.0"`, or none.
    #[error("omits `\"jsonrpc\":\"2.0\"`")]
    Version,
    /// A member that is there more than once.
    #[error("has duplicate members in its messages")]
    Repeated,
    /// Both a result and an error, even if one is `null`.
    #[error("responds with both a result and an error")]
    Both,
    /// The id of a request as a string or a float, or `null` where an id is required.
    #[error("changes the type of request ids")]
    Id,
    /// Bytes that are not UTF-8.
    #[error("writes text that is not UTF-8")]
    Encoding,
    /// Text before or after a message, or several messages at once.
    #[error("writes other text around its messages")]
    Surrounded,
}

/// Reads one text: a message or a batch.
///
/// Bytes that are not UTF-8 are replaced, so that one invalid character does not lose a whole
/// response.
#[cfg(any(feature = "http", feature = "serve", test, fuzzing))]
#[expect(clippy::needless_pass_by_value, reason = "the text is handed over; its parts share it")]
pub(crate) fn read(text: Bytes) -> Result<Received, Malformed> {
    let mut violations = Vec::new();
    read_text(&decode_utf8(&text, &mut violations), &mut violations)
}

/// Reads one text of a server, also with other text around the message, and collects the violations.
///
/// The violations have no meaning if the text is not a message.
pub(crate) fn read_leniently(
    text: &Bytes,
    violations: &mut Vec<EnvelopeViolation>,
) -> Result<Received, Malformed> {
    let text = decode_utf8(text, violations);
    match read_text(&text, violations) {
        Err(Malformed::NotJson) => read_surrounded(&text, violations),
        other => other,
    }
}

fn decode_utf8(text: &Bytes, violations: &mut Vec<EnvelopeViolation>) -> ByteString {
    ByteString::try_from(text.clone()).unwrap_or_else(|_| {
        violations.push(EnvelopeViolation::Encoding);
        String::from_utf8_lossy(text).into_owned().into()
    })
}

fn read_text(
    text: &ByteString,
    violations: &mut Vec<EnvelopeViolation>,
) -> Result<Received, Malformed> {
    match text.trim_start().as_bytes().first() {
        Some(b'{') => read_one(text, violations).map(Received::One),
        Some(b'[') => read_batch(text, violations),
        _ => Err(Malformed::NotJson),
    }
}

/// Reads the messages after a byte-order mark, NULs or the field name of an event, up to the first
/// text that is not a message.
///
/// A message later in a line is ignored: it could be a log of a message that was sent.
fn read_surrounded(
    text: &ByteString,
    violations: &mut Vec<EnvelopeViolation>,
) -> Result<Received, Malformed> {
    let start = text.trim_start_matches(['\u{feff}', '\0']);
    let start = start.strip_prefix("data:").unwrap_or(start).trim_start();
    if !start.starts_with(['{', '[']) {
        return Err(Malformed::NotJson);
    }
    let mut messages = Vec::new();
    let values = serde_json::Deserializer::from_str(start).into_iter::<&RawValue>();
    for value in values.map_while(Result::ok) {
        match read_text(&text.slice_ref(value.get()), violations) {
            Ok(Received::One(message)) => messages.push(message),
            Ok(Received::Many { messages: more, .. }) => messages.extend(more),
            Err(_) => break,
        }
    }
    violations.push(EnvelopeViolation::Surrounded);
    match messages.len() {
        0 => Err(Malformed::NotJson),
        1 => messages.pop().map(Received::One).ok_or(Malformed::NotJson),
        _ => Ok(Received::Many { messages, malformed: 0 }),
    }
}

fn read_batch(
    text: &ByteString,
    violations: &mut Vec<EnvelopeViolation>,
) -> Result<Received, Malformed> {
    let mut items = scan::items(text);
    let texts: Vec<&str> = items.by_ref().map(|(_, item)| item).collect();
    if !items.is_complete() {
        return Err(Malformed::NotJson);
    }
    let read = |item: &&str| read_one(&text.slice_ref(item), violations).ok();
    let messages: Vec<Message> = texts.iter().filter_map(read).collect();
    let malformed = texts.len() - messages.len();
    if messages.is_empty() {
        Err(Malformed::NotAMessage)
    } else {
        Ok(Received::Many { messages, malformed })
    }
}

fn read_one(
    text: &ByteString,
    violations: &mut Vec<EnvelopeViolation>,
) -> Result<Message, Malformed> {
    let envelope = Envelope::read(text).ok_or(Malformed::NotJson)?;
    let part = |raw: &str| Json::trusted(text.slice_ref(raw));
    let is_set = |raw: &&str| *raw != "null";

    let id = match envelope.id.filter(is_set) {
        Some(raw) => Some(Id::from_json(raw).ok_or(Malformed::NotAMessage)?),
        None => None,
    };
    envelope.add_violations(id.as_ref(), violations);
    if let Some(method) = envelope.method {
        let method = match decode_string(method).ok_or(Malformed::NotAMessage)? {
            Cow::Borrowed(plain) => text.slice_ref(plain),
            Cow::Owned(unescaped) => unescaped.into(),
        };
        let params = envelope.params.filter(is_set).map(part);
        return Ok(match id {
            Some(id) => Message::Request(Request { id, method, params }),
            None => Message::Notification(Notification { method, params }),
        });
    }
    // Some servers write `"error": null` beside a result.
    let outcome = match (envelope.error.filter(is_set), envelope.result) {
        (Some(error), _) => Err(RpcError::from_json(&part(error))),
        (None, Some(result)) => Ok(part(result)),
        (None, None) => return Err(Malformed::NotAMessage),
    };
    Ok(Message::Response(Response { id, outcome }))
}

/// The members of a message; of duplicates the last counts, unknown members are skipped.
#[derive(Default)]
struct Envelope<'a> {
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Option<&'a str>,
    result: Option<&'a str>,
    error: Option<&'a str>,
    version: Option<&'a str>,
    repeats: bool,
}

impl<'a> Envelope<'a> {
    /// Finds the members; `None` if the text is not an object.
    fn read(text: &'a str) -> Option<Self> {
        let mut envelope = Self::default();
        let mut members = scan::members(text);
        for (key, value) in &mut members {
            // Only a key that seems unknown is decoded: it may have escapes, which are rare.
            if !envelope.set(&key[1..key.len() - 1], value)
                && let Some(Cow::Owned(unescaped)) = decode_string(key)
            {
                envelope.set(&unescaped, value);
            }
        }
        members.is_complete().then_some(envelope)
    }

    /// Sets a member; `false` if it is unknown.
    fn set(&mut self, key: &str, value: &'a str) -> bool {
        let place = match key {
            "id" => &mut self.id,
            "method" => &mut self.method,
            "params" => &mut self.params,
            "result" => &mut self.result,
            "error" => &mut self.error,
            "jsonrpc" => &mut self.version,
            _ => return false,
        };
        self.repeats |= place.replace(value).is_some();
        true
    }

    fn add_violations(&self, id: Option<&Id>, violations: &mut Vec<EnvelopeViolation>) {
        if self.version.is_none_or(|version| version != "\"2.0\"") {
            violations.push(EnvelopeViolation::Version);
        }
        if self.repeats {
            violations.push(EnvelopeViolation::Repeated);
        }
        if self.result.is_some() && self.error.is_some() {
            violations.push(EnvelopeViolation::Both);
        }
        // We send integer ids; the other side may also use strings, but not `null`.
        let is_irregular = match (self.method, id) {
            (Some(_), id) => id.is_none() && self.id.is_some(),
            (None, id) => !matches!(id, None | Some(Id::Number(_))),
        };
        if is_irregular {
            violations.push(EnvelopeViolation::Id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &'static str, expected: &str) {
        let found = match read(Bytes::from_static(text.as_bytes())) {
            Ok(Received::One(message)) => render(&message),
            Ok(Received::Many { messages, malformed }) => {
                let rendered: Vec<_> = messages.iter().map(render).collect();
                format!("{} | {malformed} malformed", rendered.join(" | "))
            }
            Err(why) => why.to_string(),
        };
        assert_eq!(found, expected, "{text}");
    }

    fn render(message: &Message) -> String {
        let text = |json: &Option<Json>| {
            json.as_ref().map_or_else(|| "-".to_owned(), |json| json.as_str().to_owned())
        };
        match message {
            Message::Request(it) => format!("request {} {} {}", it.id, it.method, text(&it.params)),
            Message::Notification(it) => format!("notification {} {}", it.method, text(&it.params)),
            Message::Response(Response { id, outcome }) => {
                let id = id.as_ref().map_or_else(|| "-".to_owned(), Id::to_string);
                match outcome {
                    Ok(result) => format!("result {id} {}", result.as_str()),
                    Err(error) => format!("error {id} {} {}", error, text(&error.data)),
                }
            }
        }
    }

    #[test]
    fn messages_are_classified_by_their_members() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"b": 1}}"#,
            r#"request 1 a {"b": 1}"#,
        );
        check(r#"{"method":"a"}"#, "notification a -");
        check(r#"{"method":"a","id":null,"params":null}"#, "notification a -");
        check(r#"{"result":{"x":[1 , 2]},"id":"7","more":true}"#, r#"result "7" {"x":[1 , 2]}"#);
        check(r#"{"id":1,"result":null}"#, "result 1 null");
        check(
            r#"{"id":1,"error":{"code":-1,"message":"m","data":[1]}}"#,
            "error 1 m (code -1) [1]",
        );
        check(r#"{"id":1,"meth\u006fd":"a\/b"}"#, "request 1 a/b -");
    }

    #[test]
    fn irregular_responses_are_read() {
        check(r#"{"id":1,"result":{},"error":null}"#, "result 1 {}");
        check(r#"{"id":null,"error":"went wrong"}"#, "error - went wrong (code -32603) -");
        check(
            r#"{"id":1,"error":{"code":"-32601"}}"#,
            "error 1 error without a message (code -32601) -",
        );
        check(
            r#"{"id":1,"error":{"code":-32601.0,"message":1}}"#,
            "error 1 error without a message (code -32601) -",
        );
        check(r#"{"id":1,"id":2,"result":1}"#, "result 2 1");
    }

    /// Returns the number of messages in a server's text, and its violations.
    fn violations(text: &'static [u8]) -> String {
        let mut violations = Vec::new();
        match read_leniently(&Bytes::from_static(text), &mut violations) {
            Ok(Received::One(_)) => format!("1 {violations:?}"),
            Ok(Received::Many { messages, .. }) => format!("{} {violations:?}", messages.len()),
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn violations_are_named() {
        assert_eq!(violations(br#"{"jsonrpc":"2.0","id":1,"result":{},"x":0}"#), "1 []");
        assert_eq!(violations(br#"{"jsonrpc":"2.0","id":"a","method":"m"}"#), "1 []");
        assert_eq!(violations(br#"{"jsonrpc":2.0,"id":1,"result":{}}"#), "1 [Version]");
        assert_eq!(violations(br#"{"jsonrpc":"2.0","id":"1","result":{}}"#), "1 [Id]");
        assert_eq!(violations(br#"{"jsonrpc":"2.0","id":null,"method":"m"}"#), "1 [Id]");
        assert_eq!(
            violations(br#"{"jsonrpc":"2.0","id":1,"id":1,"result":1,"error":null}"#),
            "1 [Repeated, Both]"
        );
        assert_eq!(
            violations(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}"),
            "1 [Encoding]"
        );
    }

    #[test]
    fn a_server_may_write_something_around_a_message() {
        let one = "1 [Surrounded]";
        assert_eq!(violations(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"), one);
        assert_eq!(violations(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\0"), one);
        assert_eq!(violations(br#"{"jsonrpc":"2.0","id":1,"result":{}} // done"#), one);
        assert_eq!(violations(br#"data: {"jsonrpc":"2.0","id":1,"result":{}}"#), one);
        let two = br#"{"jsonrpc":"2.0","id":1,"result":{}}{"jsonrpc":"2.0","method":"m"}"#;
        assert_eq!(violations(two), "2 [Surrounded]");
        assert_eq!(violations(br#"sent {"jsonrpc":"2.0","id":1,"method":"m"}"#), "not JSON");
        assert_eq!(violations(b"{starting: server}"), "not JSON");
    }

    #[test]
    fn valid_items_of_a_batch_are_kept() {
        check(
            r#"[{"id":1,"result":1},5,{"level":"info"},{"method":"n"}]"#,
            "result 1 1 | notification n - | 2 malformed",
        );
        check("[]", "JSON, but not a JSON-RPC message");
    }

    #[test]
    fn text_that_is_not_a_message_is_rejected_with_a_reason() {
        check("Server listening on stdio", "not JSON");
        check("", "not JSON");
        check("42", "not JSON");
        check(r#"{"level":"info"}"#, "JSON, but not a JSON-RPC message");
        check(r#"{"id":1,"result":{"#, "not JSON");
        check(r#"{"method":5,"id":1}"#, "JSON, but not a JSON-RPC message");
        check(r#"{"id":[1],"result":1}"#, "JSON, but not a JSON-RPC message");
        check(r#"{"id":true,"method":"m"}"#, "JSON, but not a JSON-RPC message");
    }

    #[test]
    fn invalid_utf8_does_not_lose_the_message() {
        let text = Bytes::from_static(b"{\"id\":1,\"result\":\"a\xffb\"}");
        let Ok(Received::One(Message::Response(response))) = read(text) else {
            panic!("no response")
        };
        assert_eq!(response.outcome.unwrap().to_text().unwrap(), "a\u{fffd}b");
    }

    #[test]
    fn deep_nesting_is_kept_as_text() {
        let text = format!(r#"{{"id":1,"result":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(read(text.into()), Ok(Received::One(Message::Response(_)))));
    }
}
